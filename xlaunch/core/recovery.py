"""Recoveries of an elastic run, phase by phase, from the events of its log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from xlaunch.core.loglines import Event, Kind


@dataclass(frozen=True)
class Phase:
    """A part of a recovery and how long it took; None where the log does not say, or not yet."""

    name: str
    seconds: float | None


@dataclass(frozen=True)
class Recovery:
    """One loss of a slice, or one scale-up, and the way back. Times are the kubelet's; None: not yet, or not logged.

    `last_step` is the last one printed before, `restored_step` the checkpoint's, `first_step` the first one after.
    """

    cause: Kind
    down: datetime | None
    last_step: int | None
    cleaned: datetime | None = None
    wait_began: datetime | None = None
    ready: datetime | None = None
    restore_began: datetime | None = None
    restored: datetime | None = None
    restored_step: int | None = None
    first_step: int | None = None
    first_step_at: datetime | None = None
    polls: int = 0

    @property
    def done(self) -> bool:
        """Whether a step has ended since."""
        return self.first_step is not None

    @property
    def steps_lost(self) -> int | None:
        """Steps that were printed and are trained again. -1 where the checkpoint is newer than the last line.

        None where nothing was trained before, or not restored yet. A start from nothing restores -1.
        """
        if self.last_step is None or self.restored_step is None:
            return None
        return self.last_step - self.restored_step

    @property
    def wait_seconds(self) -> float | None:
        """How long it waited for slices."""
        return between(self.wait_began, self.ready)

    def phases(self) -> tuple[Phase, ...]:
        """What follows the slice-down line, in order."""
        return (
            Phase("clean-up", between(self.down, self.cleaned)),
            Phase("wait for slices", self.wait_seconds),
            Phase("set up", between(self.ready, self.restore_began)),
            Phase("restore", between(self.restore_began, self.restored)),
            Phase("first step", between(self.restored or self.ready, self.first_step_at)),
        )


def between(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from one time to another, None where one is missing."""
    return (end - start).total_seconds() if start and end else None


class Recoveries:
    """Folds events into recoveries, one by one as they come."""

    def __init__(self) -> None:
        self.finished: tuple[Recovery, ...] = ()
        self.current: Recovery | None = None
        self._last_step: int | None = None

    def take(self, event: Event) -> Recovery | None:
        """Takes the next event in; returns the recovery that it completes, if any.

        A second loss before the first step ends one recovery, incomplete, and begins the next.
        """
        if event.kind in (Kind.SLICE_DOWN, Kind.SCALE_UP):
            if self.current:
                self.finished += (self.current,)
            self.current = Recovery(event.kind, event.at, self._last_step)
            self._last_step = None
            return None
        completed = None
        if self.current:
            self.current = advance(self.current, event)
            if self.current.done:
                completed, self.current = self.current, None
                self.finished += (completed,)
        if event.kind is Kind.STEP:
            self._last_step = event.step
        return completed

    def all(self) -> tuple[Recovery, ...]:
        """The finished ones, and the one under way."""
        return self.finished + ((self.current,) if self.current else ())


def advance(recovery: Recovery, event: Event) -> Recovery:
    """The recovery after one more event that is not the next loss."""
    at = event.at
    match event.kind:
        case Kind.KEEP | Kind.DROP | Kind.NO_CHECKPOINT:
            return replace(recovery, cleaned=at)
        case Kind.WAIT:
            return replace(recovery, wait_began=at)
        case Kind.POLL:
            return replace(recovery, polls=recovery.polls + 1)
        case Kind.READY:
            return replace(recovery, ready=at)
        case Kind.RESTORE if recovery.restore_began is None:
            return replace(recovery, restore_began=at, restored_step=event.step)
        case Kind.RESTORED:
            return replace(recovery, restored=at)
        case Kind.NO_RESTORE:
            return replace(recovery, restored_step=-1)
        case Kind.STEP:
            return replace(recovery, first_step=event.step, first_step_at=at)
    return recovery


def joined(chain: Sequence[Recovery]) -> Recovery:
    """One recovery out of losses without a step between them: begun by the first, ended by the last.

    Its phases are those of the last attempt; what lies before shows only in the time from `down` to the first step.
    """
    first, last = chain[0], chain[-1]
    return replace(last, cause=first.cause, down=first.down, last_step=first.last_step, cleaned=first.cleaned)


def recoveries(events: Iterable[Event]) -> tuple[Recovery, ...]:
    """All recoveries in a log."""
    fold = Recoveries()
    for event in events:
        fold.take(event)
    return fold.all()
