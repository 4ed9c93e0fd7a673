"""Pods whose node does not answer: told from all others by their conditions, and when they are given up."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, on_silent_node, pod

from xlaunch.core.silence import evictions, patience, silence_words, silent_since

PATIENT = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}


def silent(index=0, node="", **more):
    """A worker pod whose node does not answer."""
    return on_silent_node(pod("worker", 1, index), node or f"tpu-1-{index}", **more)


def unready(reason, containers="False"):
    conditions = [condition("Ready", "False", reason), condition("ContainersReady", containers)]
    return {"metadata": {"name": "p"}, "status": {"phase": "Running", "conditions": conditions}}


@pytest.mark.parametrize(
    ("body", "since"),
    [
        (silent(), START),
        (pod("worker", 1), None),
        (pod("worker", 1, ready=False), None),  # nothing is known of its containers
        (unready("ContainersNotReady"), None),
        (unready("ReadinessGatesNotReady", containers="True"), None),
        ({"metadata": {"name": "p"}}, None),
    ],
)
def test_silent_since(body, since):
    assert silent_since(body) == since


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0.0),
        ([{"key": "google.com/tpu", "operator": "Exists"}], 0.0),
        ([{**PATIENT, "key": "node.kubernetes.io/not-ready", "tolerationSeconds": 5}], 0.0),
        ([{**PATIENT, "tolerationSeconds": 30}], 30.0),
        ([{**PATIENT, "tolerationSeconds": 30}, {"operator": "Exists", "tolerationSeconds": 9}], 9.0),
        ([{**PATIENT, "tolerationSeconds": 30}, {"operator": "Exists"}], 30.0),
        ([{**PATIENT, "tolerationSeconds": -1}], 0.0),
        ([PATIENT], None),
        ([{**PATIENT, "effect": "NoSchedule"}], 0.0),
    ],
)
def test_patience(tolerations, seconds):
    assert patience({"spec": {"tolerations": tolerations}}) == seconds


def times(*pods, after=0.0):
    found = evictions(pods, START + timedelta(seconds=after))
    return {uid.split("-")[4]: at and (at - START).total_seconds() for uid, at in found.items()}


def test_nodes_get_their_taint_one_every_ten_seconds():
    assert times(*(silent(index) for index in range(4))) == {"0": 30.0, "1": 40.0, "2": 50.0, "3": 60.0}


def test_a_node_that_falls_silent_later_waits_for_nobody_who_has_gone():
    assert times(silent(0), silent(1, at="2026-11-29T12:01:00Z")) == {"0": 30.0, "1": 90.0}


def test_pods_of_one_node_go_together_and_those_of_others_are_not_there():
    assert times(silent(0), silent(1, node="tpu-1-0"), pod("worker", 1, 2)) == {"0": 30.0, "1": 30.0}
    assert times(pod("worker", 1, 2)) == {}


def test_who_tolerates_silence_for_ever_is_never_evicted():
    assert times(silent(0, seconds=None), silent(1)) == {"0": None, "1": 40.0}


def test_of_an_eviction_that_is_overdue_nobody_knows():
    assert times(silent(0), silent(1), after=39.0) == {"0": 30.0, "1": 40.0}
    assert times(silent(0), silent(1), after=41.0) == {"0": None, "1": 40.0}


def test_a_pod_on_a_silent_node_is_named_with_what_becomes_of_it():
    assert silence_words([pod("worker", 1, 1), silent(2)]) == (
        "pod train-worker-1-2-aaaaa is on node tpu-1-2, which has not answered since 2026-11-29T12:00:00Z; "
        "Kubernetes evicts it after 30s"
    )
    assert silence_words([silent(2, seconds=None)]).endswith("; Kubernetes never evicts it")
    assert silence_words([pod("worker", 1, 1)]) == ""


def test_many_pods_on_silent_nodes_are_one_line():
    later = stamp_after(20)
    pods = [silent(0, at=later), *(silent(index) for index in range(1, 6))]
    assert silence_words(pods) == (
        "6 pods are on nodes that have not answered since 2026-11-29T12:00:00Z (tpu-1-0, tpu-1-1, tpu-1-2, tpu-1-3 and "
        "2 more); Kubernetes evicts them after 30s, one node every 10s"
    )
    forever = silence_words([silent(0), silent(1, seconds=None)])
    assert forever.endswith("(tpu-1-0, tpu-1-1); Kubernetes does not evict all of them")
    assert silence_words([silent(0), silent(1, node="tpu-1-0")]).endswith("(tpu-1-0); Kubernetes evicts them after 30s")


def stamp_after(seconds):
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"
