"""A JobSet's status in the making: conditions, events, counts (JobSet v0.12.0, jobset_controller.go)."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import is_true
from xlaunch.core.pods import JOB_INDEX, JOB_RESTART_ATTEMPT, REPLICATED_JOB, RESTART_ATTEMPT
from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.jobset.names import replicas_of, replicated_jobs
from xlaunch.local.gates import RESTART_JOB
from xlaunch.local.kube import Object
from xlaunch.local.objects import labels_of, status_of
from xlaunch.local.recorder import Note

# One of these holds at a time; the other becomes False and keeps the time of its last True
EXCLUSIVE = {"StartupPolicyInProgress", "StartupPolicyCompleted"}
# Per Job of a replicated job: how often it was restarted alone, and how many of these count towards maxRestarts
JOB_RESTARTS = "jobRestarts"
JOB_RESTARTS_TOWARDS_MAX = "jobRestartsCountTowardsMax"


@dataclass(frozen=True)
class Children:
    """The JobSet's Jobs: those of the current attempt by their state, and those of earlier ones."""

    active: Sequence[Object]
    succeeded: Sequence[Object]
    failed: Sequence[Object]
    previous: Sequence[Object]

    @property
    def names(self) -> set[str]:
        """The names that are taken."""
        groups = (self.active, self.succeeded, self.failed, self.previous)
        return {job["metadata"]["name"] for jobs in groups for job in jobs}


@dataclass
class Draft:
    """The status being made and the events that follow once it is written."""

    status: Object
    now: datetime
    notes: list[Note] = field(default_factory=list)

    @classmethod
    def of(cls, jobset: Object, now: datetime) -> Draft:
        """A draft that begins with the JobSet's present status."""
        status = copy.deepcopy(dict(status_of(jobset)))
        status.setdefault("restarts", 0)
        return cls(status, now)

    def set(self, kind: str, reason: str, message: str, *, holds: bool = True, type: str = "Normal") -> None:
        """Sets a condition and, where that is news, adds its event.

        A condition that never held is not added as False. A new reason alone keeps the time of the last change.
        """
        new = {
            "type": kind,
            "status": "True" if holds else "False",
            "reason": reason,
            "message": message,
            "lastTransitionTime": stamp(self.now),
        }
        conditions: list[Object] = self.status.get("conditions") or []
        news, found = False, False
        for place, old in enumerate(conditions):
            if old["type"] == kind:
                found = True
                if old["status"] != new["status"]:
                    conditions[place], news = new, True
                elif (old["reason"], old["message"]) != (reason, message):
                    conditions[place], news = {**new, "lastTransitionTime": old["lastTransitionTime"]}, True
            elif holds and old["status"] == "True" and {old["type"], kind} == EXCLUSIVE:
                conditions[place], news = {**old, "status": "False"}, True
        if not found and holds:
            conditions.append(new)
            news = True
        if news:
            self.status["conditions"] = conditions
            self.notes.append(Note(type, reason, message))

    def not_restarting(self, reason: str, message: str) -> None:
        """Ends a restart, if there has been one."""
        self.set("RestartingJobSet", reason, message, holds=False)

    def fail(self, reason: str, message: str) -> None:
        """Ends the JobSet as failed."""
        self.set("Failed", reason, message, type="Warning")
        self.not_restarting("JobSetFailed", "jobset failed")
        self.status["terminalState"] = "Failed"

    def complete(self) -> None:
        """Ends the JobSet as completed."""
        self.set("Completed", "AllJobsCompleted", "jobset completed successfully")
        self.not_restarting("JobSetCompleted", "jobset completed successfully")
        self.status["terminalState"] = "Completed"


def children(jobset: Object, jobs: Sequence[Object]) -> Children:
    """Sorts the JobSet's Jobs by attempt and state."""
    restarts = status_of(jobset).get("restarts", 0)
    groups: dict[str, list[Object]] = {"active": [], "succeeded": [], "failed": [], "previous": []}
    for job in jobs:
        if int(labels_of(job).get(RESTART_ATTEMPT, "0")) < restarts or _was_restarted(jobset, job):
            groups["previous"].append(job)
        elif is_true(status_of(job), "Failed"):
            groups["failed"].append(job)
        elif is_true(status_of(job), "Complete"):
            groups["succeeded"].append(job)
        else:
            groups["active"].append(job)
    return Children(**groups)


def _was_restarted(jobset: Object, job: Object) -> bool:
    """Whether a newer attempt of this Job alone has begun. One without the label is from before the feature gate."""
    labels = labels_of(job)
    if JOB_RESTART_ATTEMPT not in labels:
        return False
    statuses = status_of(jobset).get("replicatedJobsStatus") or ()
    counts: Sequence[int] = _counter(statuses, labels[REPLICATED_JOB], JOB_RESTARTS)
    return bool(counts) and int(labels[JOB_RESTART_ATTEMPT]) < counts[int(labels[JOB_INDEX])]


def job_restarts(statuses: Sequence[Object], replicated: Object, counter: str = JOB_RESTARTS) -> list[int]:
    """A counter for each Job of a replicated job; zeros before the first restart, when the status has none."""
    return list(_counter(statuses, replicated["name"], counter) or [0] * replicas_of(replicated))


def _counter(statuses: Sequence[Object], replicated: str, counter: str) -> Sequence[int]:
    return next((each.get(counter) or () for each in statuses if each["name"] == replicated), ())


def replicated_status(jobset: Object, jobs: Children, gates: Collection[str] = ()) -> list[Object]:
    """`status.replicatedJobsStatus`: how many Jobs are in each state, by name in descending order as upstream sorts.

    With the RestartJob gate the counters of restarted Jobs stay; without it they are dropped.
    """
    counts = {
        replicated["name"]: {
            "name": replicated["name"],
            "ready": 0,
            "succeeded": 0,
            "failed": 0,
            "active": 0,
            "suspended": 0,
        }
        for replicated in replicated_jobs(jobset)
    }
    if RESTART_JOB in gates:
        for old in status_of(jobset).get("replicatedJobsStatus") or ():
            kept = {name: old[name] for name in (JOB_RESTARTS, JOB_RESTARTS_TOWARDS_MAX) if name in old}
            counts[old["name"]].update(kept)
    for job in jobs.active:
        entry = counts[labels_of(job)[REPLICATED_JOB]]
        entry["ready"] += _is_ready(job)
        entry["active"] += status_of(job).get("active", 0) > 0
        entry["suspended"] += bool(job["spec"].get("suspend"))
    for outcome, group in (("succeeded", jobs.succeeded), ("failed", jobs.failed)):
        for job in group:
            counts[labels_of(job)[REPLICATED_JOB]][outcome] += 1
    return sorted(counts.values(), key=lambda entry: str(entry["name"]), reverse=True)


def entry_of(statuses: Sequence[Object], name: str) -> Object:
    """The entry of one replicated job."""
    return next(entry for entry in statuses if entry["name"] == name)


def has_started(replicated: Mapping[str, Any], statuses: Sequence[Object]) -> bool:
    """Whether all Jobs of a replicated job are ready or at their end, so that the next may begin."""
    entry = entry_of(statuses, replicated["name"])
    return bool(replicas_of(replicated) == entry["failed"] + entry["ready"] + entry["succeeded"])


def all_ready(jobset: Object, statuses: Sequence[Object]) -> bool:
    """Whether every Job is ready or has succeeded."""
    wanted = sum(replicas_of(replicated) for replicated in replicated_jobs(jobset))
    return bool(wanted == sum(entry["ready"] + entry["succeeded"] for entry in statuses))


def _is_ready(job: Object) -> bool:
    spec, status = job["spec"], status_of(job)
    parallelism = spec.get("parallelism", 1)
    pods = min(parallelism, spec.get("completions") or parallelism)
    return bool(status.get("succeeded", 0) + status.get("ready", 0) >= pods)
