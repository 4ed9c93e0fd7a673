import pytest

from xlaunch.local.rehearsal.proxy import Proxy


class FakeLinks:
    """Slices that are whole, and the outcomes of the next steps ("" for success)."""

    def __init__(self, whole, outcomes=()):
        self.there = set(whole)
        self.outcomes = list(outcomes)
        self.ran = []

    def wait_for_count(self):
        return 3

    def whole(self):
        return sorted(self.there)

    def placed(self, slices):
        return {(index, 0): f"i{index}" for index in slices}

    def run(self, placed, seconds):
        self.ran.append(sorted(index for index, _ in placed))
        return self.outcomes.pop(0) if self.outcomes else ""


class FakeChannel:
    def __init__(self, *messages):
        self.messages = list(messages)
        self.sent = []

    def receive(self):
        message = self.messages.pop(0) if self.messages else None
        return message() if callable(message) else message

    def send(self, message):
        self.sent.append(message)


STEP = {"op": "step", "seconds": 0.1}
PROBE = {"op": "probe"}
OK = {"ok": True}
LOST = "DATA_LOSS: slice 2 host 0 went away in the middle of a step (rehearsal)"


def load(*slices):
    return {"op": "load", "slices": list(slices)}


@pytest.fixture
def serve(log):
    def run(links, *messages, elastic=3, proxy=None):
        channel = FakeChannel(*messages)
        (proxy or Proxy(links, elastic, log)).handle(channel)
        return channel.sent

    return run


def test_a_client_loads_and_steps(serve):
    links = FakeLinks({0, 1, 2})
    assert serve(links, {"op": "hello"}, PROBE, load(0, 1, 2), STEP, STEP) == [
        {"slices": 3, "elastic": 3},
        {"active": [0, 1, 2]},
        OK,
        OK,
        OK,
    ]
    assert links.ran == [[0, 1, 2], [0, 1, 2]]


def test_what_was_lost_stays_lost_until_the_client_loads_again(serve):
    links = FakeLinks({0, 1, 2}, [LOST])
    assert serve(links, load(0, 1, 2), STEP, STEP, load(0, 1), STEP) == [OK, {"error": LOST}, {"error": LOST}, OK, OK]
    assert links.ran == [[0, 1, 2], [0, 1]]


def test_a_slice_that_is_not_there_cannot_be_loaded(serve):
    links = FakeLinks({0, 1})
    (answer, step) = serve(links, load(0, 1, 2), STEP)
    assert answer["error"].startswith("NOT_FOUND: slices [2] are not there")
    assert step == answer
    assert links.ran == []


@pytest.mark.parametrize(("elastic", "active"), [(1, [0, 1, 2]), (0, [0, 1])])
def test_more_lost_slices_than_are_elastic_do_not_come_back(serve, elastic, active):
    links = FakeLinks({0, 1, 2}, [LOST])

    def lose():
        links.there.discard(2)
        return STEP

    def back():
        links.there.add(2)
        return PROBE

    assert serve(links, load(0, 1, 2), lose, back, elastic=elastic)[-1] == {"active": active}


def test_what_is_lost_for_good_is_so_for_every_client(serve, log):
    links = FakeLinks({0, 1}, [LOST])
    links.placed = lambda slices: {(index, 0): "i" for index in (0, 1, 2)}
    proxy = Proxy(links, 0, log)
    serve(links, load(0, 1), STEP, proxy=proxy)
    links.there.add(2)
    assert serve(links, PROBE, proxy=proxy) == [{"active": [0, 1]}]
