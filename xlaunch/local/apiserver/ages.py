"""How long ago something was, in the words of kubectl's tables."""

from __future__ import annotations

from datetime import datetime

from xlaunch.core.timestamps import words


def since(stamp: str | None, now: datetime) -> str:
    """The time since a timestamp; "<unknown>" without one, "<invalid>" for one that is yet to come."""
    if not stamp:
        return "<unknown>"
    seconds = (now - datetime.fromisoformat(stamp)).total_seconds()
    return "<invalid>" if seconds <= -2 else words(seconds)
