"""Kueue's objects as its API server returns them, with conditions in the words of v0.17."""

from fakes.objects import CREATED, condition

QUEUE = {"kueue.x-k8s.io/queue-name": "team"}
SHORT = (
    "couldn't assign flavors to pod set worker: insufficient unused quota for google.com/tpu in flavor tpu, 32 more "
    "needed"
)
TOO_BIG = (
    "couldn't assign flavors to pod set worker: insufficient quota for google.com/tpu in flavor tpu, previously "
    "considered podsets requests (0) + current podset request (96) > maximum capacity (64)"
)


def workload(jobset="train", *, conditions=(), name="", created=CREATED, uid="", active=True, **status):
    """The Workload of a JobSet."""
    metadata = {
        "name": name or f"jobset-{jobset}-c07e7",
        "namespace": "default",
        "uid": f"uid-workload-{jobset}",
        "creationTimestamp": created,
        "labels": {"kueue.x-k8s.io/job-uid": uid or f"uid-{jobset}"},
        "ownerReferences": [{"kind": "JobSet", "name": jobset, "uid": uid or f"uid-{jobset}"}],
    }
    return {
        "metadata": metadata,
        "spec": {"active": active, "queueName": "team", "priority": 0, "podSets": [{"name": "worker"}]},
        "status": {"conditions": list(conditions), **status},
    }


def pending(message=SHORT, reason="Pending"):
    return condition("QuotaReserved", "False", reason, message)


ADMITTED = (
    condition("QuotaReserved", reason="QuotaReserved", message="Quota reserved in ClusterQueue cq"),
    condition("Admitted", reason="Admitted", message="The workload is admitted"),
)


def evicted(reason, message, *, requeued=None, **more):
    """The conditions of a Workload that was evicted; `requeued` is whether it is back in the queue."""
    back = [] if requeued is None else [condition("Requeued", str(requeued), reason, message)]
    return [condition("Evicted", reason=reason, message=message, **more), *back]


def stats(*counts):
    """`schedulingStats` of (reason, underlying cause, count)."""
    made = [{"reason": reason, "underlyingCause": cause, "count": count} for reason, cause, count in counts]
    return {"evictions": made}


def summary(*names):
    """What the visibility API says of a local queue in which those wait."""
    items = [
        {"metadata": {"name": name}, "positionInLocalQueue": place, "positionInClusterQueue": place, "priority": 0}
        for place, name in enumerate(names)
    ]
    return {"kind": "PendingWorkloadsSummary", "metadata": {}, "items": items}
