"""Selectors, tolerations and taints."""

import pytest

from xlaunch.local.controllers.scheduler.selectors import (
    expression_holds,
    label_selector_holds,
    node_selector_holds,
    tolerates,
    untolerated,
)

LABELS = {"a": "1", "b": "x"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("a", "In", ["1", "2"], True),
        ("a", "In", ["2"], False),
        ("c", "In", [""], False),
        ("a", "NotIn", ["2"], True),
        ("c", "NotIn", ["2"], True),
        ("a", "NotIn", ["1"], False),
        ("a", "Exists", None, True),
        ("c", "Exists", None, False),
        ("c", "DoesNotExist", None, True),
        ("a", "DoesNotExist", None, False),
        ("a", "Gt", ["0"], True),
        ("a", "Gt", ["1"], False),
        ("a", "Lt", ["2"], True),
        ("b", "Gt", ["0"], False),
        ("c", "Lt", ["2"], False),
    ],
)
def test_expressions(key, operator, values, holds):
    assert expression_holds(LABELS, {"key": key, "operator": operator, "values": values}) == holds


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "2"}}, False),
        ({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}, False),
    ],
)
def test_label_selectors(selector, holds):
    assert label_selector_holds(LABELS, selector) == holds


def affinity(*terms):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": required}}


IS_A = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}
HAS_C = {"matchExpressions": [{"key": "c", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("spec", "holds"),
    [
        ({}, True),
        ({"nodeSelector": {"a": "1"}}, True),
        ({"nodeSelector": {"a": "2"}}, False),
        (affinity(IS_A), True),
        (affinity(HAS_C), False),
        (affinity(HAS_C, IS_A), True),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}), True),
        (affinity({}), False),
        ({"nodeSelector": {"a": "1"}, **affinity(HAS_C)}, False),
    ],
)
def test_node_selectors(spec, holds):
    assert node_selector_holds(spec, {"metadata": {"name": "n", "labels": LABELS}}) == holds


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "x", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, True),
    ],
)
def test_tolerations(toleration, covers):
    assert tolerates(toleration, TAINT) == covers
    assert untolerated([TAINT], [toleration], ["NoSchedule"]) == ([] if covers else [TAINT])
    assert untolerated([TAINT], [], ["NoExecute"]) == []
