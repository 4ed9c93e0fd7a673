import threading

import pytest

from xlaunch.local.rehearsal.resource_manager import ResourceManager


class FakeChannel:
    """Gives its messages, and hands over what is sent; `closed` cuts it."""

    def __init__(self, *messages):
        self.messages = list(messages)
        self.sent = []
        self.got = threading.Condition()

    def receive(self):
        return self.messages.pop(0) if self.messages else None

    def send(self, message):
        with self.got:
            self.sent.append(message)
            self.got.notify_all()

    def wait_for(self, condition):
        with self.got:
            assert self.got.wait_for(lambda: condition(self.sent), 5)
            return self.sent[-1]


def register(slice_index, host, incarnation=""):
    return {
        "op": "register",
        "slice": slice_index,
        "host": host,
        "chips": 4,
        "address": "127.9.0.1:29005",
        "incarnation": incarnation or f"{slice_index}-{host}",
    }


@pytest.fixture
def manager(clock, log):
    return ResourceManager(2, 8, clock, log)


def test_workers_register_and_make_slices_whole(manager, messages):
    for host in (0, 1):
        channel = FakeChannel(register(1, host), {"op": "heartbeat"})
        manager.handle(channel)
        assert channel.sent == [{"ok": True}]
    assert "Registered slice 1 host 1 at 127.9.0.1:29005. Whole slices: [1]" in messages()


def test_a_worker_of_a_slice_that_does_not_exist_is_refused(manager):
    channel = FakeChannel(register(2, 0))
    manager.handle(channel)
    assert channel.sent == [{"error": "slice 2 does not exist: --instance_count=2"}]


def test_a_replaced_worker_is_let_go(manager):
    class Replaced(FakeChannel):
        def receive(self):
            message = super().receive()
            if message and message["op"] == "heartbeat":
                manager.handle(FakeChannel(register(0, 0, "new")))
            return message

    channel = Replaced(register(0, 0, "old"), {"op": "heartbeat"}, {"op": "never read"})
    manager.handle(channel)
    assert channel.messages == [{"op": "never read"}]


def test_a_proxy_is_told_of_every_change(manager, clock):
    proxy = FakeChannel({"op": "watch"})
    threading.Thread(target=manager.handle, args=(proxy,), daemon=True).start()
    first = proxy.wait_for(lambda sent: len(sent) == 1)
    assert (first["slices"], first["workers"], first["settled"]) == (2, [], False)
    clock.sleep(manager._registry.timeout)
    manager.handle(FakeChannel(register(0, 0)))
    second = proxy.wait_for(lambda sent: len(sent) == 2)
    assert second["settled"]
    assert [(found["slice"], found["host"], found["hosts"]) for found in second["workers"]] == [(0, 0, 2)]


def test_who_is_silent_is_taken_off_the_list(manager, clock, messages):
    class EnoughError(Exception):
        pass

    manager.handle(FakeChannel(register(0, 0)))
    proxy = FakeChannel({"op": "watch"})
    threading.Thread(target=manager.handle, args=(proxy,), daemon=True).start()
    proxy.wait_for(lambda sent: sent and sent[-1]["workers"])
    end = clock.monotonic() + 15
    sleep = clock.sleep

    def until_end(seconds):
        if clock.monotonic() >= end:
            raise EnoughError
        sleep(seconds)

    clock.sleep = until_end
    with pytest.raises(EnoughError):
        manager.expire_for_ever()
    assert proxy.wait_for(lambda sent: sent[-1]["settled"] and not sent[-1]["workers"])
    assert "No heartbeat of slice 0 host 0 for 10 s: lost" in messages()
