"""The restart ledger: what a workload has lost, what it may still lose, and how long the next replacement takes.

Counted from pods first. While a Job waits to replace some of its pods, Kubernetes 1.32 to 1.35.6 rejects every write
of its status (kubernetes#139428): the Job and the JobSet then show a slice as whole that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.alarms import Alarm, alarms
from xlaunch.core.budget import replacement_delay
from xlaunch.core.conditions import condition
from xlaunch.core.indexes import parse_indexes
from xlaunch.core.losses import Loss, losses
from xlaunch.core.outages import Outage, Outages
from xlaunch.core.pending import first_held_up, why_waiting
from xlaunch.core.pods import Container
from xlaunch.core.queue_alarms import queue_alarms
from xlaunch.core.queueing import QueueState
from xlaunch.core.recreation import action, job_restarts, restarts_left, seconds_until_recreated
from xlaunch.core.replacement import is_failing, last_loss, lost_at, lost_so_far, replaces_pods, seconds_left
from xlaunch.core.roles import Role
from xlaunch.core.silence import evictions, silent_since
from xlaunch.core.workload import Phase, Workload, describe

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Head:
    """The pod that carries the training command, and its containers, main ones first.

    `waiting` says what keeps it from running, "" for nothing.
    """

    pod: str
    uid: str
    phase: str
    node: str
    containers: tuple[Container, ...]
    waiting: str = ""


@dataclass(frozen=True)
class Slice:
    """One worker Job.

    `ready`, `missing`: hosts that are ready, and hosts whose pod is gone or going and not yet replaced, or on a node
    that does not answer, by the pods.
    `succeeded`: hosts that have exited with code 0; Kubernetes never replaces them.
    `lost`: pods lost since this Job was created. `in_place_restarts`: restarts of containers of its living pods.
    `budget_left`: how many more pods it may lose before its Job fails or, where restarts in place have come nearer to
    that, how many more of those. `next_replacement_seconds`: at most so long until missing hosts are replaced or, where
    none is missing, how long the loss of one more would take; None at the end, once all hosts have succeeded, and where
    one more loss fails the Job.
    `waiting`: what keeps the first of its pods that does not run from it, "" for nothing. `losses`: the hosts that are
    missing, and the lost pods that are still going. None is what is not known, because pods or Jobs may not be read.
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
    waiting: str = ""
    losses: tuple[Loss, ...] = ()
    succeeded: int = 0

    @property
    def whole(self) -> bool:
        """Whether all its hosts are known to be ready."""
        return self.ready == self.hosts


@dataclass(frozen=True)
class Ledger:
    """A workload with its head, its slices and what calls for attention; `waiting` says why it does not run yet."""

    workload: Workload
    head: Head | None
    slices: tuple[Slice, ...]
    alarms: tuple[Alarm, ...]
    waiting: str = ""


def ledger(
    jobset: Object,
    jobs: Sequence[Object] | None,
    pods: Sequence[Object] | None,
    now: datetime,
    queueing: QueueState | None = None,
) -> Ledger:
    """Counts. `jobs` and `pods` are those of the JobSet, `queueing` is its queue's word; None is what is not known."""
    workload = describe(jobset, queueing)
    seen = _Seen(jobset, workload, jobs, pods, now)
    slices = tuple(_slice(seen, role, index) for role in workload.workers for index in range(role.replicas))
    head = _head(seen)
    if workload.phase is Phase.STARTING and _has_run(jobset, head, slices):
        workload = replace(workload, phase=Phase.RUNNING)
    found = (*queue_alarms(workload, now), *alarms(workload, jobset, jobs or (), pods or (), now))
    return Ledger(workload, head, slices, found, _waiting(seen, head, slices))


def _has_run(jobset: Object, head: Head | None, slices: Iterable[Slice]) -> bool:
    """Whether a JobSet that starts in any order was whole before: it does not remember, as one that starts in order.

    It is taken to have been where the head runs, and each slice that is short of hosts has lost some.
    """
    status = jobset.get("status") or {}
    remembers = any(condition(status, f"StartupPolicy{word}") for word in ("InProgress", "Completed"))
    short = [each for each in slices if not each.whole]
    return not remembers and head is not None and head.phase == "Running" and all(each.lost for each in short)


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
        self.evictions = evictions(pods or (), now)
        slices = ((role, index) for role in workload.workers for index in range(role.replicas))
        self.outages = Outages(jobset, {(r.name, i): (r.hosts, self.pods(r, i)) for r, i in slices})

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
        waiting=first_held_up([pod]),
    )


def _waiting(seen: _Seen, head: Head | None, slices: Iterable[Slice]) -> str:
    """What keeps it from running: who holds it back, else the head, the slices, or what the JobSet itself says."""
    if seen.workload.phase in (Phase.QUEUED, Phase.SUSPENDED):
        return why_waiting(None, seen.workload)
    told = next(filter(None, [head.waiting if head else "", *(each.waiting for each in slices)]), "")
    awaits_head = seen.workload.head and not head and seen.knows_pods and not seen.workload.phase.ended
    return told or (why_waiting(None, seen.workload) if awaits_head else "")


class _Hosts:
    """The pods of a slice: all, the living by host, those of them on silent nodes, those that are done, the lost."""

    def __init__(self, pods: Sequence[Object], *, come_back: bool) -> None:
        self.pods = pods
        self.alive = podlib.by_host(filter(podlib.is_alive, pods))
        succeeded = (pod for pod in pods if podlib.phase(pod) == "Succeeded")
        self.succeeded = podlib.by_host(succeeded, others=len(self.alive))
        self.silent = {host: pod for host, pod in self.alive.items() if silent_since(pod)}
        # Pods that go with their Job are not lost
        self.gone = [pod for pod in pods if podlib.is_lost(pod)] if come_back else []
        self.down = [*self.gone, *self.silent.values()]


def _slice(seen: _Seen, role: Role, index: int) -> Slice:
    job = seen.job(role, index)
    status = (job or {}).get("status") or {}
    come_back = replaces_pods(job) or (is_failing(job) and bool(action(seen.jobset, role)))
    hosts = _Hosts(seen.pods(role, index), come_back=come_back)
    done = hosts.succeeded.keys() | parse_indexes(status.get("completedIndexes") or "", role.hosts)
    # A Job that is deleted counts the pods that go with it as failed; the next one begins at 0
    goes = job is not None and podlib.is_deleting(job) and not come_back
    lost = 0 if goes else lost_so_far(status, hosts.gone)
    # Before all hosts were there for the first time, those that are not are awaited, not missing
    was_whole = come_back and (seen.workload.phase is Phase.RUNNING or lost > 0)
    there = (hosts.alive.keys() - hosts.silent) | done
    absent = set(range(role.hosts)) - there if seen.knows_pods and was_whole else set()
    moments = [moment for pod in hosts.down if podlib.completion_index(pod) in absent and (moment := lost_at(pod))]
    in_place = sum(podlib.in_place_restarts(pod) for pod in hosts.alive.values())
    outage = seen.outages.of((role.name, index), job)
    over = len(done) == role.hosts  # its Job is complete, and loses and replaces nothing any more
    return Slice(
        role=role.name,
        index=index,
        hosts=role.hosts,
        ready=_ready(seen, status, hosts.alive.values()),
        missing=len(absent) if seen.knows_pods else None,
        lost=lost if seen.knows_jobs else None,
        lost_since=min(moments, default=outage.since) if absent else None,
        in_place_restarts=in_place if seen.knows_pods else None,
        job_restarts=job_restarts(seen.jobset, role, index),
        budget_left=None if over else _budget_left(seen, role, job, lost, in_place),
        next_replacement_seconds=None if over else _next_wait(seen, role, job, lost, hosts, outage if absent else None),
        waiting=first_held_up(hosts.alive.values()),
        losses=losses(hosts.down, absent, hosts.alive, outage.since),
        succeeded=len(done),
    )


def _ready(seen: _Seen, status: Object, alive: Iterable[Object]) -> int | None:
    if seen.knows_pods:
        return sum(map(podlib.is_ready, alive))
    return (status.get("ready") or 0) if seen.knows_jobs else None


def _budget_left(seen: _Seen, role: Role, job: Object | None, lost: int, in_place: int) -> int | None:
    """The two tests of the Job controller (job_controller.go syncJob): lost pods > limit, or restarts >= limit."""
    if action(seen.jobset, role):
        return restarts_left(seen.workload)
    if not seen.knows_jobs or seen.workload.phase.ended:
        return None
    limit = _limit(role, job)
    left = limit - lost
    if in_place and role.restart_policy == "OnFailure":
        left = min(left, limit - 1 - in_place)
    return max(0, left)


def _next_wait(
    seen: _Seen, role: Role, job: Object | None, lost: int, hosts: _Hosts, outage: Outage | None
) -> float | None:
    """`outage` is None where no host is missing."""
    if seen.workload.phase.ended:
        return None
    if named := action(seen.jobset, role):
        spent = named == "RestartJob" and not restarts_left(seen.workload)
        return None if spent and not outage else seconds_until_recreated(hosts.pods)
    if not seen.knows_jobs:
        return None
    if not outage:
        return replacement_delay(lost + 1) if lost < _limit(role, job) else None
    evicted = [seen.evictions[podlib.uid(pod)] for pod in hosts.silent.values()]
    last = last_loss(hosts.down, hosts.alive.values(), (outage.began, outage.counted))
    waits = [(each - seen.now).total_seconds() for each in evicted if each]
    replaced = seconds_left(lost + len(evicted), last, seen.now)
    return None if None in evicted else max([replaced, *waits])


def _limit(role: Role, job: Object | None) -> int:
    """The Job's own backoffLimit, which may have been raised since it was made from its template."""
    return int(((job or {}).get("spec") or {}).get("backoffLimit", role.backoff_limit))
