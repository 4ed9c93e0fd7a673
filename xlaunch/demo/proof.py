"""What must be the same before and after the loss of a slice for the recovery to have been one in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlaunch.core.ledger import Ledger
from xlaunch.core.loglines import Event, Kind
from xlaunch.core.recovery import Recovery


@dataclass(frozen=True)
class Snapshot:
    """The head and the counters at one moment, and what the trainer last said of itself."""

    pod: str
    uid: str
    main_restarts: int
    proxy_restarts: int
    jobset_restarts: int
    pid: int | None
    list_id: str
    list_length: int | None


@dataclass(frozen=True)
class Check:
    """One line of the proof."""

    name: str
    before: str
    after: str
    holds: bool


def snapshot(found: Ledger, survivor: Event | None) -> Snapshot:
    """The state of a workload as its ledger, and the trainer's own words (None before it said any), have it."""
    restarts = {each.name: each.restarts for each in found.head.containers} if found.head else {}
    return Snapshot(
        pod=found.head.pod if found.head else "",
        uid=found.head.uid if found.head else "",
        main_restarts=restarts.get(found.workload.main_container, 0),
        proxy_restarts=sum(count for name, count in restarts.items() if "proxy" in name),
        jobset_restarts=found.workload.restarts,
        pid=survivor.pid if survivor else None,
        list_id=survivor.list_id if survivor else "",
        list_length=survivor.length if survivor else None,
    )


def checks(before: Snapshot, after: Snapshot, recovery: Recovery | None) -> tuple[Check, ...]:
    """The proof, line by line."""
    lost = recovery is not None and recovery.cause is Kind.SLICE_DOWN
    return (
        Check("head pod", before.pod, after.pod, bool(before.uid) and before.uid == after.uid),
        Check("trainer PID", _text(before.pid), _text(after.pid), before.pid is not None and before.pid == after.pid),
        Check(
            "trainer's list",
            _list(before),
            _list(after),
            bool(before.list_id) and before.list_id == after.list_id and _grew(before, after),
        ),
        _none("main restarts", before.main_restarts, after.main_restarts),
        _none("proxy restarts", before.proxy_restarts, after.proxy_restarts),
        _none("JobSet restarts", before.jobset_restarts, after.jobset_restarts),
        Check(
            "training",
            _step(recovery.last_step if recovery else None),
            _step(recovery.first_step if recovery else None),
            lost and recovery is not None and recovery.done,
        ),
    )


def holds(proof: Sequence[Check]) -> bool:
    """Whether every line holds."""
    return all(check.holds for check in proof)


def _none(name: str, before: int, after: int) -> Check:
    return Check(name, str(before), str(after), before == after == 0)


def _list(found: Snapshot) -> str:
    return f"{found.list_id}, {found.list_length} attempts".replace("1 attempts", "1 attempt") if found.list_id else ""


def _grew(before: Snapshot, after: Snapshot) -> bool:
    return (after.list_length or 0) > (before.list_length or 0)


def _step(number: int | None) -> str:
    return "" if number is None else f"step {number}"


def _text(value: int | None) -> str:
    return "" if value is None else str(value)
