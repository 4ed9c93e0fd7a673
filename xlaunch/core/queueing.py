"""Where a workload is with its queue, and why, in the queue's own words. The queue is Kueue's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from xlaunch.core.counts import ordinal
from xlaunch.core.timestamps import stamp

# Kueue v0.17 pkg/scheduler/flavorassigner/flavorassigner.go: what no wait helps, and what one does
NEVER, LATER = ("> maximum capacity", "unavailable in ClusterQueue"), "insufficient unused quota"
# From Kueue 0.19 on the reason says so too
NEVER_REASON = "ExceedsMaxQuota"
# Kueue v0.17 pkg/controller/core/workload_controller.go Reconcile, pkg/scheduler/scheduler.go nominate
MISSING = re.compile(r"^(Local|Cluster)Queue \S+ (doesn't exist|not found|is terminating or missing)$")
STOPPED = re.compile(r"^(Local|Cluster)Queue \S+ is (inactive|stopped)$")


class State(StrEnum):
    """Where a workload is with its queue.

    NotQueued: this cluster has no Kueue. Unseen: Kueue has made no Workload for it. Pending: it waits for quota.
    QuotaReserved: it has quota and waits for admission checks. Admitted: it may run. Evicted: what it had was taken
    away, and it is not yet back in the queue. Requeued: it is back, and waits again. Held: it is deactivated, and
    nothing admits it until a person reactivates it. Finished: the queue is done with it.
    """

    NOT_QUEUED = "NotQueued"
    UNSEEN = "Unseen"
    PENDING = "Pending"
    QUOTA_RESERVED = "QuotaReserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    REQUEUED = "Requeued"
    HELD = "Held"
    FINISHED = "Finished"

    @property
    def waits(self) -> bool:
        """Whether it has, or will have, a place in the queue."""
        return self in (State.PENDING, State.EVICTED, State.REQUEUED)


@dataclass(frozen=True)
class Place:
    """Its place, from 0 as Kueue counts; `pending` is how many wait in its local queue."""

    in_local_queue: int
    in_cluster_queue: int
    pending: int

    def __str__(self) -> str:
        """As people count: "2nd of 3", and the place among those of all local queues where that is another."""
        told = f"{ordinal(self.in_local_queue + 1)} of {self.pending}"
        if self.in_cluster_queue == self.in_local_queue:
            return told
        return f"{told}, {ordinal(self.in_cluster_queue + 1)} in its ClusterQueue"


@dataclass(frozen=True)
class Evictions:
    """How often it was evicted for a reason."""

    reason: str
    cause: str
    count: int


@dataclass(frozen=True)
class Eviction:
    """The latest eviction; `reason` is "" once the queue has admitted the workload again."""

    reason: str
    message: str

    def __str__(self) -> str:
        """ "Preempted: Preempted to accommodate a workload ..."."""
        return ": ".join(filter(None, (self.reason, self.message)))


@dataclass(frozen=True)
class QueueState:
    """What Kueue says of a workload.

    `reason` and `message` are those of the condition that decides `state`; `refusal` is why it has no quota.
    `requeue_at` is when it comes back into the queue after its `requeues`-th time out. `recovering_since` is since
    when Kueue waits for lost pods, at the end of which it evicts the whole workload.
    """

    state: State
    reason: str = ""
    message: str = ""
    refusal: str = ""
    workload: str = ""  # the name of its object of kind Workload
    local_queue: str = ""
    cluster_queue: str = ""
    priority: int | None = None
    place: Place | None = None
    evictions: tuple[Evictions, ...] = ()
    last_eviction: Eviction | None = None
    requeues: int = 0
    requeue_at: datetime | None = None
    recovering_since: datetime | None = None

    @property
    def times_evicted(self) -> int:
        """How often it was evicted, for whatever reason."""
        return sum(each.count for each in self.evictions) or int(self.last_eviction is not None)

    @property
    def never_fits(self) -> bool:
        """Whether it asks for more than the queue has when it is empty: for one set of pods in every flavor."""
        parts = self.refusal.split("; ")
        stuck = [part for part in parts if any(word in part for word in NEVER) and LATER not in part]
        return self.reason == NEVER_REASON or bool(stuck)

    @property
    def queue_is_missing(self) -> bool:
        """Whether its local queue, or the cluster queue behind it, is not there."""
        return bool(MISSING.match(self.refusal))

    @property
    def queue_is_stopped(self) -> bool:
        """Whether its queue admits nobody now."""
        return bool(STOPPED.match(self.refusal))

    @property
    def given_up(self) -> bool:
        """Whether Kueue has deactivated it, as opposed to a person.

        Reactivated, it is Evicted and stays so: Kueue v0.17.0 pkg/controller/core/workload_controller.go takes back
        what was evicted as Deactivated, but not as DeactivatedDueTo…
        """
        return self.state in (State.HELD, State.EVICTED) and self.reason.startswith("DeactivatedDueTo")


def words(queue: QueueState) -> str:
    """Why "it" does not run yet, with the queue's own words at the end."""
    place = f" ({queue.place})" if queue.place else ""
    where = f"queue {queue.local_queue}{place}" if queue.local_queue else "a queue"
    lead = {
        State.NOT_QUEUED: "it is suspended",
        State.UNSEEN: "Kueue has not taken note of it yet",
        State.PENDING: f"it waits in {where}",
        State.QUOTA_RESERVED: "it has its quota, and waits for the queue's checks",
        State.ADMITTED: "the queue has admitted it",
        State.EVICTED: f"the queue has evicted it ({queue.reason}){_comes_back(queue)}",
        State.REQUEUED: f"it waits in {where} again after an eviction",
        State.HELD: "it is held back",
        State.FINISHED: "the queue is done with it",
    }[queue.state]
    said = queue.message or queue.reason
    return f"{lead}: {said}" if said and queue.state is not State.ADMITTED else lead


def release(queue: QueueState, namespace: str) -> str:
    """The command by which a person puts one that is held back into the queue again."""
    if queue.given_up:
        # Kueue makes another of the same name at once, which may keep kubectl waiting for the old one to go
        return f"kubectl delete workload.kueue.x-k8s.io {queue.workload} -n {namespace} --wait=false"
    patch = """--type=merge -p '{"spec":{"active":true}}'"""
    return f"kubectl patch workload.kueue.x-k8s.io {queue.workload} -n {namespace} {patch}"


def evictions_words(evictions: Sequence[Evictions]) -> str:
    """ "2 x Preempted, 1 x Deactivated (RequeuingLimitExceeded)"."""
    return ", ".join(f"{each.count} x {each.reason}{f' ({each.cause})' if each.cause else ''}" for each in evictions)


def as_data(queue: QueueState | None) -> dict[str, Any] | None:
    """As programs read it; positions count from 0 as in Kueue's API. None where nothing is known."""
    if queue is None:
        return None
    place = queue.place
    return {
        "state": str(queue.state),
        "reason": queue.reason,
        "message": queue.message,
        "workload": queue.workload or None,
        "localQueue": queue.local_queue or None,
        "clusterQueue": queue.cluster_queue or None,
        "priority": queue.priority,
        "positionInLocalQueue": place.in_local_queue if place else None,
        "positionInClusterQueue": place.in_cluster_queue if place else None,
        "pendingInLocalQueue": place.pending if place else None,
        "neverFits": queue.never_fits,
        "evictions": [
            {"reason": each.reason, "underlyingCause": each.cause or None, "count": each.count}
            for each in queue.evictions
        ],
        "requeues": queue.requeues,
        "requeueAt": stamp(queue.requeue_at),
    }


def _comes_back(queue: QueueState) -> str:
    return f", until {queue.requeue_at:%H:%M:%SZ}" if queue.requeue_at else ""
