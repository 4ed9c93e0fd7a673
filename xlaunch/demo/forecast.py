"""How long the wait for a lost slice should be: the Job's back-off, seen through the elastic manager's polls."""

from __future__ import annotations

import math

from xlaunch.core.budget import replacement_delay

POLL_SECONDS = 10.0
# From the end of the back-off until a new worker has registered: the Job controller's round of 1 s and a start
START_SECONDS = 1.2


def back_off(lost_pods: int) -> float:
    """Seconds until the Job replaces the last of so many pods, lost at once and the first ones of their slice."""
    return replacement_delay(max(1, lost_pods))


def wait_for_slices(lost_pods: int, noticed_after: float) -> float:
    """Seconds that the trainer waits if it begins `noticed_after` seconds after the loss: whole polls of 10 s."""
    left = back_off(lost_pods) + START_SECONDS - noticed_after
    return POLL_SECONDS * max(0, math.ceil(left / POLL_SECONDS))
