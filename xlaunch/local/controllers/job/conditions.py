"""The conditions of a Job (Kubernetes 1.37, pkg/controller/job/job_controller.go)."""

from __future__ import annotations

from datetime import datetime

from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import stamp
from xlaunch.local.kube import Object
from xlaunch.local.recorder import Note


def job_condition(kind: str, reason: str, message: str, now: datetime, *, status: str = "True") -> Object:
    """A condition of a Job."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": stamp(now),
        "lastTransitionTime": stamp(now),
    }


def suspend(status: Object, now: datetime) -> list[Note]:
    """Marks the Job as suspended; its event where that is news."""
    new = job_condition("Suspended", "JobSuspended", "Job suspended", now)
    if not _set_condition(status, new):
        return []
    status.pop("startTime", None)
    return [Note("Normal", "Suspended", "Job suspended")]


def resume(status: Object, now: datetime) -> list[Note]:
    """Marks a Job that was suspended as resumed, with a new start time; its event where that is news."""
    if not condition(status, "Suspended"):
        return []
    if not _set_condition(status, job_condition("Suspended", "JobResumed", "Job resumed", now, status="False")):
        return []
    status["startTime"] = stamp(now)
    return [Note("Normal", "Resumed", "Job resumed")]


def _set_condition(status: Object, new: Object) -> bool:
    """Puts the condition in its place; False where nothing but the time would change."""
    conditions = status.setdefault("conditions", [])
    for place, old in enumerate(conditions):
        if old["type"] == new["type"]:
            if all(old.get(key) == new[key] for key in ("status", "reason", "message")):
                return False
            conditions[place] = new
            return True
    conditions.append(new)
    return True
