"""Reading Kueue's objects: a Workload (kueue.x-k8s.io, v1beta1 or v1beta2) and the list of those that wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.excerpt import one_line
from xlaunch.core.queueing import Eviction, Evictions, Place, QueueState, State
from xlaunch.core.timestamps import parse

Object = Mapping[str, Any]

JOB_UID = "kueue.x-k8s.io/job-uid"
# Kueue v0.17 pkg/workload/workload.go resetActiveCondition: how it keeps the words of what is over
PREVIOUSLY = "Previously: "


def owner(workload: Object) -> str:
    """The UID of the JobSet that it is for; "" where it is for something else."""
    metadata = workload["metadata"]
    owners = (each for each in metadata.get("ownerReferences") or () if each.get("kind") == "JobSet")
    named = next((each.get("uid", "") for each in owners), "")
    return str((metadata.get("labels") or {}).get(JOB_UID) or named)


def essence(workload: Object) -> Object:
    """The Workload without its pod templates, which are most of it."""
    spec = {key: value for key, value in (workload.get("spec") or {}).items() if key != "podSets"}
    metadata = {key: value for key, value in workload["metadata"].items() if key != "managedFields"}
    return {"metadata": metadata, "spec": spec, "status": workload.get("status") or {}}


def current(workloads: Iterable[Object]) -> Object | None:
    """The one that counts where a JobSet has several: the newest that is not finished, else the newest."""
    return max(
        workloads,
        key=lambda each: (
            not is_true(each.get("status") or {}, "Finished"),
            str(each["metadata"].get("creationTimestamp", "")),
        ),
        default=None,
    )


def read(workload: Object) -> QueueState:
    """What a Workload says; its place in the queue is not in it."""
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    state, said = _state(spec, status)
    evictions, requeued = (status.get("schedulingStats") or {}).get("evictions"), status.get("requeueState") or {}
    return QueueState(
        state=state,
        reason=said.get("reason", ""),
        message=one_line(said.get("message") or ""),
        refusal=_refusal(status),
        workload=workload["metadata"]["name"],
        local_queue=spec.get("queueName", ""),
        cluster_queue=(status.get("admission") or {}).get("clusterQueue", ""),
        priority=spec.get("priority"),
        evictions=tuple(
            Evictions(each["reason"], each.get("underlyingCause", ""), each.get("count", 0)) for each in evictions or ()
        ),
        last_eviction=_last_eviction(status),
        requeues=requeued.get("count") or 0,
        requeue_at=parse(requeued.get("requeueAt")),
        recovering_since=_recovering_since(status),
    )


def places(summary: Object) -> dict[str, Place]:
    """The places in a local queue by the name of the Workload (visibility.kueue.x-k8s.io PendingWorkloadsSummary)."""
    items = summary.get("items") or ()
    return {
        each["metadata"]["name"]: Place(
            each.get("positionInLocalQueue", 0), each.get("positionInClusterQueue", 0), len(items)
        )
        for each in items
    }


def _state(spec: Object, status: Object) -> tuple[State, Object]:
    """The state and the condition that says so, in a fixed order: old conditions stay beside new ones."""
    if is_true(status, "Finished"):
        return State.FINISHED, condition(status, "Finished")
    evicted, quota = condition(status, "Evicted"), condition(status, "QuotaReserved")
    if spec.get("active") is False:
        held = str(evicted.get("reason", "")).startswith("Deactivated")
        return State.HELD, evicted if held else {"reason": "Deactivated", "message": "The workload is deactivated"}
    reserved = quota.get("status") == "True"
    if evicted.get("status") == "True":
        back = is_true(status, "Requeued") and not reserved
        return (State.REQUEUED, quota) if back else (State.EVICTED, evicted)
    if is_true(status, "Admitted"):
        return State.ADMITTED, condition(status, "Admitted")
    return (State.QUOTA_RESERVED, _checks(status) or quota) if reserved else (State.PENDING, quota)


def _checks(status: Object) -> Object:
    """The admission checks that are not ready, as a condition; {} where there is none."""
    waiting = [each for each in status.get("admissionChecks") or () if each.get("state") != "Ready"]
    told = [": ".join(filter(None, (each["name"], each.get("state"), each.get("message")))) for each in waiting]
    return {"reason": "AdmissionCheck", "message": "; ".join(told)} if told else {}


def _refusal(status: Object) -> str:
    quota = condition(status, "QuotaReserved")
    return one_line(quota.get("message") or "") if quota.get("status") == "False" else ""


def _last_eviction(status: Object) -> Eviction | None:
    told = condition(status, "Evicted")
    if not told:
        return None
    reason = str(told.get("reason", "")) if told.get("status") == "True" else ""
    message = one_line(told.get("message") or "").removeprefix(PREVIOUSLY)
    return Eviction(reason, message)


def _recovering_since(status: Object) -> datetime | None:
    """Since when Kueue's waitForPodsReady counts down to an eviction of what once ran."""
    told = condition(status, "PodsReady")
    waits = told.get("status") == "False" and told.get("reason") == "WaitForRecovery" and is_true(status, "Admitted")
    return parse(told.get("lastTransitionTime")) if waits else None
