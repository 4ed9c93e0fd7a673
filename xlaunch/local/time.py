"""Time inside the embedded cluster: wall time for timestamps, scaled time for every duration."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class ScaledClock:
    """`scale` 0.1 makes a back-off of 10 s take 1 s; durations are given in seconds of the cluster's time."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def now(self) -> datetime:
        """Wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of cluster time: real seconds divided by the scale."""
        return time.monotonic() / self.scale

    async def sleep(self, seconds: float) -> None:
        """Waits `seconds` of cluster time."""
        await asyncio.sleep(seconds * self.scale)
