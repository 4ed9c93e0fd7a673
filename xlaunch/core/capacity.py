"""Kinds of capacity on GKE: the node labels and taints of Spot, flex-start and reserved machines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xlaunch.core.errors import UsageError

SPOT = "cloud.google.com/gke-spot"
FLEX_START = "cloud.google.com/gke-flex-start"
QUEUED = "cloud.google.com/gke-queued"
RESERVATION_NAME = "cloud.google.com/reservation-name"
RESERVATION_PROJECT = "cloud.google.com/reservation-project"

# A plain string: compiled only where there is a reservation
_RESERVATION = r"(?:projects/(?P<project>[a-z][-a-z0-9]{4,28}[a-z0-9])/reservations/)?(?P<name>[a-z][-a-z0-9]{0,62})"


@dataclass(frozen=True)
class Capacity:
    """What worker pods ask of their nodes: labels to select, taints to tolerate."""

    selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()


def capacity(*, on_demand: bool = False, spot: bool = False, flex: bool = False, reservation: str = "") -> Capacity:
    """The capacity that the flags of that name ask for; without any of them nothing is asked.

    Spot: label and recommended taint `cloud.google.com/gke-spot=true:NoSchedule`
    (https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms#scheduling-workloads).
    Flex-start: label `cloud.google.com/gke-flex-start=true`; pools with queued provisioning carry the taint
    `cloud.google.com/gke-queued` (https://cloud.google.com/kubernetes-engine/docs/how-to/dws-flex-start-training-tpu,
    https://cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest).
    Reservation: `cloud.google.com/reservation-name`, and `-project` for one that is shared by another project
    (https://cloud.google.com/kubernetes-engine/docs/how-to/consuming-reservations).
    On demand: neither Spot nor flex-start is tolerated anyway, so nothing is added.
    """
    chosen = [
        flag
        for flag, given in (
            ("--on-demand", on_demand),
            ("--spot", spot),
            ("--flex", flex),
            ("--reservation", bool(reservation)),
        )
        if given
    ]
    if len(chosen) > 1:
        raise UsageError(
            f"{' and '.join(chosen)} contradict each other", why="A slice has one kind of capacity", next="Keep one"
        )
    if spot:
        return Capacity({SPOT: "true"}, (_tolerated(SPOT),))
    if flex:
        return Capacity({FLEX_START: "true"}, (_tolerated(FLEX_START), _tolerated(QUEUED)))
    if reservation:
        return _reserved(reservation)
    return Capacity()


def _reserved(reservation: str) -> Capacity:
    found = re.fullmatch(_RESERVATION, reservation)
    if not found:
        raise UsageError(
            f"--reservation {reservation} is not the name of a reservation",
            why="It is a name, or projects/PROJECT/reservations/NAME for one that another project shares",
            next="gcloud compute reservations list",
        )
    project = {RESERVATION_PROJECT: found["project"]} if found["project"] else {}
    return Capacity({RESERVATION_NAME: found["name"], **project})


def _tolerated(key: str) -> dict[str, str]:
    return {"key": key, "operator": "Equal", "value": "true", "effect": "NoSchedule"}
