import re
import socket

import pytest

from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.abslog import Log


@pytest.fixture
def channel(monkeypatch):
    server = wire.listen(0)
    near = socket.create_connection(server.getsockname())
    far, _ = server.accept()
    yield wire.Channel(near), far
    server.close()


def test_messages_arrive_whole(channel):
    near, far = channel
    far.sendall(b'{"a": 1}\n{"b"')
    assert near.receive() == {"a": 1}
    far.sendall(b": 2}\n")
    assert near.receive() == {"b": 2}


def test_a_message_cut_off_by_death_is_no_message(channel):
    near, far = channel
    far.sendall(b'{"a": 1')
    far.close()
    assert near.receive() is None


def test_close_wakes_a_receiver(channel):
    near, _ = channel
    near.close()
    assert near.receive() is None


def test_names_are_looked_up_each_time(tmp_path, monkeypatch):
    hosts = tmp_path / "hosts"
    monkeypatch.setenv("XLAUNCH_HOSTS", str(hosts))
    assert wire.resolve("js-head-0-0.js") == "js-head-0-0.js"
    hosts.write_text("127.3.0.1 js-head-0-0 js-head-0-0.js\n\n127.3.0.2 other\n")
    assert wire.resolve("js-head-0-0.js") == "127.3.0.1"
    hosts.write_text("127.3.0.9 js-head-0-0.js\n")
    assert wire.resolve("js-head-0-0.js") == "127.3.0.9"
    assert wire.resolve("127.3.0.9") == "127.3.0.9"


@pytest.mark.parametrize(
    ("address", "expected"), [("head:29001", ("head", 29001)), ("grpc://head.js:29000", ("head.js", 29000))]
)
def test_addresses(address, expected):
    assert wire.split(address) == expected


@pytest.mark.parametrize("address", ["", "head", ":29001", "head:", "head:x", "$(PATHWAYS_HEAD)"])
def test_what_is_no_address_is_said(address):
    with pytest.raises(ValueError, match="is not host:port"):
        wire.split(address)


def test_flags_that_are_not_known_are_named(stream):
    found = wire.flags(["--server_port=7", "--alsologtostderr", "--x=1"], Log(stream), server_port=1, other=2)
    assert found == {"server_port": "7", "other": "2"}
    assert stream.getvalue().endswith(b"Accepted without effect: --alsologtostderr --x=1\n")


def test_lines_look_like_absls(stream):
    log = Log(stream)
    log.line("manager.py:310", "Slice down\nsecond line", "E")
    log.note("ours")
    first, second, third = stream.getvalue().decode().splitlines()
    assert re.fullmatch(r"E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ manager\.py:310\] Slice down", first)
    assert second == "second line"
    assert re.fullmatch(r"I\d{4} \S+ +\d+ test_wire\.py:\d+\] ours", third)
