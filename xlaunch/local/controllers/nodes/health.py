"""Judging nodes by their heartbeats (Kubernetes 1.37, pkg/controller/nodelifecycle): pure decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import stamp
from xlaunch.local.kube import Object
from xlaunch.local.objects import status_of, taints_of

MONITOR_SECONDS = 5.0
GRACE_SECONDS = 50.0
STARTUP_GRACE_SECONDS = 60.0
EVICTIONS_PER_SECOND = 0.1
EVICTIONS_PER_SECOND_IN_DISRUPTION = 0.01
LARGE_CLUSTER = 50
UNHEALTHY_SHARE = 0.55
UNREACHABLE, NOT_READY = "node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"
JUDGED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def ready_status(node: Object) -> str:
    """True, False or Unknown; "" where nobody has said yet."""
    return str(condition(status_of(node), "Ready").get("status", ""))


def grace_of(node: Object) -> float:
    """Seconds of cluster time that the node may be silent: longer before its first word."""
    return GRACE_SECONDS if ready_status(node) else STARTUP_GRACE_SECONDS


def unknown_conditions(node: Object, now: datetime) -> list[Object]:
    """The conditions of a node that has fallen silent."""
    present = {entry["type"]: entry for entry in status_of(node).get("conditions") or ()}
    silent = {
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "lastTransitionTime": stamp(now),
    }
    never = {
        "status": "Unknown",
        "reason": "NodeStatusNeverUpdated",
        "message": "Kubelet never posted node status.",
        "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
        "lastTransitionTime": stamp(now),
    }
    conditions: list[Object] = [
        {**entry, **silent} if kind in JUDGED and entry.get("status") != "Unknown" else entry
        for kind, entry in present.items()
    ]
    conditions += [{"type": kind, **never} for kind in JUDGED if kind not in present]
    return conditions


def with_taints(node: Object, now: datetime, *, evict: bool) -> list[Object]:
    """The node's taints as its Ready condition wants them.

    A node that is not ready takes no new pods at once; `evict` adds the NoExecute taint that drives pods away. One
    that had the other NoExecute taint gets the right one without waiting for its turn. A ready node loses all of them.
    """
    taints = taints_of(node)
    kept = [taint for taint in taints if taint["key"] not in (UNREACHABLE, NOT_READY)]
    wanted = {"Unknown": UNREACHABLE, "False": NOT_READY}.get(ready_status(node))
    if wanted is None:
        return kept
    had_no_execute = any(taint["effect"] == "NoExecute" for taint in taints if taint not in kept)
    effects = ["NoSchedule", "NoExecute"] if evict or had_no_execute else ["NoSchedule"]
    for effect in effects:
        known = [taint for taint in taints if (taint["key"], taint["effect"]) == (wanted, effect)]
        kept.append(known[0] if known else {"key": wanted, "effect": effect, "timeAdded": stamp(now)})
    return kept


def is_evicting(node: Object) -> bool:
    """Whether the node has a NoExecute taint for its health."""
    return any(taint["effect"] == "NoExecute" and taint["key"] in (UNREACHABLE, NOT_READY) for taint in taints_of(node))


def evictions_per_second(nodes: Sequence[Object]) -> float:
    """How many nodes per second of cluster time may be drained of their pods.

    One in ten seconds; none when all nodes are unhealthy, and (nearly) none when most are, because then it is more
    likely the network than the machines. All nodes count as one zone.
    """
    unhealthy = sum(ready_status(node) != "True" for node in nodes)
    if unhealthy == len(nodes):
        return 0.0
    if unhealthy > 2 and unhealthy / len(nodes) >= UNHEALTHY_SHARE:
        return EVICTIONS_PER_SECOND_IN_DISRUPTION if len(nodes) > LARGE_CLUSTER else 0.0
    return EVICTIONS_PER_SECOND
