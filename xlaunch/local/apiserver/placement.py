"""What the API server refuses in what a pod says about where it may run.

Texts: kubernetes v1.37, pkg/apis/core/validation/validation.go (`ValidateTolerations`, `validateAffinity`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.local.kube import Object
from xlaunch.local.names import label_key, label_value
from xlaunch.local.problems import Problem, duplicate, forbidden, invalid, required, unsupported

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NO_KEY_TEXT = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def check_tolerations(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A pod's tolerations."""
    for index, toleration in enumerate(spec.get("tolerations", [])):
        yield from _check_toleration(toleration, f"{path}.tolerations[{index}]")


def _check_toleration(toleration: Object, path: str) -> Iterator[Problem]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        yield from (invalid(f"{path}.key", key, problem) for problem in label_key(key))
    elif operator != "Exists":
        yield invalid(f"{path}.operator", operator, _NO_KEY_TEXT)
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("", "Equal"):
        if problems := label_value(value):
            yield invalid(f"{path}.operator", value, ";".join(problems))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator not in ("Gt", "Lt"):
        yield unsupported(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect and effect not in _EFFECTS:
        yield unsupported(f"{path}.effect", effect, _EFFECTS)


def check_gates(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A pod's scheduling gates."""
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", [])):
        name = gate.get("name", "")
        yield from (invalid(f"{path}.schedulingGates[{index}]", name, problem) for problem in label_key(name))
        if name in seen:
            yield duplicate(f"{path}.schedulingGates[{index}]", name)
        seen.add(name)


def check_affinity(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """What a pod's affinities require."""
    affinity, place = spec.get("affinity", {}), f"{path}.affinity"
    if (selector := affinity.get("nodeAffinity", {}).get(_REQUIRED)) is not None:
        yield from _check_node_selector(selector, f"{place}.nodeAffinity.{_REQUIRED}")
    for kind in ("podAffinity", "podAntiAffinity"):
        for index, term in enumerate(affinity.get(kind, {}).get(_REQUIRED, [])):
            where, key = f"{place}.{kind}.{_REQUIRED}[{index}].topologyKey", term.get("topologyKey", "")
            if not key:
                yield required(where, "can not be empty")
            yield from (invalid(where, key, problem) for problem in label_key(key))


def _check_node_selector(selector: Object, path: str) -> Iterator[Problem]:
    terms = selector.get("nodeSelectorTerms", [])
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        for place, each in enumerate(term.get("matchExpressions", [])):
            yield from _check_requirement(each, f"{path}.nodeSelectorTerms[{index}].matchExpressions[{place}]")


def _check_requirement(each: Object, path: str) -> Iterator[Problem]:
    operator, values, key = each.get("operator", ""), each.get("values", []), each.get("key", "")
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(f"{path}.values", text)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", key, problem) for problem in label_key(key))
    for index, value in enumerate(values):
        yield from (invalid(f"{path}.values[{index}]", value, problem) for problem in label_value(value))
