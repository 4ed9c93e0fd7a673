"""What the API server refuses in a pod's volumes: kubernetes v1.37, pkg/apis/core/validation/validation.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.local.names import dns_label
from xlaunch.local.problems import Problem, duplicate, forbidden, invalid, required

# In the order in which upstream looks at them; a second one is too many
_SOURCES = ("emptyDir", "hostPath", "secret", "persistentVolumeClaim", "downwardAPI", "configMap", "projected")
# What a source must say about itself
_NEEDS = {"hostPath": "path", "secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}


def check_volumes(spec: Mapping[str, Any], path: str) -> tuple[list[Problem], set[str]]:
    """What is wrong with the volumes of a pod's spec, and the names of those with nothing wrong about them."""
    problems: list[Problem] = []
    names: set[str] = set()
    for index, volume in enumerate(spec.get("volumes", [])):
        wrong = list(_check_volume(volume, names, f"{path}.volumes[{index}]"))
        problems += wrong
        if not wrong:
            names.add(volume["name"])
    return problems, names


def _check_volume(volume: Mapping[str, Any], taken: set[str], path: str) -> Iterator[Problem]:
    name, sources = volume.get("name", ""), [key for key in _SOURCES if key in volume]
    for source in sources[:1]:
        needed = _NEEDS.get(source)
        if needed and not volume[source].get(needed):
            yield required(f"{path}.{source}.{needed}")
    for source in sources[1:]:
        yield forbidden(f"{path}.{source}", "may not specify more than 1 volume type")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from (invalid(f"{path}.name", name, problem) for problem in dns_label(name))
    if name in taken:
        yield duplicate(f"{path}.name", name)
