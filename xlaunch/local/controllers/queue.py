"""A work queue of keys: no key twice, none worked on by two at a time, delays and growing pauses after errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

K = TypeVar("K")


class Again(Exception):  # noqa: N818 - no error: told already where a user looks, or expected to pass by itself
    """The key is to be worked on again after a pause, and there is nothing to report."""


class WorkQueue(Generic[K]):
    """client-go's work queue (util/workqueue) for one event loop; durations are seconds of cluster time."""

    def __init__(self, clock: ScaledClock, *, first_pause: float = 0.005, longest_pause: float = 60.0) -> None:
        self._clock = clock
        self._first_pause = first_pause
        self._longest_pause = longest_pause
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        self._active: set[K] = set()
        self._again: set[K] = set()
        self._timers: dict[K, tuple[float, asyncio.Task[None]]] = {}
        self._failures: dict[K, int] = {}

    def add(self, key: K) -> None:
        """Makes the key ready now; once it is worked on, again afterwards."""
        if key in self._active:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, delay: float) -> None:
        """Makes the key ready after `delay`, unless that happens sooner already."""
        if delay <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + delay
        timer = self._timers.get(key)
        if timer and timer[0] <= due:
            return
        if timer:
            timer[1].cancel()
        self._timers[key] = (due, asyncio.ensure_future(self._fire(key, delay)))

    async def _fire(self, key: K, delay: float) -> None:
        await self._clock.sleep(delay)
        del self._timers[key]
        self.add(key)

    def retry(self, key: K) -> None:
        """Makes the key ready after a pause that doubles with each retry in a row."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2**31 is beyond every longest pause; the cap keeps the power from growing without end
        self.add_after(key, min(self._first_pause * 2 ** min(failures, 31), self._longest_pause))

    async def next(self) -> K:
        """The next ready key; `done` must follow."""
        key = await self._ready.get()
        self._waiting.discard(key)
        self._active.add(key)
        return key

    def done(self, key: K, *, succeeded: bool) -> None:
        """The key has been worked on. After a failure it comes back by itself."""
        self._active.discard(key)
        if succeeded:
            self._failures.pop(key, None)
        else:
            self.retry(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def close(self) -> None:
        """Stops all timers."""
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


async def work(queue: WorkQueue[K], sync: Callable[[K], Awaitable[None]], report: Report, name: str) -> None:
    """Works on keys until cancelled. An exception belongs to its key: it is reported, and the key comes back later."""
    try:
        while True:
            key = await queue.next()
            try:
                await sync(key)
            except Again:
                queue.done(key, succeeded=False)
            except Exception as error:  # noqa: BLE001 - one key's trouble must not stop the controller
                queue.done(key, succeeded=False)
                report(f"{name} {key}", error)
            else:
                queue.done(key, succeeded=True)
    finally:
        queue.close()
