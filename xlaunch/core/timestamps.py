"""Kubernetes timestamps (RFC 3339 in UTC, with zero to nine digits of a second) as datetimes, and ages as words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def parse(text: str | None) -> datetime | None:
    """The moment that `text` names, aware, cut to microseconds; None for None, "" or what is no timestamp."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def stamp(moment: datetime | None) -> str | None:
    """A moment as Kubernetes writes it, in whole seconds; None for None."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moment else None


def seconds_since(text: str | None, now: datetime) -> float:
    """Seconds from a timestamp until `now`, never negative (clocks differ); 0.0 for no timestamp."""
    moment = parse(text)
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0


def words(duration: timedelta | float) -> str:
    """A duration as kubectl words ages: "45s", "12m", "3h10m", "2d4h"; two units at most.

    Follows k8s.io/apimachinery v0.36 pkg/util/duration/duration.go HumanDuration up to 8 days, without its years.
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
    return f"{days}d"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
