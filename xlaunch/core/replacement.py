"""What a slice has lost, when it did, and how long Kubernetes still takes to replace it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.budget import replacement_delay
from xlaunch.core.conditions import condition, is_true
from xlaunch.core.timestamps import parse

Object = Mapping[str, Any]


def is_failing(job: Object | None) -> bool:
    """Whether a Job has failed, or waits for its last pods to say so."""
    status = (job or {}).get("status") or {}
    return is_true(status, "FailureTarget") or is_true(status, "Failed")


def replaces_pods(job: Object | None) -> bool:
    """Whether a Job replaces its pods: not while it is suspended, deleted or over. An unknown one is taken to."""
    if job is None:
        return True
    over = is_failing(job) or is_true(job.get("status") or {}, "Complete")
    suspended = bool((job.get("spec") or {}).get("suspend"))
    return not (over or suspended or "deletionTimestamp" in job["metadata"])


def lost_so_far(status: Object, gone: Sequence[Object]) -> int:
    """Pods lost so far: those counted, and those that wait to be (they keep the tracking finalizer until then)."""
    counting = set((status.get("uncountedTerminatedPods") or {}).get("failed") or ())
    waiting = {
        podlib.uid(pod) for pod in gone if podlib.TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())
    }
    return (status.get("failed") or 0) + len(counting | waiting)


def lost_at(pod: Object) -> datetime | None:
    """When the Job controller takes a pod to have been lost; its back-off runs from there.

    Kubernetes pkg/controller/job/backoff_utils.go getFinishedTime: the end of its last container, else the last
    change of Ready to False (a dead node), else when it was told to go.
    """
    status = pod.get("status") or {}
    ends = [parse(each.exit.finished) for each in podlib.containers(pod) if each.exit]
    if ends and all(ends):
        return max(end for end in ends if end)
    ready = condition(status, "Ready")
    if ready.get("status") == "False":
        return parse(ready.get("lastTransitionTime"))
    deleted = parse(pod["metadata"].get("deletionTimestamp"))
    grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
    return deleted - timedelta(seconds=grace) if deleted else None


def last_loss(gone: Iterable[Object], alive: Iterable[Object], told: Iterable[datetime | None]) -> datetime | None:
    """When the last of the missing pods was lost, as far as is known; None where nothing is.

    `gone` are those that are still there, and `told` is what tells a time of the others. All that was missing when a
    living pod was made was replaced with it, so what is missing now was lost later.
    """
    known = [moment for moment in (*told, *map(lost_at, gone)) if moment]
    made = [moment for pod in alive if (moment := parse(pod["metadata"].get("creationTimestamp")))]
    return max([*known, *made]) if known else None


def seconds_left(lost: int, last: datetime | None, now: datetime) -> float:
    """At most so many seconds until pods are replaced of which the last was lost at `last`, after `lost` in all."""
    passed = (now - last).total_seconds() if last else 0.0
    return max(0.0, replacement_delay(lost) - max(0.0, passed))
