"""Trying again what fails for a while: the API server restarts, a webhook has no endpoint, a quota is being counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.watch import Pauses, is_transient
from xlaunch.core.clock import Clock
from xlaunch.core.errors import NetworkError
from xlaunch.core.excerpt import excerpt

T = TypeVar("T")


def persist(
    attempt: Callable[[], T],
    *,
    clock: Clock,
    timeout: float,
    notice: Callable[[str], None],
    is_worth: Callable[[NetworkError | ApiError], bool],
) -> T:
    """Calls `attempt` until it returns, pausing 1, 2, 4 ... 16 seconds, or as long as Retry-After asks.

    Raises what `is_worth` does not find worth another attempt, and NetworkError after `timeout` seconds.
    """
    deadline = clock.monotonic() + timeout
    pauses = Pauses(clock, deadline)
    while True:
        try:
            return attempt()
        except (NetworkError, ApiError) as error:
            if not is_worth(error):
                raise
            told = excerpt(f"{error.message}. {error.why}" if error.why else error.message)
            if clock.monotonic() >= deadline:
                raise NetworkError(f"Nothing but failures for {timeout:g} s", why=told, reason=error.reason) from error
            pauses.at_least(getattr(error, "retry_after", None) or 0.0)
            notice(f"Not yet: {told}. Trying again in {pauses.next:g} s")
        pauses.wait()


def is_passing(error: NetworkError | ApiError) -> bool:
    """Whether it may pass by itself."""
    return isinstance(error, NetworkError) or is_transient(error)
