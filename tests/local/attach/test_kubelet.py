"""The log endpoint: the options of a request reach the log, refusals are plain words, and strangers get nothing."""

import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import pytest
from fakes.certificates import Authority

from xlaunch.local.attach import certificate, kubelet
from xlaunch.local.kube import bad_request
from xlaunch.local.logs import LogOptions

LOOPBACK = "127.0.0.1"


class Logs:
    """A source of one log; `None` among its pieces is a break in the middle."""

    def __init__(self, *pieces, refusal=None):
        self.pieces, self.refusal, self.asked = pieces, refusal, []

    async def open(self, namespace, pod, container, options):
        self.asked.append((namespace, pod, container, options))
        if self.refusal:
            raise self.refusal
        yield b""
        for piece in self.pieces:
            if piece is None:
                raise OSError("broken")
            yield piece


class Endpoint:
    """A served endpoint, and an API server that asks it."""

    def __init__(self, directory, logs):
        self.authority, self.logs = Authority(directory), logs
        own = certificate.self_signed(directory / "kubelet.pem", [LOOPBACK], datetime.now(UTC))
        self.own, self.tls = own, kubelet.server_tls(own, Path(self.authority.ca).read_bytes())

    def ask(self, query="", *, path="/containerLogs/n/p/c", client=True):
        async def go():
            async with kubelet.serving(kubelet.make_app(self.logs), [LOOPBACK], 0, self.tls) as runner:
                trust = ssl.create_default_context(cafile=self.own)
                if client:
                    trust.load_cert_chain(*self.authority.issue("apiserver"))
                url = f"https://{LOOPBACK}:{runner.addresses[0][1]}{path}{query}"
                async with aiohttp.ClientSession() as session, session.get(url, ssl=trust) as reply:
                    return reply.status, await reply.read()

        return asyncio.run(go())


def test_the_bytes_of_a_log_are_served_as_they_are(tmp_path):
    logs = Logs(b"a\n", b"\xff\r50%\n")
    assert Endpoint(tmp_path, logs).ask() == (200, b"a\n\xff\r50%\n")
    assert logs.asked == [("n", "p", "c", LogOptions())]


def test_all_options_are_understood(tmp_path):
    logs = Logs()
    query = "?follow=true&previous=true&tailLines=3&limitBytes=9&timestamps=true&sinceTime=2026-11-30T01:02:03.5Z"
    assert Endpoint(tmp_path, logs).ask(query)[0] == 200
    moment = datetime(2026, 11, 30, 1, 2, 3, 500_000, tzinfo=UTC)
    expected = LogOptions(follow=True, previous=True, tail_lines=3, limit_bytes=9, timestamps=True, since_time=moment)
    assert logs.asked[0][3] == expected


def test_seconds_are_understood(tmp_path):
    logs = Logs()
    Endpoint(tmp_path, logs).ask("?sinceSeconds=60")
    assert logs.asked[0][3] == LogOptions(since_seconds=60)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 400, "is waiting to start: ContainerCreating"),
        ("?tailLines=-1", 422, "tailLines: Invalid value: -1"),
    ],
)
def test_refusals_are_plain_text(tmp_path, query, status, words):
    logs = Logs(refusal=bad_request('container "c" in pod "p" is waiting to start: ContainerCreating'))
    found, text = Endpoint(tmp_path, logs).ask(query)
    assert found == status
    assert words in text.decode()


def test_a_stream_that_breaks_is_no_end(tmp_path):
    with pytest.raises(aiohttp.ClientPayloadError):
        Endpoint(tmp_path, Logs(b"a\n", None)).ask()


def test_who_shows_no_certificate_gets_nothing(tmp_path):
    logs = Logs(b"secret\n")
    with pytest.raises((aiohttp.ClientError, OSError)):
        Endpoint(tmp_path, logs).ask(client=False)
    assert logs.asked == []


def test_who_shows_a_strangers_certificate_gets_nothing(tmp_path):
    logs = Logs(b"secret\n")
    endpoint = Endpoint(tmp_path, logs)
    (tmp_path / "stranger").mkdir()
    endpoint.authority = Authority(tmp_path / "stranger")
    with pytest.raises((aiohttp.ClientError, OSError)):
        endpoint.ask()
    assert logs.asked == []


def test_nothing_else_is_served(tmp_path):
    assert Endpoint(tmp_path, Logs()).ask(path="/pods")[0] == 404


def test_the_key_is_for_its_owner_only(tmp_path):
    path = certificate.self_signed(tmp_path / "kubelet.pem", [LOOPBACK], datetime.now(UTC))
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE KEY" in path.read_bytes()
