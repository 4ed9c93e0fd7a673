"""States that Kubernetes and JobSet neither leave by themselves nor report, each with the command that ends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.conditions import condition, is_true
from xlaunch.core.names import job_name
from xlaunch.core.recreation import action
from xlaunch.core.silence import silent_since
from xlaunch.core.timestamps import seconds_since, words
from xlaunch.core.workload import Workload

Object = Mapping[str, Any]

EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
# A pod is gone a moment after its deletionTimestamp, which includes the grace period
OVERDUE_SECONDS = 30.0
# JobSet writes a first status, and acts on a failed Job, within a second or two
NO_STATUS_SECONDS = NOT_RESTARTED_SECONDS = 15.0


@dataclass(frozen=True)
class Alarm:
    """`reason` is a word for programs, `message` a sentence, `next` the command that helps ("" where there is none)."""

    reason: str
    message: str
    next: str


def alarms(
    workload: Workload, jobset: Object, jobs: Sequence[Object], pods: Sequence[Object], now: datetime
) -> tuple[Alarm, ...]:
    """All that calls for a person; nothing of it once the workload has ended."""
    if workload.phase.ended or workload.suspended:
        return ()
    found = [*_no_status(workload, jobset, now), *_succeeded_workers(workload, jobs, pods)]
    found += _dead_nodes(workload, jobs, pods, now)
    found += _failed_leaders(workload, pods)
    found += _slices_not_restarted(workload, jobset, jobs, now)
    return tuple(found)


def _no_status(workload: Workload, jobset: Object, now: datetime) -> Iterable[Alarm]:
    """JobSet up to 0.10 accepts a name from which no Job can be made, and then tries for ever without a word."""
    age = (now - workload.created).total_seconds() if workload.created else 0.0
    if not jobset.get("status") and age > NO_STATUS_SECONDS:
        yield Alarm(
            "NoStatus",
            f"The JobSet controller has said nothing of {workload.name} in {words(age)}: it does not run, or can't "
            "create its Jobs (up to JobSet 0.10, because of a long name)",
            "kubectl logs -n jobset-system deployment/jobset-controller-manager",
        )


def _succeeded_workers(workload: Workload, jobs: Sequence[Object], pods: Sequence[Object]) -> Iterable[Alarm]:
    """A worker that exits 0 on SIGTERM counts as done: its index is never replaced, and no event says so."""
    if workload.head is None:
        return  # workers without a head are meant to succeed
    roles = {role.name for role in workload.workers}
    succeeded = {_job_of(workload, pod) for pod in pods if podlib.phase(pod) == "Succeeded" and _role(pod) in roles}
    for job in jobs:
        status = job.get("status") or {}
        if _role(job) in roles and (status.get("succeeded") or status.get("completedIndexes")):
            succeeded.add(job["metadata"]["name"])
    for name in sorted(succeeded):
        yield Alarm(
            "WorkerSucceeded",
            f"A worker of {name} has exited with code 0: Kubernetes counts that host as done and never replaces it",
            f"kubectl delete job {name} -n {workload.namespace}",
        )


def _dead_nodes(workload: Workload, jobs: Sequence[Object], pods: Sequence[Object], now: datetime) -> Iterable[Alarm]:
    """A Job that must end waits for pods whose node does not answer; JobSet waits for the Job.

    Where it is not known that the node is silent, a pod that is long overdue tells it.
    """
    ending = {
        job["metadata"]["name"]
        for job in jobs
        if is_true(job.get("status") or {}, "FailureTarget") and not is_true(job.get("status") or {}, "Failed")
    }
    for pod in pods:
        if _job_of(workload, pod) not in ending or not podlib.is_deleting(pod):
            continue
        name, node = pod["metadata"]["name"], (pod.get("spec") or {}).get("nodeName", "")
        silent, overdue = silent_since(pod), seconds_since(pod["metadata"]["deletionTimestamp"], now)
        if silent:
            why = f"Pod {name} cannot end: node {node} has not answered for {words(now - silent)}"
        elif overdue > OVERDUE_SECONDS:
            why = f"Pod {name} should be gone since {words(overdue)}; node {node} seems dead"
        else:
            continue
        yield Alarm(
            "StuckOnDeadNode",
            f"{why}, and JobSet waits for it",
            f"kubectl delete pod {name} -n {workload.namespace} --force --grace-period=0",
        )


def _failed_leaders(workload: Workload, pods: Sequence[Object]) -> Iterable[Alarm]:
    """jobset#1276, in v0.12.0: a Failed pod of index 0 beside the one that replaces it lets no follower in.

    Alone it only waits to be replaced, and one that is being deleted harms nobody for long.
    """
    roles = {role.name for role in workload.workers}
    leaders = [pod for pod in pods if podlib.completion_index(pod) == 0 and _role(pod) in roles]
    replaced = {_job_of(workload, pod) for pod in leaders if podlib.is_alive(pod)}
    for pod in leaders:
        stays = podlib.phase(pod) == "Failed" and not podlib.is_deleting(pod) and _job_of(workload, pod) in replaced
        if stays and podlib.label(pod, EXCLUSIVE_TOPOLOGY):
            name = pod["metadata"]["name"]
            yield Alarm(
                "FailedLeader",
                f"Pod {name}, the first host of its slice, has failed; while it is there, JobSet 0.12 lets no other in",
                f"kubectl delete pod {name} -n {workload.namespace}",
            )


def _slices_not_restarted(workload: Workload, jobset: Object, jobs: Sequence[Object], now: datetime) -> Iterable[Alarm]:
    """Where a rule says RestartJob and the gate is off again, the controller only logs an error, for ever.

    JobSet v0.12.0 pkg/controllers/failure_policy.go restartJobActionApplier. It makes a Job that is gone anew.
    """
    roles = {role.name for role in workload.workers if action(jobset, role)}
    for job in jobs:
        status, name = job.get("status") or {}, job["metadata"]["name"]
        stays = is_true(status, "Failed") and "deletionTimestamp" not in job["metadata"]
        since = seconds_since(condition(status, "Failed").get("lastTransitionTime"), now)
        if _role(job) in roles and stays and since > NOT_RESTARTED_SECONDS:
            yield Alarm(
                "SliceNotRestarted",
                f"Job {name} has failed {words(since)} ago and JobSet does not make it anew: its controller does not "
                "run, or its feature gate RestartJob was turned off",
                f"kubectl delete job {name} -n {workload.namespace}",
            )


def _role(item: Object) -> str:
    return podlib.label(item, podlib.REPLICATED_JOB)


def _job_of(workload: Workload, pod: Object) -> str:
    return job_name(workload.name, _role(pod), podlib.label(pod, podlib.JOB_INDEX))
