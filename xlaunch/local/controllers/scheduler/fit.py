"""Which node a pod goes to, or the sentence that says why it waits (kube-scheduler 1.37, framework/plugins)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.local.controllers.scheduler.nodes import NodeInfo, Nodes, affinity_terms, selects_itself
from xlaunch.local.controllers.scheduler.requests import Amounts, Port, host_ports, pod_requests, ports_collide
from xlaunch.local.controllers.scheduler.selectors import node_selector_holds, untolerated
from xlaunch.local.kube import Object
from xlaunch.local.objects import labels_of, taints_of

UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
KEEPS_PODS_AWAY = ("NoSchedule", "NoExecute")
NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True)
class Reasons:
    """Why a node will not do. `solvable`: the departure of other pods could change that."""

    texts: tuple[str, ...]
    solvable: bool


@dataclass(frozen=True)
class Demand:
    """What a pod asks for, worked out once for all nodes.

    `together` pairs a topology key with the domains that hold the pods it wants to be with; None: it may be the first.
    """

    pod: Object
    requests: Amounts
    ports: set[Port]
    together: tuple[tuple[str, set[str] | None], ...]
    apart: tuple[tuple[str, set[str]], ...]
    closed: set[tuple[str, str]]

    @property
    def spec(self) -> Mapping[str, Any]:
        """The pod's spec."""
        spec: Mapping[str, Any] = self.pod["spec"]
        return spec


def choose(pod: Object, nodes: Nodes) -> NodeInfo | str:
    """The node for the pod, or kube-scheduler's message for none. Of nodes that will do, the emptiest by name."""
    demand = _demand(pod, nodes)
    refused: list[Reasons] = []
    for info in sorted(nodes.by_name.values(), key=lambda info: (len(info.pods), len(info.name), info.name)):
        reasons = _reasons(demand, info)
        if reasons is None:
            return info
        refused.append(reasons)
    return _message(refused)


def _demand(pod: Object, nodes: Nodes) -> Demand:
    together = []
    terms = affinity_terms(pod, "podAffinity")
    found = [nodes.domains(pod, term) for term in terms]
    # A pod that waits for its like may be the first, where nothing in the cluster is like it yet
    first = not any(found) and all(selects_itself(pod, term) for term in terms)
    for term, domains in zip(terms, found, strict=True):
        together.append((term["topologyKey"], None if first else domains))
    apart = [(term["topologyKey"], nodes.domains(pod, term)) for term in affinity_terms(pod, "podAntiAffinity")]
    return Demand(
        pod,
        pod_requests(pod["spec"]),
        host_ports(pod["spec"]),
        tuple(together),
        tuple(apart),
        nodes.closed_domains(pod),
    )


def _reasons(demand: Demand, info: NodeInfo) -> Reasons | None:
    """The first filter's objection, in the order in which kube-scheduler runs its filters."""
    for check in CHECKS:
        reasons = check(demand, info)
        if reasons is not None:
            return reasons
    return None


def _cordoned(demand: Demand, info: NodeInfo) -> Reasons | None:
    if not (info.node.get("spec") or {}).get("unschedulable"):
        return None
    if not untolerated([UNSCHEDULABLE_TAINT], demand.spec.get("tolerations") or (), KEEPS_PODS_AWAY):
        return None
    return Reasons(("node(s) were unschedulable",), solvable=False)


def _tainted(demand: Demand, info: NodeInfo) -> Reasons | None:
    if not untolerated(taints_of(info.node), demand.spec.get("tolerations") or (), KEEPS_PODS_AWAY):
        return None
    return Reasons(("node(s) had untolerated taint(s)",), solvable=False)


def _not_selected(demand: Demand, info: NodeInfo) -> Reasons | None:
    if node_selector_holds(demand.spec, info.node):
        return None
    return Reasons(("node(s) didn't match Pod's node affinity/selector",), solvable=False)


def _ports_taken(demand: Demand, info: NodeInfo) -> Reasons | None:
    if not ports_collide(demand.ports, info.ports):
        return None
    return Reasons(("node(s) didn't have free ports for the requested pod ports",), solvable=True)


def _too_small(demand: Demand, info: NodeInfo) -> Reasons | None:
    texts = []
    if len(info.pods) + 1 > info.allocatable("pods"):
        texts.append("Too many pods")
    for name, wanted in demand.requests.items():
        if wanted and wanted > info.allocatable(name) - info.requested.get(name, 0):
            texts.append(f"Insufficient {name}")
    return Reasons(tuple(texts), solvable=True) if texts else None


def _wrong_domain(demand: Demand, info: NodeInfo) -> Reasons | None:
    labels = labels_of(info.node)
    for key, domains in demand.together:
        if key not in labels or (domains is not None and labels[key] not in domains):
            return Reasons(("node(s) didn't match pod affinity rules",), solvable=False)
    if any(labels.get(key) in domains for key, domains in demand.apart):
        return Reasons(("node(s) didn't match pod anti-affinity rules",), solvable=True)
    if any(labels.get(key) == domain for key, domain in demand.closed):
        return Reasons(("node(s) didn't satisfy existing pods anti-affinity rules",), solvable=True)
    return None


CHECKS: tuple[Callable[[Demand, NodeInfo], Reasons | None], ...] = (
    _cordoned,
    _tainted,
    _not_selected,
    _ports_taken,
    _too_small,
    _wrong_domain,
)


def _message(refused: list[Reasons]) -> str:
    """FitError's text (framework/types.go), with what preemption adds; pods are never preempted here."""
    if not refused:
        return NO_NODES
    why = _histogram(text for reasons in refused for text in reasons.texts)
    hopeless = "Preemption is not helpful for scheduling"
    helped = "No preemption victims found for incoming pod"
    preemption = _histogram(helped if reasons.solvable else hopeless for reasons in refused)
    head = f"0/{len(refused)} nodes are available"
    return f"{head}: {why}. preemption: {head}: {preemption}."


def _histogram(texts: Iterable[str]) -> str:
    return ", ".join(sorted(f"{count} {text}" for text, count in Counter(texts).items()))
