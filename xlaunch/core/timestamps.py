"""Kubernetes timestamps (RFC 3339 in UTC, with zero to nine digits of a second) as datetimes, and ages as words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload


def parse(text: str | None) -> datetime | None:
    """The moment that `text` names, aware, cut to microseconds; None for None, "" or what is no timestamp."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@overload
def stamp(moment: datetime) -> str: ...
@overload
def stamp(moment: None) -> None: ...
def stamp(moment: datetime | None) -> str | None:
    """A moment as Kubernetes writes it, in whole seconds; None for None."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moment else None


def micro_stamp(moment: datetime) -> str:
    """A moment as Kubernetes' MicroTime fields have it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def seconds_since(text: str | None, now: datetime) -> float:
    """Seconds from a timestamp until `now`, never negative (clocks differ); 0.0 for no timestamp."""
    moment = parse(text)
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0


def words(duration: timedelta | float) -> str:
    """A duration as kubectl words ages: "45s", "12m", "3h10m", "2d4h"; two units at most.

    Follows k8s.io/apimachinery v0.36 pkg/util/duration/duration.go HumanDuration from 0 on.
    """
    seconds = int(duration.total_seconds() if isinstance(duration, timedelta) else duration)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    if days < 2920:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
