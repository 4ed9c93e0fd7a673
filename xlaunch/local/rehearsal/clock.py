"""Time of a rehearsal: every duration is multiplied by the cluster's time scale, timestamps stay wall time."""

from __future__ import annotations

import os
import threading
import time


class Clock:
    """Seconds here are seconds of the cluster; `scale` 0.1 makes ten of them pass in one real second."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def monotonic(self) -> float:
        """Seconds that never go backwards."""
        return time.monotonic() / self.scale

    def sleep(self, seconds: float) -> None:
        """Waits that long."""
        time.sleep(seconds * self.scale)

    def wait(self, condition: threading.Condition, seconds: float) -> None:
        """Waits on a condition that the caller holds, at most that long."""
        condition.wait(seconds * self.scale)

    def at_least(self, seconds: float, real_seconds: float) -> float:
        """`seconds`, or more where the scale would make that shorter than a busy machine can keep."""
        return max(seconds, real_seconds / self.scale)


def from_environment() -> Clock:
    """The clock of `XLAUNCH_TIME_SCALE`."""
    return Clock(float(os.environ.get("XLAUNCH_TIME_SCALE") or 1.0))
