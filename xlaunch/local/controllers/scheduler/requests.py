"""What a pod asks of a node: amounts of resources, and host ports."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from xlaunch.core.quantity import amount
from xlaunch.local.objects import containers_of

Amounts = dict[str, Decimal]
Port = tuple[str, str, int]
"""Protocol, host address, port."""
ANY_ADDRESS = "0.0.0.0"


@lru_cache(maxsize=4096)
def number_of(text: str) -> Decimal:
    """The number that a quantity stands for; the API server lets no malformed one through."""
    return amount(text) or Decimal(0)


def pod_requests(spec: Mapping[str, Any]) -> Amounts:
    """The pod's requests: its containers and sidecars together, or the largest moment of its initialisation.

    Kubernetes 1.37, component-helpers/resource/helpers.go PodRequests: a sidecar counts from its start on.
    """
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, container)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            _add(total, container)
            _add(sidecars, container)
            _raise(peak, sidecars)
        else:
            moment = dict(sidecars)
            _add(moment, container)
            _raise(peak, moment)
    _raise(total, peak)
    _add_amounts(total, {name: number_of(str(text)) for name, text in (spec.get("overhead") or {}).items()})
    return total


def host_ports(spec: Mapping[str, Any]) -> set[Port]:
    """The ports of the node that the pod takes for itself."""
    return {
        (port.get("protocol", "TCP"), port.get("hostIP") or ANY_ADDRESS, port["hostPort"])
        for container in containers_of(spec)
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def ports_collide(wanted: set[Port], taken: set[Port]) -> bool:
    """Whether two pods cannot share a node for a port's sake."""
    return any(
        protocol == other and port == number and (address == place or ANY_ADDRESS in (address, place))
        for protocol, address, port in wanted
        for other, place, number in taken
    )


def _add(total: Amounts, container: Mapping[str, Any]) -> None:
    requests = (container.get("resources") or {}).get("requests") or {}
    _add_amounts(total, {name: number_of(str(text)) for name, text in requests.items()})


def _add_amounts(total: Amounts, more: Amounts) -> None:
    for name, number in more.items():
        total[name] = total.get(name, Decimal(0)) + number


def _raise(total: Amounts, least: Amounts) -> None:
    for name, number in least.items():
        total[name] = max(total.get(name, Decimal(0)), number)
