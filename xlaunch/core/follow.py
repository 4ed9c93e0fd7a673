"""What a log follower does next, as a pure decision; and the cursor that says how far it has come.

One instance of a container (pod UID, container, restartCount) has one log. The end of a stream never means the end of
the log: the container's state decides, and the JobSet's state decides whether another instance will follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.logtext import Piece, sort_key
from xlaunch.core.pending import why_waiting
from xlaunch.core.silence import silent_since
from xlaunch.core.timestamps import seconds_since
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

# Seconds after a pod should have been gone until its node counts as dead and a newer pod is read instead
OVERDUE = 30.0
# Failed attempts to read what is left after the end of the workload
LAST_ATTEMPTS = 4


@dataclass(frozen=True)
class Target:
    """One instance of a container, and so one log."""

    pod: str
    uid: str
    container: str
    restarts: int


@dataclass(frozen=True)
class Cursor:
    """How far the log of `target` has been passed on.

    `last` is the sort key of the last whole line and `seen` how many lines of that key there were; `high` is the
    highest key of all. Of an unfinished line with the key `part_key`, `part` bytes were passed on. `drained`: the
    instance has ended and nothing more came; `due`: the kubelet was about to start another. `failures` counts attempts
    in a row that brought nothing.
    """

    target: Target | None = None
    last: bytes = b""
    seen: int = 0
    high: bytes = b""
    part: int = 0
    part_key: bytes = b""
    drained: bool = False
    due: bool = False
    failures: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing of the target has been passed on."""
        return not self.high


@dataclass(frozen=True)
class Reopen:
    """Read the target's log from the cursor; `follow` while it runs, else to its end."""

    target: Target
    follow: bool


@dataclass(frozen=True)
class DrainPrevious:
    """Read what is left of the instance before the present one (`previous=true`)."""

    target: Target


@dataclass(frozen=True)
class WaitPod:
    """There is no log to read now; `reason` says for whom we wait."""

    reason: str


@dataclass(frozen=True)
class Done:
    """The workload has ended (`phase`), or is gone (None): no more log will come."""

    phase: Phase | None
    reason: str


Action = Reopen | DrainPrevious | WaitPod | Done


def next_action(
    pods: Sequence[Object], workload: Workload | None, container: str, cursor: Cursor, now: datetime
) -> Action:
    """Decides from what the API server says now.

    `pods` are those that carry the log (one, or two while one replaces the other); `workload` is None when the JobSet
    is gone.
    """
    pod = choose(pods, cursor, now)
    status = podlib.container(pod, container) if pod else None
    if pod is None or status is None or not status.begun:
        return _end(workload) or WaitPod(why_waiting(pod, workload))
    here = Target(pod["metadata"]["name"], podlib.uid(pod), container, status.restarts)
    before = cursor.target
    behind = replace(here, restarts=here.restarts - 1)
    unread = before not in (None, here) and not (before == behind and cursor.drained)
    # In back-off the kubelet serves the last dead instance either way, and the one before it no more
    if unread and here.restarts and status.state != "waiting":
        return DrainPrevious(behind)
    end = _end(workload)
    if end and before == here and cursor.failures >= LAST_ATTEMPTS:
        return end
    if before == here and cursor.drained and not status.running:
        return end or WaitPod(_after_exit(pod, status, workload))
    return Reopen(here, follow=status.running)


def choose(pods: Sequence[Object], cursor: Cursor, now: datetime) -> Object | None:
    """The pod whose log to read: the one being read until its log has ended or its node seems dead, then the newest."""
    current = next((pod for pod in pods if cursor.target and podlib.uid(pod) == cursor.target.uid), None)
    if current is None or cursor.drained:
        return podlib.newest(pods)
    overdue = seconds_since(current["metadata"].get("deletionTimestamp"), now) > OVERDUE
    if overdue or (podlib.is_deleting(current) and silent_since(current)):
        return podlib.newest(pods)
    return current


def _end(workload: Workload | None) -> Done | None:
    if workload is None:
        return Done(None, "Deleted")
    if workload.phase.ended:
        return Done(workload.phase, workload.reason or str(workload.phase))
    return None


def _after_exit(pod: Object, status: podlib.Container, workload: Workload | None) -> str:
    ended = status.exit or status.last_exit
    said = f"{status.name} ended ({ended})"
    if status.reason == "CrashLoopBackOff":
        return f"{said}; the kubelet restarts it: {status.message or status.reason}"
    if podlib.is_deleting(pod):
        return f"{said}; its pod is being deleted"
    return f"{said}; JobSet decides what follows" + (f": {workload.phase}" if workload else "")


class Reader:
    """Passes on what is new of one served log, and moves the cursor.

    A log that is opened again begins before the cursor. All is skipped up to the cursor's last line, found by its
    time and its number among the lines of that time; only then comes what is new. A line later than all that was
    passed on, before that last line has come back, tells that the log was rotated in between: `gap` is set.
    """

    def __init__(self, cursor: Cursor, *, stamps: bool = False) -> None:
        self.gap = False
        self.foreign: list[bytes] = []  # text without a timestamp: the kubelet's own words
        self.first = b""  # the first timestamp served
        self._before = cursor
        # The cursor's fields one by one: a value made anew for each line would cost more than all the rest
        self._last, self._seen, self._high = cursor.last, cursor.seen, cursor.high
        self._part, self._part_key = cursor.part, cursor.part_key
        self._stamps = stamps
        self._skipping = bool(cursor.last)
        self._found = 0
        self._muted = False
        self._torn = False  # the rest of a line that was begun is lost: the next one begins on a line of its own
        self._drop = 0

    @property
    def cursor(self) -> Cursor:
        """How far the log has been passed on."""
        return replace(
            self._before,
            last=self._last,
            seen=self._seen,
            high=self._high,
            part=self._part,
            part_key=self._part_key,
        )

    def take(self, piece: Piece) -> bytes:
        """The part of a piece that was not passed on before; led by its time if `stamps`."""
        if piece.begins and not piece.stamp:
            self._muted = True
            self.foreign.append(piece.text)
        elif piece.begins:
            self.first = self.first or piece.stamp
            self._begin(sort_key(piece.stamp))
        if self._muted:
            return b""
        lead = piece.stamp + b" " if self._stamps and piece.begins and not self._drop else b""
        if self._torn:
            lead, self._torn = b"\n" + lead, False
        fresh = piece.text[self._drop :]
        self._drop = max(0, self._drop - len(piece.text))
        if piece.ends:
            self._seen = self._seen + 1 if self._part_key == self._last else 1
            self._last, self._part = self._part_key, 0
        else:
            self._part += len(fresh)
        return lead + fresh

    def _begin(self, key: bytes) -> None:
        resumes_part = bool(self._part) and key == self._part_key
        if self._skipping:
            if key > self._high or (resumes_part and key != self._last):
                self.gap = True
                self._skipping = False
            else:
                self._found += key == self._last
                self._skipping = self._found < self._seen
                self._muted = True
                return
        self._muted = False
        if resumes_part:
            self._drop = self._part
        elif self._part:
            self.gap = self._torn = True
            self._part = 0
        self._part_key = key
        self._high = max(self._high, key)
