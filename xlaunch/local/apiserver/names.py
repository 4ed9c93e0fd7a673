"""Names of objects: what is refused, and what generateName makes."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.names import dns_label, subdomain
from xlaunch.local.problems import Problem, invalid, required

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery, pkg/util/rand: no vowels, no look-alikes
_NAME_RULES = {"namespaces": dns_label, "services": dns_label}


def generated(prefix: str, random: Random) -> str:
    """A name from `generateName`: the prefix, cut to 58 characters, and five random ones."""
    return prefix[:58] + "".join(random.choices(_SUFFIX, k=5))


def check_name(resource: Resource, name: str) -> Iterator[Problem]:
    """The rule for the names of one resource."""
    if not name:
        yield required("metadata.name", "name or generateName is required")
        return
    for problem in _NAME_RULES.get(resource.plural, subdomain)(name):
        yield invalid("metadata.name", name, problem)
