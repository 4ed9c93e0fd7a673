"""The proxy's links, over real sockets to workers that live in this process; a second is a millisecond."""

import threading

import pytest

from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.clock import Clock
from xlaunch.local.rehearsal.links import Links
from xlaunch.local.rehearsal.registry import Worker

PATIENCE = 5.0


class FastClock(Clock):
    """Without the floors that keep a busy machine from being taken for a dead one."""

    def at_least(self, seconds, real_seconds):
        return seconds


class FakeWorker:
    """Answers steps while `answering`; `die` breaks its connections as a killed process does."""

    def __init__(self, slice_index, host, incarnation="a"):
        self.server = wire.listen(0)
        self.answering = True
        self.asked = threading.Event()
        self.channels = []
        wire.serve(self.server, self.serve)
        port = self.server.getsockname()[1]
        self.worker = Worker(slice_index, host, 1, f"127.0.0.1:{port}", f"{slice_index}{incarnation}")

    def serve(self, channel):
        self.channels.append(channel)
        while (message := channel.receive()) is not None:
            if message["id"]:
                self.asked.set()
            if self.answering:
                channel.send({"id": message["id"]})

    def die(self):
        for channel in self.channels:
            channel.close()


@pytest.fixture
def links():
    return Links(FastClock(0.001))


@pytest.fixture
def workers():
    return [FakeWorker(0, 0), FakeWorker(1, 0)]


def joined(links, workers, settled=True):
    links.update(2, [each.worker for each in workers], settled)
    wait_until(links, lambda: links.whole() == sorted(each.worker.slice for each in workers))


def wait_until(links, condition):
    """Waits on the links' own condition, so without polling."""
    with links._changed:
        assert links._changed.wait_for(condition, PATIENCE)


def run_in_thread(links, placed, seconds=0.0):
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(links.run(placed, seconds)), daemon=True)
    thread.start()

    def result():
        thread.join(PATIENCE)
        return outcome[0]

    return result


def test_a_step_runs_on_all_workers(links, workers):
    joined(links, workers)
    placed = links.placed([0, 1])
    assert set(placed) == {(0, 0), (1, 0)}
    assert links.run(placed, 0.0) == ""
    assert links.run(placed, 0.0) == ""


def test_a_worker_that_dies_in_a_step_is_data_loss(links, workers):
    joined(links, workers)
    workers[1].answering = False
    result = run_in_thread(links, links.placed([0, 1]))
    assert workers[1].asked.wait(PATIENCE)
    workers[1].die()
    assert result().startswith("DATA_LOSS: slice 1 host 0")


def test_a_worker_that_goes_silent_in_a_step_exceeds_the_deadline(links, workers):
    joined(links, workers)
    workers[1].answering = False
    result = run_in_thread(links, links.placed([0, 1]))
    assert workers[1].asked.wait(PATIENCE)
    links.update(2, [workers[0].worker], settled=True)
    assert result() == "DEADLINE_EXCEEDED: slice 1 host 0 sends no heartbeats (rehearsal)"
    assert links.whole() == [0]


def test_a_replacement_in_a_step_is_data_loss(links, workers):
    joined(links, workers)
    workers[1].answering = False
    result = run_in_thread(links, links.placed([0, 1]))
    assert workers[1].asked.wait(PATIENCE)
    joined(links, [workers[0], FakeWorker(1, 0, "b")])
    assert result().startswith("DATA_LOSS")


def test_a_worker_replaced_while_idle_exceeds_the_deadline_of_the_next_step(links, workers):
    joined(links, workers)
    placed = links.placed([0, 1])
    joined(links, [workers[0], FakeWorker(1, 0, "b")])
    assert links.run(placed, 0.0).startswith("DEADLINE_EXCEEDED: slice 1 host 0")
    assert links.run(links.placed([0, 1]), 0.0) == "", "loaded again, it goes on"


def test_a_restarting_manager_kills_nobody(links, workers):
    joined(links, workers)
    placed = links.placed([0, 1])
    links.update(2, [], settled=False)
    assert links.whole() == [0, 1]
    assert links.run(placed, 0.0) == ""


def test_a_broken_connection_to_a_living_worker_is_made_again(links, workers):
    joined(links, workers)
    assert links.run(links.placed([0, 1]), 0.0) == ""
    before = links._links[(1, 0)]
    workers[1].die()
    wait_until(links, lambda: links._links[(1, 0)] is not before and links.whole() == [0, 1])
    assert links.run(links.placed([0, 1]), 0.0) == ""


def test_a_worker_that_does_not_listen_yet_is_tried_again(links):
    attempts = []

    def connect(address):
        attempts.append(address)
        if len(attempts) < 3:
            raise ConnectionRefusedError
        return wire.connect(address)

    links._connect = connect
    joined(links, [FakeWorker(0, 0)])
    assert len(attempts) == 3


def test_a_dying_worker_that_still_accepts_is_not_alive(links):
    dying = wire.listen(0)
    wire.serve(dying, lambda channel: None)
    address = f"127.0.0.1:{dying.getsockname()[1]}"
    attempts = []

    def connect(asked):
        attempts.append(asked)
        return wire.connect(address if len(attempts) < 3 else asked)

    links._connect = connect
    joined(links, [FakeWorker(0, 0)])
    assert len(attempts) == 3
    assert links.run(links.placed([0]), 0.0) == ""


def test_the_number_of_slices_comes_from_the_manager(links):
    links.update(7, [], settled=False)
    assert links.wait_for_count() == 7
