"""The ledger as the object that programs read (Status in docs/schema.json), and as one line of counters."""

from __future__ import annotations

from typing import Any

from xlaunch.core.counts import counted
from xlaunch.core.ledger import Head, Ledger, Slice
from xlaunch.core.losses import Loss
from xlaunch.core.pods import Container, Exit
from xlaunch.core.queueing import as_data as queueing_data
from xlaunch.core.recreation import used_words
from xlaunch.core.timestamps import stamp


def as_data(ledger: Ledger) -> dict[str, Any]:
    """Fields are only ever added; what is not known is null."""
    workload = ledger.workload
    return {
        "phase": str(workload.phase),
        "reason": workload.reason,
        "message": workload.message,
        "waiting": ledger.waiting or None,
        "queue": workload.queue or None,
        "queueing": queueing_data(workload.queueing),
        "owner": workload.owner or None,
        "created": stamp(workload.created),
        "finished": stamp(workload.finished),
        "jobset": {
            "uid": workload.uid,
            "restarts": workload.restarts,
            "restartsTowardMax": workload.restarts_toward_max,
            "maxRestarts": workload.max_restarts,
            "jobRestarts": workload.job_restarts,
        },
        "head": _head(ledger.head) if ledger.head else None,
        "slices": [_slice(each) for each in ledger.slices],
        "alarms": [{"reason": each.reason, "message": each.message, "next": each.next} for each in ledger.alarms],
    }


def restart_counters(ledger: Ledger) -> str:
    """All counters in one line, slices only where they lost something."""
    workload = ledger.workload
    parts = [f"JobSet {workload.restarts}{used_words(workload)}"]
    parts += [f"{each.name} {_count(each)}" for each in (ledger.head.containers if ledger.head else ())]
    parts += [
        f"slice {each.index}: {_slice_counters(each)}"
        for each in ledger.slices
        if each.lost or each.in_place_restarts or each.job_restarts
    ]
    return f"Restarts: {'; '.join(parts)}"


def _slice_counters(each: Slice) -> str:
    alone = [f"restarted {counted(each.job_restarts, 'time')}"] if each.job_restarts else []
    lost = each.lost or each.in_place_restarts
    counts = [f"{counted(each.lost or 0, 'pod')} lost", f"{each.in_place_restarts or 0} in place"]
    return ", ".join([*alone, *(counts if lost else [])])


def _count(container: Container) -> str:
    why = f" (last: {container.last_exit})" if container.last_exit else ""
    return f"{container.restarts}{why}"


def _head(head: Head) -> dict[str, Any]:
    return {
        "pod": head.pod,
        "uid": head.uid,
        "phase": head.phase,
        "node": head.node or None,
        "waiting": head.waiting or None,
        "containers": [_container(each) for each in head.containers],
    }


def _container(container: Container) -> dict[str, Any]:
    return {
        "name": container.name,
        "sidecar": container.sidecar,
        "state": container.state,
        "reason": container.reason or None,
        "message": container.message or None,
        "ready": container.ready,
        "restartCount": container.restarts,
        "exit": _exit(container.exit),
        "lastExit": _exit(container.exit or container.last_exit),
    }


def _exit(exit: Exit | None) -> dict[str, Any] | None:  # noqa: A002
    if exit is None:
        return None
    return {
        "code": exit.code,
        "signal": exit.signal or None,
        "reason": exit.reason,
        "finished": exit.finished or None,
        "message": exit.message or None,
    }


def _slice(each: Slice) -> dict[str, Any]:
    return {
        "replicatedJob": each.role,
        "index": each.index,
        "hosts": each.hosts,
        "ready": each.ready,
        "missing": each.missing,
        "lost": each.lost,
        "lostSince": stamp(each.lost_since),
        "inPlaceRestarts": each.in_place_restarts,
        "jobRestarts": each.job_restarts,
        "budgetLeft": each.budget_left,
        "nextReplacementSeconds": each.next_replacement_seconds,
        "waiting": each.waiting or None,
        "succeeded": each.succeeded,
        "losses": [_loss(loss) for loss in each.losses],
    }


def _loss(loss: Loss) -> dict[str, Any]:
    return {
        "host": loss.host,
        "pod": loss.pod or None,
        "since": stamp(loss.since),
        "why": loss.why or None,
        "replaced": loss.replaced,
    }
