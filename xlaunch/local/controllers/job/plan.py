"""What a Job needs next: a pure decision from the Job and its pods (Kubernetes 1.37, job_controller.go syncJob).

As with kubernetes#139457: while replacements wait, `active` is what still runs, so that a partial loss shows at once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.indexes import parse_indexes
from xlaunch.core.pods import TRACKING_FINALIZER, phase
from xlaunch.core.roles import DEFAULT_BACKOFF_LIMIT
from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.job import backoff
from xlaunch.local.controllers.job.conditions import job_condition, resume, suspend
from xlaunch.local.controllers.job.failure import is_failed, judge, only_replaces_failed, past_restart_limit
from xlaunch.local.controllers.job.indexes import index_of
from xlaunch.local.kube import Object
from xlaunch.local.objects import finalizers_of, is_deleting, is_terminal, status_of, uid_of
from xlaunch.local.recorder import Note

LIMIT_MESSAGE = "Job has reached the specified backoff limit"
DEADLINE_MESSAGE = "Job was active longer than specified deadline"
COMPLETIONS_MESSAGE = "Reached expected number of succeeded pods"


@dataclass(frozen=True)
class Situation:
    """A Job and its pods as they are now.

    `seen`: when the end of a pod was first noticed, by UID. `scale`: wall seconds per second of cluster time.
    """

    job: Object
    pods: Sequence[Object]
    record: backoff.Record
    seen: Mapping[str, datetime]
    now: datetime
    scale: float

    @property
    def spec(self) -> Mapping[str, Any]:
        """The Job's spec."""
        spec: Mapping[str, Any] = self.job["spec"]
        return spec

    @property
    def indexed(self) -> bool:
        """Whether each pod has an index of its own."""
        return self.spec.get("completionMode") == "Indexed"

    @property
    def completions(self) -> int:
        """How many successes end the Job; a Job without a number ends with its first."""
        completions: int | None = self.spec.get("completions")
        return 1 if completions is None else completions

    @property
    def active(self) -> list[Object]:
        """The pods that work or will: neither at their end nor being deleted."""
        return [pod for pod in self.pods if not is_terminal(pod) and not is_deleting(pod)]

    @property
    def terminating(self) -> int:
        """How many pods are being deleted and still work."""
        return sum(not is_terminal(pod) and is_deleting(pod) for pod in self.pods)

    def is_tracked(self, pod: Object) -> bool:
        """Whether the pod has not been counted for good yet."""
        return TRACKING_FINALIZER in finalizers_of(pod)

    def valid_index(self, pod: Object) -> bool:
        """Whether the pod counts at all: in an indexed Job, one with an index that the Job has."""
        return not self.indexed or index_of(pod, self.completions) is not None


@dataclass(frozen=True)
class Plan:
    """What to do. `finish` is the interim condition that ends the Job; `uncounted`: what is deleted is no failure."""

    status: Object
    record: backoff.Record
    finish: Object | None = None
    delete: Sequence[Object] = ()
    uncounted: bool = False
    create: Sequence[int | None] = ()
    wait: float | None = None
    notes: Sequence[Note] = ()


def plan(situation: Situation) -> Plan:
    """Decides one sync of a Job that has not finished yet."""
    now = situation.now
    status = copy.deepcopy(dict(status_of(situation.job)))
    suspended = bool(situation.spec.get("suspend"))
    if "startTime" not in status and not suspended:
        status["startTime"] = stamp(now)
    succeeded, failed = _newly_ended(situation)
    record = backoff.update(situation.record, _ends(situation, succeeded), _ends(situation, failed))
    finish = _failure(situation, status, failed)
    if finish is not None:
        return Plan(status, record, finish, delete=situation.active)
    deadline = _until_deadline(situation, status)
    if is_deleting(situation.job):
        return Plan(status, record, wait=deadline)
    if suspended:
        notes = suspend(status, now)
        return Plan(status, record, delete=situation.active, uncounted=True, notes=notes)
    done = _successes(situation, status, len(succeeded))
    active = len(situation.active)
    surplus = _surplus(situation, active - _wanted(situation, done, active))
    if done >= situation.completions and active == len(surplus):
        finish = job_condition("SuccessCriteriaMet", "CompletionsReached", COMPLETIONS_MESSAGE, now)
        return Plan(status, record, finish, delete=surplus, uncounted=True)
    notes = resume(status, now)
    if surplus:
        return Plan(status, record, delete=surplus, uncounted=True, wait=deadline, notes=notes)
    missing = _wanted(situation, done, active) - active
    if only_replaces_failed(situation.job):
        missing -= situation.terminating
    pause = backoff.remaining(record, now, situation.scale)
    if missing <= 0 or pause > 0:
        waits = [wait for wait in (deadline, pause if missing > 0 else None) if wait is not None]
        return Plan(status, record, wait=min(waits, default=None), notes=notes)
    return Plan(status, record, create=_to_create(situation, status, missing), wait=deadline, notes=notes)


def completed_indexes(situation: Situation, status: Mapping[str, Any]) -> set[int]:
    """The indexes that are done, with those of pods that have just succeeded."""
    indexes = parse_indexes(status.get("completedIndexes", ""), situation.completions)
    for pod in situation.pods:
        index = index_of(pod, situation.completions)
        if index is not None and phase(pod) == "Succeeded" and situation.is_tracked(pod):
            indexes.add(index)
    return indexes


def _newly_ended(situation: Situation) -> tuple[list[Object], list[Object]]:
    """Pods that succeeded and pods that were lost since the last sync."""
    uncounted = status_of(situation.job).get("uncountedTerminatedPods") or {}
    fresh = [pod for pod in situation.pods if situation.is_tracked(pod) and situation.valid_index(pod)]
    succeeded = [
        pod for pod in fresh if phase(pod) == "Succeeded" and uid_of(pod) not in (uncounted.get("succeeded") or ())
    ]
    failed = [
        pod for pod in fresh if is_failed(pod, situation.job) and uid_of(pod) not in (uncounted.get("failed") or ())
    ]
    return succeeded, failed


def _ends(situation: Situation, pods: Sequence[Object]) -> list[datetime]:
    return [backoff.ended_at(pod, situation.seen.get(uid_of(pod), situation.now)) for pod in pods]


def _failure(situation: Situation, status: Object, failed: Sequence[Object]) -> Object | None:
    """The condition that ends the Job as failed: decided before, or now by a policy, the limits or the deadline."""
    now, job = situation.now, situation.job
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        if is_true(status, kind):
            return dict(condition(status, kind))
    for pod in situation.pods:
        verdict = judge(job, pod) if is_failed(pod, job) else None
        if verdict is not None and verdict.message:
            return job_condition("FailureTarget", "PodFailurePolicy", verdict.message, now)
    limit = situation.spec.get("backoffLimit", DEFAULT_BACKOFF_LIMIT)
    uncounted = (status.get("uncountedTerminatedPods") or {}).get("failed") or ()
    lost = status.get("failed", 0) + len(uncounted) + sum(judge(job, pod).counts for pod in failed)
    if lost > limit or past_restart_limit(job, situation.pods, limit):
        return job_condition("FailureTarget", "BackoffLimitExceeded", LIMIT_MESSAGE, now)
    deadline = _until_deadline(situation, status)
    if deadline is not None and deadline <= 0:
        return job_condition("FailureTarget", "DeadlineExceeded", DEADLINE_MESSAGE, now)
    return None


def _until_deadline(situation: Situation, status: Mapping[str, Any]) -> float | None:
    """Seconds of cluster time until `activeDeadlineSeconds` have passed; None without a deadline."""
    seconds = situation.spec.get("activeDeadlineSeconds")
    if seconds is None or "startTime" not in status or situation.spec.get("suspend"):
        return None
    elapsed = (situation.now - datetime.fromisoformat(status["startTime"])).total_seconds() / situation.scale
    return float(seconds - elapsed)


def _successes(situation: Situation, status: Mapping[str, Any], new: int) -> int:
    if situation.indexed:
        return len(completed_indexes(situation, status))
    uncounted = (status.get("uncountedTerminatedPods") or {}).get("succeeded") or ()
    return int(status.get("succeeded", 0)) + len(uncounted) + new


def _wanted(situation: Situation, done: int, active: int) -> int:
    """How many pods should be active."""
    parallelism: int = situation.spec.get("parallelism", 1)
    if situation.spec.get("completions") is None:
        return active if done else parallelism
    return max(min(situation.completions - done, parallelism), 0)


def _surplus(situation: Situation, at_least: int) -> list[Object]:
    """Active pods to delete: those without a valid index, all but one of each index, then as many as are too many."""
    remove: list[Object] = []
    keep: list[Object] = []
    taken: set[int | None] = set()
    for pod in situation.active:
        index = index_of(pod, situation.completions) if situation.indexed else None
        if situation.indexed and (index is None or index in taken):
            remove.append(pod)
        else:
            keep.append(pod)
        taken.add(index)
    # Pods that are not ready have the least to lose
    keep.sort(key=lambda pod: is_true(status_of(pod), "Ready"))
    return remove + keep[: max(at_least - len(remove), 0)]


def _to_create(situation: Situation, status: Mapping[str, Any], count: int) -> list[int | None]:
    if not situation.indexed:
        return [None] * count
    occupied = [*situation.active]
    if only_replaces_failed(situation.job):
        occupied += [pod for pod in situation.pods if is_deleting(pod) and not is_terminal(pod)]
    taken = {index_of(pod, situation.completions) for pod in occupied} | completed_indexes(situation, status)
    free = [index for index in range(situation.completions) if index not in taken]
    return [*free[:count]]
