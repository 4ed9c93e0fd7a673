"""The supervision of the controllers' loops."""

import asyncio

import pytest
from fakes.cluster import VirtualClock

from xlaunch.local.controllers.run import keep_running


def test_a_loop_that_falls_over_is_reported_and_started_again():
    async def go():
        clock = VirtualClock()
        begun, reports = [], []

        async def loop():
            begun.append(clock.seconds)
            raise RuntimeError("boom")

        def report(doing, error):
            reports.append((doing, str(error)))

        task = asyncio.ensure_future(keep_running("thing", loop, clock, report))
        await clock.advance(2.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert begun == [0, 1, 2]
        assert reports == [("thing", "boom")] * 3

    asyncio.run(go())
