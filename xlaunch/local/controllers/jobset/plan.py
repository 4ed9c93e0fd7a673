"""What a JobSet needs next: a pure decision from it and its Jobs (JobSet v0.12.0, jobset_controller.go reconcile)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from xlaunch.core.merge_patch import difference
from xlaunch.core.names import job_name
from xlaunch.core.pods import REPLICATED_JOB
from xlaunch.local.controllers.jobset.build import child_job
from xlaunch.local.controllers.jobset.failure import apply_failure_policy
from xlaunch.local.controllers.jobset.names import has_dns_hostnames, replicas_of, replicated_jobs
from xlaunch.local.controllers.jobset.status import (
    Children,
    Draft,
    all_ready,
    children,
    entry_of,
    has_started,
    replicated_status,
)
from xlaunch.local.controllers.ttl import until_expiry
from xlaunch.local.kube import Object
from xlaunch.local.objects import end_of, labels_of
from xlaunch.local.recorder import Note

RESUMABLE_MAPS = (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector"))
RESUMABLE_LISTS = ("tolerations", "schedulingGates")


@dataclass(frozen=True)
class Plan:
    """What to do, in this order: delete, serve, create, suspend, resume, then write the status, then tell.

    `resume` pairs a Job with the patch of its spec. `wait`: cluster seconds until the TTL ends; `expired`: it has.
    """

    status: Object
    notes: Sequence[Note]
    delete: Sequence[Object] = ()
    serve: bool = False
    create: Sequence[Object] = ()
    suspend: Sequence[Object] = ()
    resume: Sequence[tuple[Object, Object]] = ()
    wait: float | None = None
    expired: bool = False


def plan(jobset: Object, jobs: Sequence[Object], now: datetime, scale: float, gates: Collection[str] = ()) -> Plan:
    """Decides one reconciliation. `jobs`: all that the JobSet controls. `scale`: wall seconds per cluster second.

    `gates`: JobSet's feature gates that are on.
    """
    owned = children(jobset, jobs)
    draft = Draft.of(jobset, now)
    statuses = replicated_status(jobset, owned, gates)
    draft.status["replicatedJobsStatus"] = statuses
    if end_of(jobset):
        left = until_expiry(jobset, now, scale)
        expired = left is not None and left <= 0
        return Plan(draft.status, draft.notes, delete=owned.active, wait=None if expired else left, expired=expired)
    suspended = bool(jobset["spec"].get("suspend"))
    if not suspended and all_ready(jobset, statuses):
        draft.not_restarting("JobsReady", "all jobs are ready")
    if owned.failed:
        apply_failure_policy(jobset, owned.failed, draft)
        return Plan(draft.status, draft.notes, delete=owned.previous)
    if owned.succeeded and _is_success(jobset, owned.succeeded):
        draft.complete()
        return Plan(draft.status, draft.notes, delete=owned.previous)
    create = _to_create(jobset, owned, statuses, draft, gates)
    suspend: Sequence[Object] = ()
    resume: Sequence[tuple[Object, Object]] = ()
    if suspended:
        suspend = [job for job in owned.active if not job["spec"].get("suspend")]
        draft.set("Suspended", "SuspendedJobs", "jobset is suspended")
        draft.not_restarting("JobSetSuspended", "jobset is suspended")
    else:
        resume = _to_resume(jobset, owned, statuses, draft)
    return Plan(
        draft.status,
        draft.notes,
        delete=owned.previous,
        serve=has_dns_hostnames(jobset),
        create=create,
        suspend=suspend,
        resume=resume,
    )


def _is_success(jobset: Object, succeeded: Sequence[Object]) -> bool:
    policy = jobset["spec"]["successPolicy"]
    targets = policy.get("targetReplicatedJobs") or [job["name"] for job in replicated_jobs(jobset)]
    done = sum(labels_of(job)[REPLICATED_JOB] in targets for job in succeeded)
    if policy["operator"] == "Any":
        return done >= 1
    return done >= sum(replicas_of(job) for job in replicated_jobs(jobset) if job["name"] in targets)


def _starts_in_order(jobset: Object) -> bool:
    return bool((jobset["spec"].get("startupPolicy") or {}).get("startupPolicyOrder") == "InOrder")


def _begin(draft: Draft) -> None:
    message = "in order startup policy is in progress"
    draft.set("StartupPolicyInProgress", "InOrderStartupPolicyInProgress", message)


def _to_create(
    jobset: Object, owned: Children, statuses: Sequence[Object], draft: Draft, gates: Collection[str]
) -> list[Object]:
    """The Jobs that are missing and whose turn it is."""
    create: list[Object] = []
    in_order = _starts_in_order(jobset) and not jobset["spec"].get("suspend")
    for replicated in replicated_jobs(jobset):
        if not _dependencies_hold(jobset, replicated, statuses):
            continue
        if in_order and has_started(replicated, statuses):
            continue
        create += _missing(jobset, replicated, owned, gates)
        if in_order:
            _begin(draft)
            return create
    if in_order:
        message = "in order startup policy has completed"
        draft.set("StartupPolicyCompleted", "InOrderStartupPolicyCompleted", message)
    return create


def _missing(jobset: Object, replicated: Object, owned: Children, gates: Collection[str]) -> list[Object]:
    strategy = (jobset["spec"].get("failurePolicy") or {}).get("restartStrategy")
    if owned.previous and strategy == "BlockingRecreate":
        return []
    taken = owned.names
    name = jobset["metadata"]["name"]
    return [
        child_job(jobset, replicated, index, gates)
        for index in range(replicas_of(replicated))
        if job_name(name, replicated["name"], index) not in taken
    ]


def _dependencies_hold(jobset: Object, replicated: Object, statuses: Sequence[Object]) -> bool:
    """Whether all that the replicated job depends on is Ready or Complete, as it asks."""
    replicas = {job["name"]: replicas_of(job) for job in replicated_jobs(jobset)}
    for dependency in replicated.get("dependsOn") or ():
        entry = entry_of(statuses, dependency["name"])
        reached = entry["succeeded"]
        if dependency["status"] == "Ready":
            reached += entry["failed"] + entry["ready"]
        if reached != replicas[dependency["name"]]:
            return False
    return True


def _to_resume(
    jobset: Object, owned: Children, statuses: Sequence[Object], draft: Draft
) -> list[tuple[Object, Object]]:
    """The Jobs to wake, each with its patch; the JobSet counts as resumed only when all have their turn."""
    resume: list[tuple[Object, Object]] = []
    for replicated in replicated_jobs(jobset):
        if not _dependencies_hold(jobset, replicated, statuses):
            continue
        if _starts_in_order(jobset) and has_started(replicated, statuses):
            continue
        resume += [
            (job, _resume_patch(job, replicated))
            for job in owned.active
            if labels_of(job)[REPLICATED_JOB] == replicated["name"] and job["spec"].get("suspend")
        ]
        if _starts_in_order(jobset):
            _begin(draft)
            return resume
    draft.set("Suspended", "ResumeJobs", "jobset is resumed", holds=False)
    return resume


def _resume_patch(job: Object, replicated: Object) -> Object:
    """Wakes the Job, with what was changed in the JobSet's pod template while it was suspended."""
    before, wanted = job["spec"]["template"], replicated["template"]["spec"]["template"]
    after = {part: dict(before.get(part) or {}) for part in ("metadata", "spec")}
    for part, name in RESUMABLE_MAPS:
        merged = {**(after[part].get(name) or {}), **((wanted.get(part) or {}).get(name) or {})}
        if merged:
            after[part][name] = merged
    for name in RESUMABLE_LISTS:
        kept = list(after["spec"].get(name) or ())
        added = [entry for entry in wanted["spec"].get(name) or () if entry not in kept]
        if added:
            after["spec"][name] = kept + added
    template = difference({part: before.get(part) or {} for part in after}, after)
    return {"spec": {"suspend": False, **({"template": template} if template else {})}}
