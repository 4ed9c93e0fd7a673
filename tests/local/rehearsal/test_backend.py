import pytest

from xlaunch.local.rehearsal import backend
from xlaunch.local.rehearsal.backend import JaxRuntimeError, NoDevices, Pathways


class FakeChannel:
    """Answers in order; None is the end of the connection."""

    def __init__(self, *answers):
        self.answers = [{"slices": 3, "elastic": 3}, *answers]
        self.sent = []

    def send(self, message):
        self.sent.append(message["op"])

    def receive(self):
        return self.answers.pop(0)


def client(log, *answers):
    return Pathways(FakeChannel(*answers), log)


def test_outcomes_come_in_the_order_of_the_steps(log):
    found = client(log, {"ok": True}, {"ok": True}, {"error": "DATA_LOSS: x"})
    assert found.slices == 3
    found.load({1, 0})
    found.dispatch(0.1)
    found.dispatch(0.1)
    found.wait()
    with pytest.raises(JaxRuntimeError, match="DATA_LOSS: x"):
        found.wait()


def test_steps_of_a_failed_attempt_are_forgotten(log):
    lost = {"error": "DATA_LOSS: x"}
    found = client(log, lost, lost, {"active": [0, 2]})
    found.dispatch(0.1)
    found.dispatch(0.1)
    with pytest.raises(JaxRuntimeError):
        found.wait()
    assert found.active() == {0, 2}


def test_the_death_of_the_proxy_has_the_words_of_the_real_one(log, messages):
    found = client(log, None)
    found.dispatch(0.1)
    with pytest.raises(JaxRuntimeError) as error:
        found.wait()
    text = "Connection to IFRT proxy server was terminated: UNAVAILABLE: Socket closed"
    assert str(error.value) == f"UNAVAILABLE: {text}"
    assert messages() == [text]
    assert f"{JaxRuntimeError.__module__}.{JaxRuntimeError.__name__}" == "jax.errors.JaxRuntimeError"


def test_a_proxy_that_goes_while_we_write(log):
    found = client(log)

    def send(message):
        raise BrokenPipeError

    found._channel.send = send
    with pytest.raises(JaxRuntimeError, match="UNAVAILABLE"):
        found.dispatch(0.1)


def test_a_proxy_that_still_starts_is_waited_for(monkeypatch, clock, log):
    attempts = []

    def connect(address):
        attempts.append(address)
        if len(attempts) < 5:
            raise ConnectionRefusedError
        return FakeChannel()

    monkeypatch.setattr(backend.wire, "connect", connect)
    assert backend.connect("grpc://head:29000", clock, log).slices == 3
    assert attempts == ["grpc://head:29000"] * 5


def test_a_proxy_that_never_comes(monkeypatch, clock, log):
    def connect(address):
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(backend.wire, "connect", connect)
    start = clock.now
    with pytest.raises(JaxRuntimeError, match="UNAVAILABLE: no IFRT proxy server at head:29000: refused"):
        backend.connect("head:29000", clock, log)
    assert backend.CONNECT_SECONDS <= clock.now - start < backend.CONNECT_SECONDS + 1


def test_without_pathways_steps_only_take_their_time(clock):
    found, start = NoDevices(clock), clock.now
    assert (found.slices, found.active()) == (1, {0})
    found.load({0})
    found.dispatch(0.5)
    found.dispatch(0.5)
    found.wait()
    assert clock.now - start == pytest.approx(0.5)
    found.wait()
    assert clock.now - start == pytest.approx(1.0)
