"""Time as an argument: everything that waits or compares takes a Clock, so that tests need not wait."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the program may know of time. Seconds are floats; `now` is aware, in UTC."""

    def now(self) -> datetime:
        """The wall clock, for comparing with timestamps that a cluster wrote."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go backwards, for measuring how long something took."""
        ...

    def sleep(self, seconds: float) -> None:
        """Waits that long."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The wall clock in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """`time.monotonic`."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """`time.sleep`."""
        time.sleep(seconds)
