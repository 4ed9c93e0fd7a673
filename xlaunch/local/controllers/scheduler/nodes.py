"""The nodes and what runs on them, as one scheduling pass sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from xlaunch.local.controllers.scheduler.requests import Amounts, Port, host_ports, number_of, pod_requests
from xlaunch.local.controllers.scheduler.selectors import label_selector_holds
from xlaunch.local.kube import Object
from xlaunch.local.objects import is_terminal, labels_of, node_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass
class NodeInfo:
    """A node with the pods that hold its resources; also those being deleted, until their object is gone."""

    node: Object
    pods: list[Object] = field(default_factory=list)
    requested: Amounts = field(default_factory=dict)
    ports: set[Port] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The node's name."""
        name: str = self.node["metadata"]["name"]
        return name

    def allocatable(self, resource: str) -> Decimal:
        """How much of a resource the node has for pods."""
        amounts = (self.node.get("status") or {}).get("allocatable") or {}
        return number_of(str(amounts.get(resource, "0")))

    def add(self, pod: Object) -> None:
        """Counts the pod as placed here."""
        self.pods.append(pod)
        self.ports |= host_ports(pod["spec"])
        for name, number in pod_requests(pod["spec"]).items():
            self.requested[name] = self.requested.get(name, Decimal(0)) + number


class Nodes:
    """All nodes by name, and what pods' affinities say about their topology domains."""

    def __init__(self, nodes: Iterable[Object], pods: Iterable[Object]) -> None:
        self.by_name = {node["metadata"]["name"]: NodeInfo(node) for node in nodes}
        self._exclusive: list[tuple[Object, Mapping[str, Any], str]] = []
        for pod in pods:
            if node_of(pod) in self.by_name and not is_terminal(pod):
                self.place(pod, self.by_name[node_of(pod)])

    def place(self, pod: Object, info: NodeInfo) -> None:
        """Counts the pod as placed on the node."""
        info.add(pod)
        for term in affinity_terms(pod, "podAntiAffinity"):
            domain = labels_of(info.node).get(term["topologyKey"])
            if domain is not None:
                self._exclusive.append((pod, term, domain))

    def domains(self, pod: Object, term: Mapping[str, Any]) -> set[str]:
        """The topology domains in which a pod runs that the term selects."""
        return {
            domain
            for info in self.by_name.values()
            if (domain := labels_of(info.node).get(term["topologyKey"])) is not None
            and any(_selects(term, pod, other) for other in info.pods)
        }

    def closed_domains(self, pod: Object) -> set[tuple[str, str]]:
        """Topology key and domain from which pods that run already keep this one away."""
        return {(term["topologyKey"], domain) for owner, term, domain in self._exclusive if _selects(term, owner, pod)}


def affinity_terms(pod: Object, kind: str) -> list[Mapping[str, Any]]:
    """The pod's required terms of podAffinity or podAntiAffinity."""
    return ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(REQUIRED) or []


def selects_itself(pod: Object, term: Mapping[str, Any]) -> bool:
    """Whether the pod would satisfy its own term."""
    return _selects(term, pod, pod)


def _selects(term: Mapping[str, Any], owner: Object, other: Object) -> bool:
    """Whether the owner's term means the other pod. A namespaceSelector stands for all namespaces here."""
    if term.get("namespaceSelector") is None:
        namespaces = term.get("namespaces") or [owner["metadata"]["namespace"]]
        if other["metadata"]["namespace"] not in namespaces:
            return False
    return label_selector_holds(labels_of(other), term.get("labelSelector"))
