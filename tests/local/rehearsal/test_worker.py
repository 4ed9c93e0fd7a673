import pytest

from xlaunch.local.rehearsal import worker

REFUSED = ConnectionRefusedError("no")
IDENTITY = {"op": "register", "slice": 0, "host": 0}


class EnoughError(Exception):
    pass


class FakeChannel:
    """Answers the registration, and breaks after so many messages."""

    def __init__(self, answer, lasts):
        self.answer = answer
        self.lasts = lasts
        self.sent = []

    def send(self, message):
        if len(self.sent) == self.lasts:
            raise BrokenPipeError("gone")
        self.sent.append(message)

    def receive(self):
        return self.answer


@pytest.fixture
def register(monkeypatch, clock, log):
    """Registers with managers that come and go: each a channel, or an error; then stops."""

    def run(*managers):
        left = list(managers)

        def connect(address):
            if not left:
                raise EnoughError
            found = left.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

        monkeypatch.setattr(worker.wire, "connect", connect)
        worker.register_for_ever("head:29001", IDENTITY, clock, log)

    return run


def test_heartbeats_follow_the_registration(register, clock):
    channel = FakeChannel({"ok": True}, lasts=4)
    start = clock.now
    with pytest.raises(EnoughError):
        register(channel)
    assert channel.sent == [IDENTITY, *[{"op": "heartbeat"}] * 3]
    assert clock.now - start == 4 * worker.HEARTBEAT_SECONDS + 1


def test_it_registers_again_with_a_manager_that_restarted(register, messages):
    first, second = FakeChannel({"ok": True}, lasts=2), FakeChannel({"ok": True}, lasts=1)
    with pytest.raises(EnoughError):
        register(
            ConnectionRefusedError("no"), ConnectionRefusedError("no"), first, ConnectionRefusedError("no"), second
        )
    assert second.sent == [IDENTITY]
    away = "The resource manager at head:29001 is away (no); trying again"
    assert messages().count(away) == 2, "once per outage, not once per attempt"


def test_a_manager_that_dies_before_it_answers(register):
    second = FakeChannel({"ok": True}, lasts=1)
    with pytest.raises(EnoughError):
        register(FakeChannel(None, lasts=9), second)
    assert second.sent == [IDENTITY]


def test_a_refusal_ends_it(register):
    with pytest.raises(ValueError, match="slice 7 does not exist"):
        register(FakeChannel({"error": "slice 7 does not exist"}, lasts=9))


def test_each_step_takes_its_time(clock):
    asked = [{"id": 1, "seconds": 0.5}, {"id": 2, "seconds": 0.25}, None]
    channel, start = FakeChannel(None, lasts=9), clock.now
    channel.receive = lambda: asked.pop(0)
    worker.serve_steps(channel, clock)
    assert channel.sent == [{"id": 1}, {"id": 2}]
    assert clock.now - start == 0.75
