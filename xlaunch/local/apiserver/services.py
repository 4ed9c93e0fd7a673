"""What the API server refuses in a Service: kubernetes v1.37, pkg/apis/core/validation/validation.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlaunch.local.apiserver.containers import PORT_RANGE, PROTOCOLS
from xlaunch.local.apiserver.metadata import check_labels
from xlaunch.local.kube import Object, not_implemented
from xlaunch.local.names import dns_label, port_name
from xlaunch.local.problems import Problem, duplicate, invalid, required, unsupported

_AFFINITIES = ("ClientIP", "None")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def check(new: Object) -> Iterator[Problem]:
    """A Service: only headless ones, because nothing here forwards from a cluster IP."""
    spec = new["spec"]
    if spec["type"] not in _TYPES:
        yield unsupported("spec.type", spec["type"], _TYPES)
    elif spec["type"] != "ClusterIP" or spec.get("clusterIP") != "None":
        raise not_implemented("Services other than headless ones (spec.clusterIP: None)")
    yield from _check_ports(spec.get("ports", []))
    yield from check_labels(spec.get("selector", {}), "spec.selector")
    if spec["sessionAffinity"] not in _AFFINITIES:
        yield unsupported("spec.sessionAffinity", spec["sessionAffinity"], _AFFINITIES)


def _check_ports(ports: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        path, name, number = f"spec.ports[{index}]", port.get("name", ""), port.get("port", 0)
        if not name and len(ports) > 1:
            yield required(f"{path}.name")
        elif name:
            yield from (invalid(f"{path}.name", name, problem) for problem in dns_label(name))
            if name in names:
                yield duplicate(f"{path}.name", name)
            names.add(name)
        if not 1 <= number <= 65535:
            yield invalid(f"{path}.port", number, PORT_RANGE)
        if (protocol := port.get("protocol", "TCP")) not in PROTOCOLS:
            yield unsupported(f"{path}.protocol", protocol, PROTOCOLS)
        target = port.get("targetPort", number)
        if isinstance(target, str):
            yield from (invalid(f"{path}.targetPort", target, problem) for problem in port_name(target))
        elif not 1 <= target <= 65535:
            yield invalid(f"{path}.targetPort", target, PORT_RANGE)
