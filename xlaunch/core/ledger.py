"""The restart ledger: what a workload has lost, what it may still lose, and how long the next replacement takes.

Counted from pods first. While a Job waits to replace some of its pods, Kubernetes 1.32 to 1.35.6 rejects every write
of its status (kubernetes#139428): the Job and the JobSet then show a slice as whole that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.alarms import Alarm, alarms
from xlaunch.core.budget import replacement_delay
from xlaunch.core.pods import Container
from xlaunch.core.timestamps import parse
from xlaunch.core.workload import Phase, Role, Workload, condition, describe, is_true

Object = Mapping[str, Any]

# Seconds until JobSet has recreated the Job of a slice (RestartJob): 2.3 to 3.3 s were measured, without termination
SLICE_SCOPE_SECONDS = 3.0


@dataclass(frozen=True)
class Head:
    """The pod that carries the training command, and its containers, main ones first."""

    pod: str
    uid: str
    phase: str
    node: str
    containers: tuple[Container, ...]


@dataclass(frozen=True)
class Slice:
    """One worker Job.

    `ready`, `missing`: hosts that are ready, and hosts whose pod is gone or going and not yet replaced, by the pods.
    `lost`: pods lost since this Job was created. `in_place_restarts`: restarts of containers of its living pods.
    `budget_left`: how many more pods it may lose before its Job fails or, where restarts in place have come nearer to
    that, how many more of those. `next_replacement_seconds`: at most so long until missing hosts are replaced or, where
    none is missing, how long the loss of one more would take; neither is known at the end. None is what is not known,
    because pods or Jobs may not be read.
    """

    role: str
    index: int
    hosts: int
    ready: int | None
    missing: int | None
    lost: int | None
    lost_since: datetime | None
    in_place_restarts: int | None
    job_restarts: int
    budget_left: int | None
    next_replacement_seconds: float | None

    @property
    def whole(self) -> bool:
        """Whether all its hosts are known to be ready."""
        return self.ready == self.hosts


@dataclass(frozen=True)
class Ledger:
    """A workload with its head, its slices and what calls for attention."""

    workload: Workload
    head: Head | None
    slices: tuple[Slice, ...]
    alarms: tuple[Alarm, ...]

    @property
    def budget_left(self) -> int:
        """How many more restarts the JobSet's failure policy allows."""
        return max(0, self.workload.max_restarts - self.workload.restarts_toward_max)


def ledger(jobset: Object, jobs: Sequence[Object] | None, pods: Sequence[Object] | None, now: datetime) -> Ledger:
    """Counts. `jobs` and `pods` are those of the JobSet; None where the caller may not read them."""
    workload = describe(jobset)
    seen = _Seen(jobset, workload, jobs, pods, now)
    slices = tuple(_slice(seen, role, index) for role in workload.workers for index in range(role.replicas))
    return Ledger(workload, _head(seen), slices, alarms(workload, jobset, jobs or (), pods or (), now))


class _Seen:
    """The objects, to be found by role and index."""

    def __init__(
        self,
        jobset: Object,
        workload: Workload,
        jobs: Sequence[Object] | None,
        pods: Sequence[Object] | None,
        now: datetime,
    ) -> None:
        self.jobset, self.workload, self.now = jobset, workload, now
        self.knows_jobs, self.knows_pods = jobs is not None, pods is not None
        self._jobs = {job["metadata"]["name"]: job for job in jobs or ()}
        self._pods: dict[tuple[str, str], list[Object]] = {}
        for pod in pods or ():
            place = (podlib.label(pod, podlib.REPLICATED_JOB), podlib.label(pod, podlib.JOB_INDEX))
            self._pods.setdefault(place, []).append(pod)

    def job(self, role: Role, index: int) -> Object | None:
        return self._jobs.get(role.job(self.workload.name, index))

    def pods(self, role: Role, index: int) -> Sequence[Object]:
        return self._pods.get((role.name, str(index)), ())


def _head(seen: _Seen) -> Head | None:
    role = seen.workload.head
    pod = podlib.newest(seen.pods(role, 0)) if role else None
    if pod is None:
        return None
    return Head(
        pod=pod["metadata"]["name"],
        uid=podlib.uid(pod),
        phase=podlib.phase(pod),
        node=(pod.get("spec") or {}).get("nodeName", ""),
        containers=podlib.containers(pod),
    )


def _slice(seen: _Seen, role: Role, index: int) -> Slice:
    job, pods = seen.job(role, index), seen.pods(role, index)
    status = (job or {}).get("status") or {}
    replaces = _replaces_pods(job)
    gone = [pod for pod in pods if podlib.is_lost(pod)] if replaces else []
    alive = {podlib.completion_index(pod): pod for pod in pods if podlib.is_alive(pod)}
    done = {podlib.completion_index(pod) for pod in pods if podlib.phase(pod) == "Succeeded"}
    lost = _lost(status, gone)
    # Before all hosts were there for the first time, those that are not are awaited, not missing
    was_whole = replaces and (seen.workload.phase is Phase.RUNNING or lost > 0)
    missing = role.hosts - len(alive.keys() | done) if seen.knows_pods and was_whole else 0
    moments = [moment for pod in gone if (moment := lost_at(pod))]
    in_place = sum(podlib.in_place_restarts(pod) for pod in alive.values())
    return Slice(
        role=role.name,
        index=index,
        hosts=role.hosts,
        ready=_ready(seen, status, alive.values()),
        missing=missing if seen.knows_pods else None,
        lost=lost if seen.knows_jobs else None,
        lost_since=min(moments, default=_outage_since(seen.jobset)) if missing else None,
        in_place_restarts=in_place if seen.knows_pods else None,
        job_restarts=_job_restarts(seen.jobset, role, index),
        budget_left=_budget_left(seen, role, job, lost, in_place),
        next_replacement_seconds=_next_wait(seen, role, lost, max(moments, default=None) if missing else None, missing),
    )


def _ready(seen: _Seen, status: Object, alive: Iterable[Object]) -> int | None:
    if seen.knows_pods:
        return sum(map(podlib.is_ready, alive))
    return (status.get("ready") or 0) if seen.knows_jobs else None


def _budget_left(seen: _Seen, role: Role, job: Object | None, lost: int, in_place: int) -> int | None:
    """The two tests of the Job controller (job_controller.go syncJob): lost pods > limit, or restarts >= limit."""
    if _action(seen.jobset, role).startswith("RestartJob"):
        return max(0, seen.workload.max_restarts - seen.workload.restarts_toward_max)
    if not seen.knows_jobs or seen.workload.phase.ended:
        return None
    limit = ((job or {}).get("spec") or {}).get("backoffLimit", role.backoff_limit)
    left = int(limit) - lost
    if in_place and role.restart_policy == "OnFailure":
        left = min(left, int(limit) - 1 - in_place)
    return max(0, left)


def _next_wait(seen: _Seen, role: Role, lost: int, last: datetime | None, missing: int) -> float | None:
    if _action(seen.jobset, role).startswith("RestartJob"):
        return SLICE_SCOPE_SECONDS
    if not seen.knows_jobs or seen.workload.phase.ended:
        return None
    if not missing:
        return replacement_delay(lost + 1)
    passed = (seen.now - last).total_seconds() if last else 0.0
    return max(0.0, replacement_delay(lost) - max(0.0, passed))


def _outage_since(jobset: Object) -> datetime | None:
    """When a JobSet that starts in order saw a slice short of hosts: the lost pod itself is gone by then."""
    since = condition(jobset.get("status") or {}, "StartupPolicyInProgress")
    return parse(since.get("lastTransitionTime")) if since.get("status") == "True" else None


def _action(jobset: Object, role: Role) -> str:
    """What a failed Job of the role leads to: RestartJob* (that Job alone, JobSet >= 0.12), or "" for all else."""
    for rule in ((jobset.get("spec") or {}).get("failurePolicy") or {}).get("rules") or ():
        if role.name in (rule.get("targetReplicatedJobs") or (role.name,)):
            action = str(rule.get("action", ""))
            return action if action in ("RestartJob", "RestartJobAndIgnoreMaxRestarts") else ""
    return ""


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


def _replaces_pods(job: Object | None) -> bool:
    """Whether a Job replaces its pods: not while it is suspended, deleted or over. An unknown one is taken to."""
    if job is None:
        return True
    status = job.get("status") or {}
    over = is_true(status, "Failed") or is_true(status, "FailureTarget") or is_true(status, "Complete")
    suspended = bool((job.get("spec") or {}).get("suspend"))
    return not (over or suspended or "deletionTimestamp" in job["metadata"])


def _lost(status: Object, gone: Sequence[Object]) -> int:
    """Pods lost so far: those counted, and those that wait to be (they keep the tracking finalizer until then)."""
    counting = set((status.get("uncountedTerminatedPods") or {}).get("failed") or ())
    waiting = {
        podlib.uid(pod) for pod in gone if podlib.TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())
    }
    return (status.get("failed") or 0) + len(counting | waiting)


def _job_restarts(jobset: Object, role: Role, index: int) -> int:
    told = (jobset.get("status") or {}).get("replicatedJobsStatus") or ()
    counts = next((each.get("jobRestarts") or () for each in told if each["name"] == role.name), ())
    return counts[index] if index < len(counts) else 0
