"""Label selectors, node selectors, tolerations and taints as the scheduler compares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def expression_holds(labels: Mapping[str, str], expression: Mapping[str, Any]) -> bool:
    """One requirement of a label or node selector."""
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or ()
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return _compares(labels.get(key, ""), operator, values)


def _compares(label: str, operator: str, values: Sequence[str]) -> bool:
    """The node selector's Gt and Lt, which hold for integers only."""
    try:
        present, limit = int(label), int(values[0])
    except ValueError:
        return False
    return present > limit if operator == "Gt" else present < limit


def label_selector_holds(labels: Mapping[str, str], selector: Mapping[str, Any] | None) -> bool:
    """A LabelSelector; none selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        expression_holds(labels, expression) for expression in selector.get("matchExpressions") or ()
    )


def node_selector_holds(pod_spec: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """The pod's nodeSelector and its required node affinity."""
    labels: Mapping[str, str] = node["metadata"].get("labels") or {}
    wanted: Mapping[str, str] = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = ((pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if affinity is None:
        return True
    fields = {"metadata.name": node["metadata"]["name"]}
    return any(
        all(expression_holds(labels, each) for each in term.get("matchExpressions") or ())
        and all(expression_holds(fields, each) for each in term.get("matchFields") or ())
        for term in affinity["nodeSelectorTerms"]
        if term.get("matchExpressions") or term.get("matchFields")
    )


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether one toleration covers one taint (k8s.io/api core/v1 toleration.go ToleratesTaint)."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("value", "") == taint.get("value", ""))


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Sequence[Mapping[str, Any]], effects: Sequence[str]
) -> list[Mapping[str, Any]]:
    """The taints of these effects that no toleration covers."""
    return [
        taint
        for taint in taints
        if taint["effect"] in effects and not any(tolerates(toleration, taint) for toleration in tolerations)
    ]
