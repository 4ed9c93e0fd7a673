"""The work queue under a clock that tests move."""

import asyncio

from fakes.cluster import VirtualClock

from xlaunch.local.controllers.queue import Again, WorkQueue, work


class Worker:
    """Works on keys; `outcomes` are what happens in turn (an exception is raised)."""

    def __init__(self, clock, outcomes=()):
        self.clock = clock
        self.outcomes = list(outcomes)
        self.done = []
        self.reports = []

    async def sync(self, key):
        self.done.append((key, self.clock.seconds))
        if self.outcomes and (outcome := self.outcomes.pop(0)) is not None:
            raise outcome

    def report(self, doing, error):
        self.reports.append((doing, str(error)))


def run(test, outcomes=(), **options):
    async def go():
        clock = VirtualClock()
        queue = WorkQueue(clock, **options)
        worker = Worker(clock, outcomes)
        task = asyncio.ensure_future(work(queue, worker.sync, worker.report, "thing"))
        try:
            await test(queue, worker, clock)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(go())


def test_a_key_that_waits_already_is_not_added_twice():
    async def test(queue, worker, clock):
        for _ in range(3):
            queue.add("a")
        await clock.settle()
        assert worker.done == [("a", 0)]

    run(test)


def test_a_key_added_while_it_is_worked_on_comes_once_more():
    async def go():
        clock = VirtualClock()
        queue = WorkQueue(clock)
        worked, go_on = [], asyncio.Event()

        async def slow(key):
            worked.append(key)
            await go_on.wait()

        task = asyncio.ensure_future(work(queue, slow, Worker(clock).report, "slow"))
        queue.add("a")
        await clock.settle()
        queue.add("a")
        queue.add("a")
        assert worked == ["a"], "never two at a time"
        go_on.set()
        await clock.settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert worked == ["a", "a"]

    asyncio.run(go())


def test_of_two_delays_the_sooner_one_counts():
    async def test(queue, worker, clock):
        queue.add_after("a", 10)
        queue.add_after("a", 1)
        queue.add_after("a", 5)
        await clock.advance(20)
        assert worker.done == [("a", 1)]

    run(test)


def test_pauses_after_errors_double_up_to_the_longest_and_start_anew_after_success():
    async def test(queue, worker, clock):
        queue.add("a")
        await clock.advance(100)
        assert [when for _, when in worker.done] == [0, 1, 3, 7, 12, 17]
        queue.add("a")
        await clock.advance(10)
        assert [when for _, when in worker.done[6:]] == [100, 101]
        assert worker.reports == [("thing a", "boom")] * 6

    boom = RuntimeError("boom")
    run(test, [boom] * 5 + [None, boom, None], first_pause=1.0, longest_pause=5.0)


def test_again_comes_back_without_a_report():
    async def test(queue, worker, clock):
        queue.add("a")
        await clock.advance(10)
        assert [when for _, when in worker.done] == [0, 1]
        assert worker.reports == []

    run(test, [Again(), None], first_pause=1.0)


def test_one_keys_trouble_does_not_keep_the_others():
    async def test(queue, worker, clock):
        queue.add("bad")
        queue.add("good")
        await clock.settle()
        assert [key for key, _ in worker.done] == ["bad", "good"]

    run(test, [ValueError("x"), None])
