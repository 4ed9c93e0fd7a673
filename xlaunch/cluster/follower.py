"""The log follower: obeys `core/follow.py` until the workload ends. Yields the log's bytes, says the rest on stderr."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xlaunch.cluster import jobsets
from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.fates import Fates
from xlaunch.cluster.held_up import why_uncreated
from xlaunch.cluster.logstream import Outcome, Request, Start, read_log
from xlaunch.cluster.observe import events_about, target_pods
from xlaunch.cluster.queue_watch import QueueWatch
from xlaunch.cluster.watch import PATIENCE, is_transient
from xlaunch.core import pods as podlib
from xlaunch.core.clock import Clock
from xlaunch.core.errors import NetworkError, UsageError
from xlaunch.core.follow import Cursor, Done, DrainPrevious, Reader, Reopen, Target, WaitPod, next_action
from xlaunch.core.lognews import CloudLogs, LogNews
from xlaunch.core.narration import Narration
from xlaunch.core.pending import with_warning
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

# A stream that is silent for so many seconds is opened again: follows freeze at rotation (kubernetes#115701)
STALL = 60.0
# Pauses after attempts in a row that brought nothing
PAUSES = (0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 20.0)
FIRST_POLL, LAST_POLL = 0.25, 5.0
# Seconds that an end and a restart take anyway: not worth a word
PASSING = 3.0
# So many failures in a row are not worth a word
QUIET_FAILURES = 2


@dataclass(frozen=True)
class Wanted:
    """What to read: a container ("" for the main one), where its log begins, whether lines are led by their time."""

    container: str = ""
    start: Start = field(default_factory=Start)
    stamps: bool = False


@dataclass(frozen=True)
class End:
    """How following ended. `phase` is None where the JobSet is gone; `timed_out` where the deadline came first."""

    phase: Phase | None
    reason: str
    timed_out: bool = False


class Follower:
    """Iterating yields what the container wrote, whole lines as a rule; `end` is set when that is over.

    Goes on through cut, stalled and refused streams, restarts of the container, of the pod and of the JobSet. Raises
    ApiError for what no retry helps (403), NetworkError where nothing has answered for 15 minutes, UsageError where
    the container cannot be told.
    """

    def __init__(
        self,
        api: Api,
        workload: Workload,
        wanted: Wanted,
        *,
        clock: Clock,
        narration: Narration,
        cloud: CloudLogs,
        timeout: float | None = None,
    ) -> None:
        self.end: End | None = None
        self.workload: Workload | None = workload
        self.pods: Sequence[Object] = ()
        self._api = api
        self._followed, self._name, self._role = workload, workload.name, workload.target
        self._wanted = wanted
        self._start = wanted.start
        self._clock = clock
        self._narration = narration
        self._news = LogNews(narration, cloud, f"{workload.name}-{self._role.name if self._role else ''}-")
        self._queue = QueueWatch(api, narration.say, clock)
        self._deadline = math.inf if timeout is None else clock.monotonic() + timeout
        self._answered = clock.monotonic()
        self._poll, self._reason, self._since = FIRST_POLL, "", 0.0
        self._container = wanted.container or workload.main_container
        self._fates = Fates(api, workload.uid, self._container)
        self._check_container()

    def __iter__(self) -> Iterator[bytes]:
        """Follows to the end of the workload, or of the time."""
        cursor = Cursor()
        while not self._expired():
            if not self._look():
                continue
            action = next_action(self.pods, self.workload, self._container, cursor, self._clock.now())
            if isinstance(action, Done):
                self._news.left(cursor, self._container)
                self.end = End(action.phase, action.reason)
                return
            if isinstance(action, WaitPod):
                if cursor.target and (status := self._status(cursor.target)):
                    cursor = replace(cursor, due=status.state == "waiting")
                self._wait(action.reason, attached=cursor.target is not None)
                continue
            self._narration.went_on()
            if action.target != cursor.target:
                if cursor.part:
                    yield b"\n"  # the rest of a line is lost, and said to be
                cursor = self._move(cursor, action.target)
            cursor = yield from self._read(cursor, action)
        self.end = End(self.workload.phase if self.workload else None, "Timeout", timed_out=True)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the container that was followed, None where it runs or is gone."""
        pod = podlib.newest(self.pods)
        status = podlib.container(pod, self._container) if pod else None
        return status.exit.code if status and status.exit else None

    def once(self, *, previous: bool = False) -> Iterator[bytes]:
        """What the kubelet serves now, or of the instance before, to its end; then `end` is set."""
        while not self._look():
            pass
        self.end = End(self.workload.phase if self.workload else None, "Printed")
        action = next_action(self.pods, self.workload, self._container, Cursor(), self._clock.now())
        if isinstance(action, Done):
            self._news.left(Cursor(), self._container)
            return
        if isinstance(action, WaitPod):
            self._narration.say(f"There is no log: {action.reason}")
            return
        target = replace(action.target, restarts=action.target.restarts - previous)
        if target.restarts < 0:
            self._narration.say(f"There is no log: {target.container} has not been restarted in pod {target.pod}")
            return
        if not previous:
            self._tell_before(target)
        cursor = Cursor(target=target)
        while not cursor.drained and not self._expired():
            outcome = yield from self._pass(cursor, Request(False, previous, self._start, self._wanted.stamps))
            cursor = outcome.after(following=False)
            if outcome.failure and (_is_final(outcome.failure) or cursor.failures >= len(PAUSES)):
                raise outcome.failure
            self._pause(cursor)

    def _look(self) -> bool:
        """Asks for the JobSet and the pods; False, after a pause, where there was no answer."""
        try:
            jobset = jobsets.find(self._api, self._name)
            pods = target_pods(self._api, self._followed)  # they outlive a deleted JobSet by their grace period
            others = set(map(podlib.uid, pods)) != set(map(podlib.uid, self.pods))
            mine = jobset if jobset and jobset["metadata"].get("uid", "") == self._followed.uid else None
            self.workload = self._queue.describe(mine, ask=others) if mine else None
            self.pods = pods
        except (NetworkError, ApiError) as error:
            lasting = self._clock.monotonic() - self._answered > PATIENCE
            if lasting or _is_final(error):
                raise
            self._narration.once(f"{error.message}; trying again")
            self._sleep(self._next_poll())
            return False
        self._answered = self._clock.monotonic()
        self._check_container()
        self._fates.look(self.pods, self.workload)  # what is gone with the pod, and with the restart
        return True

    def _read(self, cursor: Cursor, action: Reopen | DrainPrevious) -> Generator[bytes, None, Cursor]:
        """One stream, and the pause after it."""
        previous = isinstance(action, DrainPrevious)
        following = isinstance(action, Reopen) and action.follow
        began = self._clock.monotonic()
        outcome = yield from self._pass(cursor, Request(following, previous, self._start, self._wanted.stamps))
        failure = outcome.failure
        if isinstance(failure, ApiError) and failure.status in (401, 403):
            raise failure
        if previous and failure and _is_final(failure):
            self._news.refused(action.target, failure.message)
            return replace(outcome.cursor, drained=True)
        cursor = outcome.after(following=following)
        if self._clock.monotonic() - began >= STALL:
            return replace(cursor, failures=0)  # a quiet log, not a broken one
        if failure and cursor.failures > QUIET_FAILURES:
            self._news.unreadable(action.target, failure.message)
        self._pause(cursor)
        return cursor

    def _pass(self, cursor: Cursor, request: Request) -> Generator[bytes, None, Outcome]:
        idle = max(0.001, min(STALL, self._deadline - self._clock.monotonic()))
        target, opened = cursor.target, self._clock.now()
        assert target is not None

        def tell(reader: Reader) -> None:
            self._news.read(target, reader)
            if reader.first and cursor.empty and request.start == Start():
                status = self._status(target)
                self._news.beginning(target, reader.first, status.started if status else "", opened)

        return read_log(self._api, cursor, request, idle_timeout=idle, expired=self._expired, tell=tell)

    def _move(self, cursor: Cursor, target: Target) -> Cursor:
        """Turns to another instance."""
        if cursor.target is not None:
            restarts = self.workload.restarts if self.workload else 0
            why = [*self._fates.take(cursor.target.uid, target.uid), self._queue.take_eviction()]
            self._news.moved(cursor, target, self._status(target), restarts, [each for each in why if each])
            self._start = Start()
            return Cursor(target=target)
        self._news.begun(target)
        self._tell_before(target)
        if self._start.tail == 0:
            return self._newest_line(Cursor(target=target))
        return Cursor(target=target)

    def _tell_before(self, target: Target) -> None:
        """What of the log cannot be had, where it was asked for from its beginning."""
        if self._start == Start():
            pod = next(pod for pod in self.pods if podlib.uid(pod) == target.uid)
            self._news.before(target, podlib.attempt(pod))

    def _newest_line(self, cursor: Cursor) -> Cursor:
        """The cursor behind the newest line, which is read and kept back: what comes later is then found for sure."""
        reading = self._pass(cursor, Request(start=Start(tail=1)))
        while True:
            try:
                next(reading)
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome.cursor

    def _wait(self, reason: str, *, attached: bool) -> None:
        """Says for whom, and waits longer the longer nothing changes; `attached` is whether a log was read before."""
        pod = podlib.newest(self.pods)
        if pod and not podlib.is_deleting(pod) and podlib.phase(pod) == "Pending":
            reason = with_warning(reason, events_about(self._api, podlib.uid(pod)))
        elif not pod and self.workload and (refused := why_uncreated(self._api, self.workload, ())):
            reason = f"{reason}: {refused}"
        now = self._clock.monotonic()
        if reason != self._reason:
            self._poll, self._reason, self._since = FIRST_POLL, reason, now
        if not attached or now - self._since >= PASSING:
            self._narration.waiting(reason)
        self._sleep(self._next_poll())

    def _pause(self, cursor: Cursor) -> None:
        if not cursor.drained:
            self._sleep(PAUSES[min(cursor.failures, len(PAUSES) - 1)])

    def _next_poll(self) -> float:
        pause, self._poll = self._poll, min(self._poll * 1.5, LAST_POLL)
        return pause

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._clock.sleep(min(seconds, max(0.0, self._deadline - self._clock.monotonic())))

    def _expired(self) -> bool:
        return self._clock.monotonic() >= self._deadline

    def _status(self, target: Target) -> podlib.Container | None:
        pod = next((pod for pod in self.pods if podlib.uid(pod) == target.uid), None)
        return podlib.container(pod, target.container) if pod else None

    def _check_container(self) -> None:
        """UsageError where the container cannot be told, or neither the template nor the pod has it."""
        role, pod = self._role, podlib.newest(self.pods)
        known = (*role.containers, *role.sidecars) if role else ()
        if self._container in known or (pod and podlib.container(pod, self._container)):
            return
        names = [each.name for each in podlib.containers(pod)] if pod else list(known)
        raise UsageError(
            f"{self._name} has no container {self._container}"
            if self._container
            else f"{self._name} has no main container",
            why=f"It has {', '.join(names) or 'none'}",
            next="Name one of them: --container NAME",
        )


def _is_final(error: NetworkError | ApiError) -> bool:
    """Whether the same request will fail again."""
    return isinstance(error, ApiError) and not is_transient(error)
