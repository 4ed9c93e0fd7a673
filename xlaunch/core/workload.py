"""What a JobSet is to us, whoever made it: its phase, its head and its workers. Read, never assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.excerpt import one_line
from xlaunch.core.queueing import QueueState, State
from xlaunch.core.roles import Role, head_of, role_of, workers_of
from xlaunch.core.timestamps import parse

Object = Mapping[str, Any]

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
OWNER_KEY = "xlaunch.dev/owner"


class Phase(StrEnum):
    """Where a workload is in its life.

    Pending: accepted, nothing runs yet. Queued: held back by Kueue. Suspended: held back until a person lets it go on.
    Starting: some of its pods are not ready for the first time. Running: all were ready once; a slice may be down and
    coming back. Restarting: JobSet recreates everything. Deleting, Completed, Failed: the end.
    """

    PENDING = "Pending"
    QUEUED = "Queued"
    SUSPENDED = "Suspended"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    DELETING = "Deleting"
    COMPLETED = "Completed"
    FAILED = "Failed"

    @property
    def ended(self) -> bool:
        """Whether nothing of it will run again."""
        return self in (Phase.COMPLETED, Phase.FAILED)


@dataclass(frozen=True)
class Workload:
    """A JobSet as xlaunch sees it. `message` and `reason` are the JobSet's own words for its phase."""

    name: str
    namespace: str
    uid: str
    phase: Phase
    reason: str
    message: str
    restarts: int
    restarts_toward_max: int  # whole restarts and restarts of single Jobs, which share one budget
    max_restarts: int
    head: Role | None
    workers: tuple[Role, ...]
    queue: str
    owner: str
    suspended: bool
    deleting: bool
    created: datetime | None
    finished: datetime | None
    queueing: QueueState | None = None  # None where that is not known
    job_restarts: int = 0  # of single Jobs, by JobSet's RestartJob

    @property
    def target(self) -> Role | None:
        """Whose pod 0 of Job 0 carries the training command: the head, or the first worker where there is no head."""
        return self.head or (self.workers[0] if self.workers else None)

    @property
    def main_container(self) -> str:
        """The container that runs the training command, "" where it can't be told (headless, or several)."""
        return self.target.main_container if self.target else ""

    @property
    def slices(self) -> int:
        """How many slices it has: the worker Jobs."""
        return sum(role.replicas for role in self.workers)

    @property
    def chips(self) -> int:
        """How many TPU chips its workers ask for."""
        return sum(role.replicas * role.hosts * role.chips_per_host for role in self.workers)


def describe(jobset: Object, queueing: QueueState | None = None) -> Workload:
    """Reads a JobSet (jobset.x-k8s.io/v1alpha2) as the API server returns it, beside what its queue says of it."""
    metadata, spec, status = jobset["metadata"], jobset.get("spec") or {}, jobset.get("status") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    roles = [role_of(each) for each in spec.get("replicatedJobs") or ()]
    head = head_of(spec, roles)
    phase, reason, message = _phase(jobset, queueing)
    return Workload(
        name=metadata["name"],
        namespace=metadata.get("namespace", ""),
        uid=metadata.get("uid", ""),
        phase=phase,
        reason=reason,
        message=message,
        restarts=status.get("restarts") or 0,
        restarts_toward_max=_toward_max(status),
        max_restarts=(spec.get("failurePolicy") or {}).get("maxRestarts") or 0,
        head=head,
        workers=workers_of(roles, head),
        queue=labels.get(QUEUE_LABEL, ""),
        owner=labels.get(OWNER_KEY) or annotations.get(OWNER_KEY, ""),
        suspended=bool(spec.get("suspend")),
        deleting="deletionTimestamp" in metadata,
        created=parse(metadata.get("creationTimestamp")),
        finished=_finished(status),
        queueing=queueing,
        job_restarts=_of_single_jobs(status, "jobRestarts"),
    )


def _phase(jobset: Object, queueing: QueueState | None) -> tuple[Phase, str, str]:
    """Decided in a fixed order, never by the latest condition: JobSet leaves old conditions True for ever."""
    metadata, status = jobset["metadata"], jobset.get("status") or {}
    for phase in (Phase.COMPLETED, Phase.FAILED):
        if status.get("terminalState") == phase or is_true(status, phase):
            return _said(phase, status, phase)
    if "deletionTimestamp" in metadata:
        return Phase.DELETING, "", ""
    spec = jobset.get("spec") or {}
    if spec.get("suspend"):
        queued = QUEUE_LABEL in (metadata.get("labels") or {})
        return _said(_held(queueing, queued=queued), status, "Suspended")
    if is_true(status, "RestartingJobSet"):
        return _said(Phase.RESTARTING, status, "RestartingJobSet")
    return _living_phase(status, spec.get("replicatedJobs") or ()), "", ""


def _held(queueing: QueueState | None, *, queued: bool) -> Phase:
    """Whose hand is on a suspended JobSet: the queue's where it has one, unless the queue says that it is not."""
    if queueing is None:
        return Phase.QUEUED if queued else Phase.SUSPENDED
    by_person = queueing.state in (State.NOT_QUEUED, State.HELD) or (queueing.state is State.UNSEEN and not queued)
    return Phase.SUSPENDED if by_person else Phase.QUEUED


def _said(phase: Phase, status: Object, kind: str) -> tuple[Phase, str, str]:
    said = condition(status, kind)
    return phase, said.get("reason", ""), one_line(said.get("message") or "")


def _living_phase(status: Object, replicated: Sequence[Object]) -> Phase:
    """Pending, Starting, Running or (before JobSet 0.12, which has a condition for it) Restarting.

    A JobSet that starts in order keeps the condition StartupPolicyCompleted (False later) once all were ready, and so
    tells a lost slice from a first start. One that starts in any order has no such memory. Suspended stays True after
    a resume until all are ready again.
    """
    counts = {each["name"]: each for each in status.get("replicatedJobsStatus") or ()}
    up = {name: (each.get("ready") or 0) + (each.get("succeeded") or 0) for name, each in counts.items()}
    if all(up.get(each["name"], 0) >= each.get("replicas", 1) for each in replicated) and up:
        return Phase.RUNNING
    resuming = is_true(status, "Suspended")
    if condition(status, "StartupPolicyCompleted") and not resuming:
        first = replicated[0]["name"] if replicated else ""
        return Phase.RUNNING if up.get(first) or not status.get("restarts") else Phase.RESTARTING
    started = any(up.values()) or any(each.get("active") for each in counts.values())
    return Phase.STARTING if started else Phase.PENDING


def _toward_max(status: Object) -> int:
    """JobSet v0.12 api/jobset/v1alpha2/jobset_types.go: whole restarts plus those of single Jobs count together."""
    return (status.get("restartsCountTowardsMax") or 0) + _of_single_jobs(status, "jobRestartsCountTowardsMax")


def _of_single_jobs(status: Object, counter: str) -> int:
    return sum(sum(each.get(counter) or ()) for each in status.get("replicatedJobsStatus") or ())


def _finished(status: Object) -> datetime | None:
    for kind in (Phase.COMPLETED, Phase.FAILED):
        if is_true(status, kind):
            return parse(condition(status, kind).get("lastTransitionTime"))
    return None
