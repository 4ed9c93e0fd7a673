"""How long ago something was, in the words of kubectl's tables."""

from __future__ import annotations

from datetime import datetime


def human_duration(seconds: float) -> str:
    """A duration as in AGE columns (k8s.io/apimachinery v0.37, pkg/util/duration/duration.go, HumanDuration)."""
    if seconds <= -2:
        return "<invalid>"
    total = max(int(seconds), 0)
    minutes, hours, days = total // 60, total // 3600, total // 86400
    if total < 120:
        return f"{total}s"
    if minutes < 10:
        return _two(minutes, "m", total % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    if days < 2920:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}" + (f"{small}{small_unit}" if small else "")


def since(stamp: str | None, now: datetime) -> str:
    """The time since a timestamp; "<unknown>" without one."""
    if not stamp:
        return "<unknown>"
    return human_duration((now - datetime.fromisoformat(stamp)).total_seconds())
