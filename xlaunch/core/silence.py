"""Pods whose node has fallen silent: since when, and when Kubernetes gives them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import parse, stamp, words

Object = Mapping[str, Any]

UNREACHABLE = "node.kubernetes.io/unreachable"
# kube-controller-manager's --node-eviction-rate of 0.1: one silent node in so many seconds is given the taint by which
# pods are evicted, the first at once
TAINT_EVERY = timedelta(seconds=10)
# More nodes than this are counted
FEW_NODES = 4


def silent_since(pod: Object) -> datetime | None:
    """Since when the pod's node is known not to answer; None where it does, or nobody knows.

    For a silent node the node lifecycle controller makes Ready False and leaves the rest as it was (Kubernetes 1.35
    pkg/controller/util/node/controller_utils.go MarkPodsNotReady). A kubelet would give a reason (generate.go).
    """
    status = pod.get("status") or {}
    ready = condition(status, "Ready")
    marked = ready.get("status") == "False" and not ready.get("reason")
    if not marked or condition(status, "ContainersReady").get("status") != "True":
        return None
    return parse(ready.get("lastTransitionTime"))


def patience(pod: Object) -> float | None:
    """How many seconds the pod stays on a node that has the taint for silence; None for ever.

    Kubernetes 1.35 pkg/controller/tainteviction/taint_eviction.go getMinTolerationTime.
    """
    found = [each for each in (pod.get("spec") or {}).get("tolerations") or () if tolerates_silence(each)]
    if not found:
        return 0.0
    limits = [each["tolerationSeconds"] for each in found if each.get("tolerationSeconds") is not None]
    return float(max(min(limits), 0)) if limits else None


def tolerates_silence(toleration: Object) -> bool:
    """Whether a toleration is about the taint for silence: by its key, or about all."""
    return toleration.get("key") in (UNREACHABLE, None, "") and toleration.get("effect") in ("NoExecute", None, "")


def evictions(pods: Iterable[Object], now: datetime) -> dict[str, datetime | None]:
    """When each pod on a silent node is evicted, by its UID, as if no nodes were silent but those of these pods.

    None where nobody knows: for a pod that tolerates it for ever, and for one that is overdue. Then other nodes stand
    before its own, or nobody is evicted because most nodes of the zone are silent (--unhealthy-zone-threshold).
    """
    silent = [(since, _node(pod), pod) for pod in pods if (since := silent_since(pod))]
    tainted: dict[str, datetime] = {}
    for since, node in sorted({(since, node) for since, node, _ in silent}):
        turn = max(tainted.values()) + TAINT_EVERY if tainted else since
        tainted.setdefault(node, max(since, turn))
    found: dict[str, datetime | None] = {}
    for _, node, pod in silent:
        seconds = patience(pod)
        due = None if seconds is None else tainted[node] + timedelta(seconds=seconds)
        found[podlib.uid(pod)] = due if due and due + TAINT_EVERY > now else None
    return found


def silence_words(pods: Iterable[Object]) -> str:
    """Which of the pods are on nodes that do not answer, since when, and what becomes of them; "" where none is."""
    silent = [pod for pod in pods if silent_since(pod)]
    if not silent:
        return ""
    since = stamp(min(moment for pod in silent if (moment := silent_since(pod))))
    seconds = [patience(pod) for pod in silent]
    never, after = None in seconds, f"after {words(max(each or 0.0 for each in seconds))}"
    nodes = list(dict.fromkeys(map(_node, silent)))
    if len(silent) == 1:
        name = silent[0]["metadata"]["name"]
        it_is = f"pod {name} is on node {nodes[0]}, which has not answered since {since}"
        return f"{it_is}; Kubernetes {'never evicts it' if never else f'evicts it {after}'}"
    named = ", ".join(nodes[:FEW_NODES]) + (f" and {len(nodes) - FEW_NODES} more" if len(nodes) > FEW_NODES else "")
    they_are = f"{len(silent)} pods are on nodes that have not answered since {since} ({named})"
    turns = f", one node every {words(TAINT_EVERY)}" if len(nodes) > 1 else ""
    return f"{they_are}; Kubernetes {'does not evict all of them' if never else f'evicts them {after}{turns}'}"


def _node(pod: Object) -> str:
    return str((pod.get("spec") or {}).get("nodeName", ""))
