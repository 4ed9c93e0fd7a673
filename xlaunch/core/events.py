"""Events of core/v1 and events.k8s.io: which is the latest, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core.excerpt import one_line

Object = Mapping[str, Any]


def latest(events: Iterable[Object]) -> Object | None:
    """The one that happened last; None of none."""
    return max(events, key=when, default=None)


def message(event: Object) -> str:
    """Its text on one line, under whichever name."""
    return one_line(str(event.get("message") or event.get("note") or ""))


def when(event: Object) -> str:
    """When it happened, or happened again, as a timestamp that sorts as text."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(time) for time in times if time), str((event.get("metadata") or {}).get("creationTimestamp", "")))
