"""TPU types: what a name like v5litepod-16 or v5p-4x4x8 means in hosts, chips and GKE's labels.

A name ends in a topology, or in a number of cores whose topology is the family's rule (tpu_families.py).
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlaunch.core.errors import UsageError

if TYPE_CHECKING:
    from xlaunch.core.tpu_families import Family, Topology

LONGEST_SIDE = 256
SMALL_TORI: tuple[Topology, ...] = ((2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4))
# GKE's and Cloud's other spellings of one family
ALIASES = {"v5e": "v5litepod"}


@dataclass(frozen=True)
class TpuType:
    """One slice: `hosts` machines of `chips_per_host` chips. `accelerator` and `topology` are GKE's node labels.

    `pathways_instance` is what the resource manager takes as `--instance_type`. `placement_policy` is the name of the
    workload policy that GKE needs for several hosts of a tpu7 family, "" elsewhere.
    """

    name: str
    family: str
    accelerator: str
    topology: str
    hosts: int
    chips_per_host: int
    machine_type: str
    pathways_instance: str
    placement_policy: str = ""

    @property
    def chips(self) -> int:
        """The chips of one slice."""
        return self.hosts * self.chips_per_host


def lookup(name: str, machine_type: str | None = None) -> TpuType:
    """The type of that name, on `machine_type` where a cluster differs from GKE's default for it.

    Raises UsageError for a name that does not exist, naming the nearest ones, and for a machine that it can't have.
    """
    from xlaunch.core.tpu_families import FAMILIES

    prefix, _, size = name.lower().partition("-")
    family = FAMILIES.get(ALIASES.get(prefix, prefix))
    if family is None:
        raise UsageError(
            f"{name} is not a TPU type",
            why=f"The families are {', '.join(FAMILIES)} (v5e means v5litepod)",
            next="Give one like v5litepod-16 or v5p-4x4x8 to --tpu-type",
        )
    topology = _topology(family, size)
    if topology is None:
        near = ", ".join(_nearest(family, size))
        raise UsageError(
            f"{name} is not a TPU type", why=f"The nearest ones are {near}", next="Give one of them to --tpu-type"
        )
    return _made(family, size, topology, machine_type)


def names(family: Family) -> dict[str, Topology]:
    """Every name of a family with its topology: by number of cores and by topology."""
    every = _topologies(family)
    return _numbers(family) | {f"{family.name}-{_text(topology)}": topology for topology in every}


def _made(family: Family, size: str, topology: Topology, machine_type: str | None) -> TpuType:
    chips = math.prod(topology)
    machine = machine_type or (family.single_chip_machine if chips == 1 else "") or family.machine
    per_host = _chips_per_host(family, chips, machine)
    hosts = chips // per_host
    # pathwaysutils experimental/gke/jobset.py MACHINE_TYPE_TO_TPU_VERSION_MAP: machines of 8 chips are "...1t"
    version = f"{family.pathways}1t" if per_host == 8 else family.pathways
    policy = f"{family.name}-{chips * family.cores_per_chip}-{_text(topology)}-placement-policy"
    return TpuType(
        name=f"{family.name}-{size}",
        family=family.name,
        accelerator=family.accelerator,
        topology=_text(topology),
        hosts=hosts,
        chips_per_host=per_host,
        machine_type=machine,
        pathways_instance=f"{version}:{_text(topology)}",
        placement_policy=policy if family.placement_policy and hosts > 1 else "",
    )


def _chips_per_host(family: Family, chips: int, machine: str) -> int:
    """The chips of one machine: GKE's names end in their number. Machines of 1 and 8 chips are whole slices."""
    series = family.machine.rpartition("-")[0]
    found = re.fullmatch(re.escape(series) + r"-([1248])t", machine)
    per_host = int(found[1]) if found else 0
    whole = per_host in (1, 8)
    if not per_host or chips % per_host or (whole and chips != per_host):
        raise UsageError(
            f"A slice of {chips} chips of {family.name} can't be made of {machine}",
            why=f"Its machines are called {series}-Nt with N chips; those of 1 and 8 chips are a slice by themselves",
            next="Leave --machine-type away for GKE's default",
        )
    return per_host


def _topology(family: Family, size: str) -> Topology | None:
    if re.fullmatch(r"[1-9][0-9]{0,5}", size):
        return _numbers(family).get(f"{family.name}-{size}")
    if re.fullmatch(r"[1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){1,2}", size):
        topology = tuple(int(side) for side in size.split("x"))
        return topology if topology in _topologies(family) else None
    return None


def _topologies(family: Family) -> list[Topology]:
    """All topologies of a family: its list, or small tori and every torus whose sides are multiples of 4."""
    if not family.cubes:
        return list(family.topologies)
    found: list[Topology] = [(1, 1, 1)] if family.single_chip_machine else []
    found += SMALL_TORI
    limit = family.cubes * 4**3
    for a in range(4, LONGEST_SIDE + 1, 4):
        for b in range(a, LONGEST_SIDE + 1, 4):
            if a * b * b > limit:
                break
            for c in range(b, min(LONGEST_SIDE, limit // (a * b)) + 1, 4):
                sides = (a, b, c)
                found += sorted(set(itertools.permutations(sides))) if family.rotated else [sides]
    return found


def _numbers(family: Family) -> dict[str, Topology]:
    """The topology that each number of cores means."""
    by_number: dict[int, Topology] = {}
    for topology in _topologies(family):
        if list(topology) != sorted(topology) and topology not in SMALL_TORI:
            continue
        number = math.prod(topology) * family.cores_per_chip
        best = by_number.setdefault(number, topology)
        if not family.long_first and sum(topology) < sum(best):
            by_number[number] = topology
    return {f"{family.name}-{number}": topology for number, topology in (by_number | family.exceptions).items()}


def _nearest(family: Family, size: str, count: int = 4) -> list[str]:
    """The names whose slices are nearest in chips; for a topology those that are written as one."""
    sides = [int(side[:9]) for side in re.findall(r"\d+", size)] or [1]
    as_topology = len(sides) > 1
    wanted = math.prod(sides) if as_topology else sides[0] / family.cores_per_chip
    candidates = {
        name: topology for name, topology in names(family).items() if ("x" in name.partition("-")[2]) == as_topology
    }
    by_distance = sorted(candidates, key=lambda name: (abs(math.prod(candidates[name]) - wanted), name))
    return by_distance[:count]


def _text(topology: Topology) -> str:
    return "x".join(str(side) for side in topology)
