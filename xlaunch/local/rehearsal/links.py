"""The proxy's connections to the workers, and the fate of a step that runs on all of them at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.clock import Clock
from xlaunch.local.rehearsal.registry import TIMEOUT_SECONDS, Worker, whole_slices

REAL_GRACE_FLOOR = 5.0


class Link:
    """One worker as the proxy sees it. `broken`: the connection ended. `expired`: no heartbeats, says the manager."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.channel: wire.Channel | None = None
        self.broken = False
        self.expired = False
        self.done = -1

    def alive(self) -> bool:
        """Whether a step can be given to it."""
        return self.channel is not None and not self.broken and not self.expired


class Links:
    """All workers by place. Thread-safe: the manager's news, the workers' answers and the trainers meet here."""

    def __init__(self, clock: Clock, connect: Callable[[str], wire.Channel] = wire.connect) -> None:
        self._clock = clock
        self._connect = connect
        self._changed = threading.Condition()
        self._links: dict[tuple[int, int], Link] = {}
        self._slices = 0
        self._last_id = 0

    def update(self, slices: int, workers: list[Worker], settled: bool) -> None:
        """Takes in the resource manager's list. Before it is `settled`, a worker that is absent may yet come back."""
        with self._changed:
            self._slices = slices
            listed = {worker.incarnation for worker in workers}
            for link in self._links.values():
                link.expired = link.expired or (settled and link.worker.incarnation not in listed)
            for worker in workers:
                before = self._links.get((worker.slice, worker.host))
                if before is None or before.worker.incarnation != worker.incarnation or before.expired:
                    self._follow(worker)
            self._changed.notify_all()

    def _follow(self, worker: Worker) -> None:
        link = Link(worker)
        self._links[(worker.slice, worker.host)] = link
        threading.Thread(target=self._listen, args=(link,), daemon=True).start()

    def _listen(self, link: Link) -> None:
        channel = self._reach(link)
        if channel is None:
            return
        with self._changed:
            link.channel = channel
            self._changed.notify_all()
        while True:
            answer = channel.receive()
            with self._changed:
                if answer is None:
                    break
                link.done = answer["id"]
                self._changed.notify_all()
        channel.close()
        with self._changed:
            link.broken = True
            if self._current(link):  # the connection broke, the process may live: its state is still there
                self._follow(link.worker)
            self._changed.notify_all()

    def _reach(self, link: Link) -> wire.Channel | None:
        """A connection on which the worker has answered: the socket of a dying process accepts a little longer."""
        while True:
            with contextlib.suppress(OSError):
                channel = self._connect(link.worker.address)
                channel.send({"id": 0, "seconds": 0.0})
                if channel.receive() is not None:
                    return channel
                channel.close()
            self._clock.sleep(1.0)
            with self._changed:
                if not self._current(link):
                    return None

    def _current(self, link: Link) -> bool:
        return self._links.get((link.worker.slice, link.worker.host)) is link and not link.expired

    def wait_for_count(self) -> int:
        """The number of slices, once the resource manager has said it."""
        with self._changed:
            while not self._slices:
                self._changed.wait()
            return self._slices

    def whole(self) -> list[int]:
        """The slices all of whose workers are alive."""
        with self._changed:
            return whole_slices([link.worker for link in self._links.values() if link.alive()])

    def placed(self, slices: list[int]) -> dict[tuple[int, int], str]:
        """The workers of these slices, as the incarnations that now hold the client's state."""
        with self._changed:
            return {place: link.worker.incarnation for place, link in self._links.items() if place[0] in slices}

    def run(self, placed: dict[tuple[int, int], str], seconds: float) -> str:
        """Runs one step of `seconds` on these workers and returns "" or the error of the first that was lost.

        A worker lost while the step runs is DATA_LOSS at once; one that was lost while idle is DEADLINE_EXCEEDED, as
        soon as the resource manager misses its heartbeats or its replacement is there. Source: Google's blog; the
        texts after the code are not public.
        """
        with self._changed:
            lost = self._lost(placed)
            if lost:
                return self._after_deadline(lost, placed)
            self._last_id += 1
            step = self._last_id
            waiting = {place: self._links[place] for place in placed}
        for link in waiting.values():
            self._send(link, {"id": step, "seconds": seconds})
        with self._changed:
            while True:
                for place, link in waiting.items():
                    if link.broken or self._links[place] is not link:
                        return f"DATA_LOSS: {_name(place)} went away in the middle of a step (rehearsal)"
                    if link.expired:
                        return f"DEADLINE_EXCEEDED: {_name(place)} sends no heartbeats (rehearsal)"
                if all(link.done >= step for link in waiting.values()):
                    return ""
                self._changed.wait()

    def _send(self, link: Link, message: dict[str, Any]) -> None:
        try:
            assert link.channel
            link.channel.send(message)
        except OSError:
            with self._changed:
                link.broken = True

    def _lost(self, placed: dict[tuple[int, int], str]) -> list[tuple[int, int]]:
        return [
            place
            for place, incarnation in placed.items()
            if not self._links[place].alive() or self._links[place].worker.incarnation != incarnation
        ]

    def _after_deadline(self, lost: list[tuple[int, int]], placed: dict[tuple[int, int], str]) -> str:
        place = lost[0]
        grace = self._clock.at_least(TIMEOUT_SECONDS, REAL_GRACE_FLOOR)
        deadline = self._clock.monotonic() + grace
        while True:
            link = self._links[place]
            left = deadline - self._clock.monotonic()
            if link.expired or link.worker.incarnation != placed[place] or left <= 0:
                return f"DEADLINE_EXCEEDED: {_name(place)} sends no heartbeats (rehearsal)"
            self._clock.wait(self._changed, left)


def _name(place: tuple[int, int]) -> str:
    return f"slice {place[0]} host {place[1]}"
