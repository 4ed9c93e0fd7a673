"""Judging nodes."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.controllers.nodes.eviction import tolerated_seconds
from xlaunch.local.controllers.nodes.health import (
    NOT_READY,
    UNREACHABLE,
    evictions_per_second,
    grace_of,
    is_evicting,
    unknown_conditions,
    with_taints,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def node(ready="True", taints=(), conditions=()):
    ready = [{"type": "Ready", "status": ready, "lastTransitionTime": "then"}] if ready else []
    return {
        "metadata": {"name": "n", "creationTimestamp": "made"},
        "spec": {"taints": list(taints)},
        "status": {"conditions": [*ready, *conditions]},
    }


def taint(key, effect):
    return {"key": key, "effect": effect, "timeAdded": "then"}


TPU = {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("given", "evict", "effects"),
    [
        (node("True"), True, []),
        (node("True", [taint(UNREACHABLE, "NoExecute"), taint(NOT_READY, "NoSchedule")]), False, []),
        (node("Unknown"), False, [(UNREACHABLE, "NoSchedule")]),
        (node("Unknown"), True, [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]),
        (node("False"), True, [(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]),
        (
            node("Unknown", [taint(NOT_READY, "NoExecute")]),
            False,
            [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")],
        ),
        (node("Unknown", [taint(NOT_READY, "NoSchedule")]), False, [(UNREACHABLE, "NoSchedule")]),
    ],
)
def test_the_taints_of_a_condition(given, evict, effects):
    given["spec"]["taints"].insert(0, TPU)
    taints = with_taints(given, NOW, evict=evict)
    assert taints[0] == TPU
    assert [(each["key"], each["effect"]) for each in taints[1:]] == effects


def test_a_taint_keeps_its_time():
    given = node("Unknown", [taint(UNREACHABLE, "NoExecute")])
    times = {each["effect"]: each["timeAdded"] for each in with_taints(given, NOW, evict=False)}
    assert times == {"NoSchedule": "2026-11-29T12:00:00Z", "NoExecute": "then"}
    assert is_evicting(given)
    assert not is_evicting(node("Unknown", [taint(UNREACHABLE, "NoSchedule")]))


@pytest.mark.parametrize(
    ("ready", "unhealthy", "rate"),
    [(10, 0, 0.1), (10, 1, 0.1), (2, 2, 0.1), (3, 3, 0.1), (2, 3, 0.0), (0, 3, 0.0), (20, 40, 0.01), (1, 0, 0.1)],
)
def test_how_fast_nodes_are_drained(ready, unhealthy, rate):
    assert evictions_per_second([node()] * ready + [node("Unknown")] * unhealthy) == rate


def test_a_silent_node_is_unknown_in_everything_its_kubelet_says():
    given = node(conditions=[{"type": "DiskPressure", "status": "False"}, {"type": "Mine", "status": "True"}])
    after = {each["type"]: each for each in unknown_conditions(given, NOW)}
    assert (after["Ready"]["status"], after["Ready"]["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert after["Ready"]["lastTransitionTime"] == "2026-11-29T12:00:00Z"
    assert after["DiskPressure"]["message"] == "Kubelet stopped posting node status."
    assert after["PIDPressure"]["reason"] == "NodeStatusNeverUpdated"
    assert after["Mine"] == {"type": "Mine", "status": "True"}


def test_a_node_may_be_silent_for_longer_before_its_first_word():
    assert (grace_of(node()), grace_of(node(ready=""))) == (50, 60)


NO_EXECUTE = [{"key": UNREACHABLE, "effect": "NoExecute"}]


def toleration(seconds=None, key=UNREACHABLE):
    limit = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": key, "operator": "Exists", "effect": "NoExecute", **limit}


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0),
        ([toleration(300, NOT_READY)], 0),
        ([toleration(30)], 30),
        ([toleration(300), toleration(30)], 30),
        ([toleration()], None),
        ([toleration(), toleration(30)], 30),
        ([toleration(-5)], 0),
        ([{"operator": "Exists"}], None),
    ],
)
def test_how_long_a_taint_is_tolerated(tolerations, seconds):
    assert tolerated_seconds(tolerations, NO_EXECUTE) == seconds
