"""Durations as people type them: 90, 90s, 5m, 1h30m."""

from __future__ import annotations

import re

from xlaunch.core.errors import UsageError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+")
_PART = re.compile(r"([0-9.]+)(ms|s|m|h|d)")
LONGEST = 366 * 86400.0


def parse_duration(flag: str, text: str) -> float:
    """Seconds; a bare number is seconds. Raises UsageError for what is no duration, or one of more than a year."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    else:
        raise UsageError(
            f"{flag} {text!r} is not a duration", why="Durations look like 90s, 5m or 1h30m", next=f"{flag} 5m"
        )
    if seconds > LONGEST:
        raise UsageError(f"{flag} {text} is out of range", why="It may be a year at most", next="Give less")
    return seconds
