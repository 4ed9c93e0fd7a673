"""The TPU families that GKE offers for Pathways, and the slice sizes whose topology no rule gives.

From xpk 1.16 `core/system_characteristics.py` (2,020 names); tests compare every one. Imported only when a type is
looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Topology = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Family:
    """One generation of TPU.

    `cores_per_chip` turns the number of a name into chips (v5p-8 = 4 chips). `topologies` are listed where there are
    few; else `cubes` bounds a 3D torus to that many 4x4x4 cubes. `rotated`: every order of the sides is a topology of
    its own. `long_first`: a number means the longest torus of that many chips, otherwise the most cubic one.
    `exceptions` maps a number to its topology where that rule is not true.
    """

    name: str
    cores_per_chip: int
    accelerator: str
    machine: str
    pathways: str
    single_chip_machine: str = ""
    topologies: tuple[Topology, ...] = ()
    cubes: int = 0
    rotated: bool = False
    long_first: bool = False
    placement_policy: bool = False
    exceptions: dict[int, Topology] = field(default_factory=dict)


# Sides with a factor 4 x 8 x n that xpk enumerates before the more cubic ones
_FLAT_TORI: dict[int, Topology] = {
    12544: (4, 8, 196),
    12672: (4, 12, 132),
    12800: (4, 8, 200),
    13056: (4, 8, 204),
    13312: (4, 8, 208),
    13440: (4, 12, 140),
    14080: (4, 8, 220),
    14336: (4, 8, 224),
    14592: (4, 8, 228),
    14848: (4, 8, 232),
    14976: (4, 12, 156),
    15360: (4, 8, 240),
    15872: (4, 8, 248),
    16000: (4, 20, 100),
    16128: (4, 8, 252),
    16640: (4, 20, 104),
    16896: (4, 12, 176),
    17280: (4, 12, 180),
    17408: (4, 16, 136),
    17664: (4, 12, 184),
}

FAMILIES = {
    family.name: family
    for family in (
        Family(
            "v4",
            2,
            "tpu-v4-podslice",
            "ct4p-hightpu-4t",
            "tpuv4",
            cubes=64,
            rotated=True,
            long_first=True,
            exceptions={
                512: (4, 8, 8),
                1024: (8, 8, 8),
                1536: (8, 8, 12),
                2048: (8, 8, 16),
                4096: (8, 16, 16),
            },
        ),
        Family(
            "v5p",
            2,
            "tpu-v5p-slice",
            "ct5p-hightpu-4t",
            "tpuv5",
            cubes=140,
            exceptions={**_FLAT_TORI, 16384: (4, 8, 256)},
        ),
        Family(
            "v5litepod",
            1,
            "tpu-v5-lite-podslice",
            "ct5lp-hightpu-4t",
            "tpuv5e",
            topologies=((2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16)),
        ),
        Family(
            "v6e",
            1,
            "tpu-v6e-slice",
            "ct6e-standard-4t",
            "tpuv6e",
            single_chip_machine="ct6e-standard-1t",
            topologies=((1, 1), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16)),
        ),
        Family(
            "tpu7x",
            2,
            "tpu7x",
            "tpu7x-standard-4t",
            "tpu7x",
            single_chip_machine="tpu7x-standard-1t",
            cubes=144,
            placement_policy=True,
            exceptions=_FLAT_TORI,
        ),
        Family(
            "tpu7",
            2,
            "tpu7",
            "tpu7-standard-4t",
            "tpu7",
            single_chip_machine="tpu7-standard-1t",
            cubes=4,
            placement_policy=True,
        ),
    )
}
