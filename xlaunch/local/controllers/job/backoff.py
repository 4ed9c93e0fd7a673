"""How long a Job waits before it replaces lost pods (Kubernetes 1.37, pkg/controller/job/backoff_utils.go).

The record lives in memory only, as upstream: a restart of the controller clears it, suspending the Job does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from xlaunch.core.budget import replacement_delay
from xlaunch.core.conditions import condition
from xlaunch.core.roles import sidecars
from xlaunch.local.kube import Object
from xlaunch.local.objects import status_of

# A stamp has whole seconds, and the news of it takes a moment
STAMP_SLACK = timedelta(seconds=1.5)


@dataclass(frozen=True)
class Record:
    """Pods of a Job lost since its last success, and when the latest was lost."""

    failures: int = 0
    last: datetime | None = None


def update(record: Record, succeeded: Sequence[datetime], failed: Sequence[datetime]) -> Record:
    """The record after pods that ended at these times; only a success resets it."""
    if not succeeded:
        return Record(record.failures + len(failed), max(failed)) if failed else record
    after = [end for end in failed if end > max(succeeded)]
    return Record(len(after), max(after, default=None))


def remaining(record: Record, now: datetime, scale: float) -> float:
    """Seconds of cluster time that the replacement still waits; `scale` is the clock's."""
    if record.last is None:
        return 0.0
    elapsed = (now - record.last).total_seconds() / scale
    return max(replacement_delay(record.failures) - elapsed, 0.0)


def ended_at(pod: Mapping[str, Any], seen: datetime) -> datetime:
    """When a pod ended: its containers' last end, or since when it is not ready, or else when its end was `seen`.

    Upstream reads whole seconds, which is coarse once the time scale makes a second out of ten: a stamp that agrees
    with the moment of its news is replaced by that moment.
    """
    stamped = _containers_end(pod) or _not_ready_since(pod)
    if stamped is None or seen - stamped < STAMP_SLACK:
        return seen
    return stamped


def _containers_end(pod: Mapping[str, Any]) -> datetime | None:
    """The latest end, None while any container that counts has not ended."""
    restartable = sidecars(pod["spec"])
    statuses: list[Object] = [*(status_of(pod).get("containerStatuses") or ())]
    statuses += [entry for entry in status_of(pod).get("initContainerStatuses") or () if entry["name"] in restartable]
    ends = [((entry.get("state") or {}).get("terminated") or {}).get("finishedAt", "") for entry in statuses]
    return max(datetime.fromisoformat(end) for end in ends) if ends and all(ends) else None


def _not_ready_since(pod: Mapping[str, Any]) -> datetime | None:
    ready = condition(status_of(pod), "Ready")
    if ready.get("status") != "False" or not ready.get("lastTransitionTime"):
        return None
    return datetime.fromisoformat(ready["lastTransitionTime"])
