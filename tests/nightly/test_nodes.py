"""Machines die and nothing is scaled down: how long Kubernetes takes with its default times, as verified on it before.

The figures are printed, in seconds since the loss.
"""

import itertools
import time

import pytest
from following import counting
from looking import conditions
from losing import LOAD, ends, followed, hosts, row, whole
from outages import (
    PodHistory,
    disrupted,
    is_deleting,
    lost,
    made,
    nodes_of,
    restore,
    seconds,
    short_of_hosts,
    tainted,
    told_to_go,
)
from worlds import until

from testbed.control_plane import ControlPlane
from xlaunch.core.pods import is_ready

pytestmark = [pytest.mark.real, pytest.mark.nightly, pytest.mark.long]

# Seconds for which nothing changes as long as nobody helps
UNCHANGED = 20


def silence(cluster, pod):
    """When the pod's node was noticed to be silent."""
    told = cluster.get("pod", pod)["status"]["conditions"]
    return next(seconds(each["lastTransitionTime"]) for each in told if each["type"] == "Ready")


def collected(history, pod):
    """Whether PodGC has given a pod up, by the last version that the watch has told."""
    last = history.of(pod)[-1]["status"]
    return last["phase"] == "Failed" and "DeletionByPodGC" in {each.get("reason") for each in last["conditions"]}


def noted(began, **moments):
    """The moments in seconds since the loss, printed."""
    since = {what: moment - began for what, moment in moments.items()}
    print(", ".join(f"{what} +{passed:.1f}" for what, passed in since.items()))
    return since


@pytest.mark.verified("2.6", "7.1", "7.2")
def test_a_workers_machine_and_the_heads(cluster):
    """The worker tolerates it for 30 s, the head for Kubernetes' 300."""
    counting(cluster, "defaults")
    following = followed(cluster, "defaults")
    worker = hosts(cluster, "defaults", 0)[2]["metadata"]["name"]
    head = cluster.pod("defaults-pathways-head")
    nodes = [cluster.get("pod", pod)["spec"]["nodeName"] for pod in (worker, head)]
    began = time.time()
    with lost(cluster, *nodes):
        until(lambda: short_of_hosts(cluster, "defaults"), "the silence to show", timeout=80)
        until(lambda: is_deleting(cluster, worker), "the worker's eviction", timeout=80)
        assert disrupted(cluster, worker)[0] == "DeletionByTaintManager"
        until(lambda: row(cluster, "defaults", 0)["lost"] == 1, "the loss to be counted")
        new = until(lambda: hosts(cluster, "defaults", 0).get(2), "the replacement")
        old = cluster.get("pod", worker)
        taint = tainted(cluster.get("node", nodes[0]))
        moments = {"silent": silence(cluster, worker), "tainted": taint, "evicted": told_to_go(old)}
        since = noted(began, **moments, replaced=made(new))
        assert 39 <= since["silent"] <= 56 + LOAD
        assert since["tainted"] - since["silent"] <= 11 + LOAD  # the other node may have had its turn before
        assert 29 <= since["evicted"] - since["tainted"] <= 31 + LOAD
        assert since["replaced"] - since["evicted"] <= LOAD

        until(lambda: is_deleting(cluster, head), "the head's eviction", timeout=330)
        taint = tainted(cluster.get("node", nodes[1]))
        since = noted(began, tainted=taint, evicted=told_to_go(cluster.get("pod", head)))
        assert 299 <= since["evicted"] - since["tainted"] <= 301 + LOAD
        until(lambda: cluster.look("status", "defaults")["alarms"], "the alarm")
        assert cluster.look("status", "defaults")["jobset"]["restarts"] == 0
    following.grows(2)  # the node is back, and so the pod's object goes
    until(lambda: cluster.look("status", "defaults")["jobset"]["restarts"] == 1, "the restart")
    ends(cluster, "defaults", following)


@pytest.mark.verified("0.D", "7.4")
def test_four_machines_of_one_pool(cluster):
    counting(cluster, "rack")
    following = followed(cluster, "rack")
    nodes = nodes_of(cluster, "rack", 0)
    pods = [hosts(cluster, "rack", 0)[host]["metadata"]["name"] for host in range(4)]
    began = time.time()
    with lost(cluster, *nodes):
        until(lambda: row(cluster, "rack", 0)["lost"] == 4, "the last eviction", timeout=180)
        silent = [silence(cluster, pod) for pod in pods]
        taints = sorted(tainted(cluster.get("node", node)) for node in nodes)
        gone = sorted(told_to_go(cluster.get("pod", pod)) for pod in pods)
        named = {f"tainted {n}": moment for n, moment in enumerate(taints)}
        since = noted(began, silent=max(silent), **named, **{f"evicted {n}": moment for n, moment in enumerate(gone)})
        assert 39 <= since["silent"] <= 56 + LOAD
        assert all(8 <= after - before <= 12 + LOAD for before, after in itertools.pairwise(taints))
        assert all(29 <= end - taint <= 31 + LOAD for taint, end in zip(taints, gone, strict=True))
        assert row(cluster, "rack", 0)["ready"] == 0
    until(lambda: whole(cluster, "rack", 0), "the slice to be whole", timeout=120)
    assert row(cluster, "rack", 0)["lost"] == 4
    ends(cluster, "rack", following)


@pytest.mark.verified("7.3")
def test_a_node_object_is_deleted(cluster):
    counting(cluster, "collected")
    following = followed(cluster, "collected")
    pod = hosts(cluster, "collected", 0)[2]
    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
    with PodHistory(cluster) as history:
        began = time.time()
        cluster.kubectl("delete", "node", node)
        until(lambda: row(cluster, "collected", 0)["lost"] == 1, "the loss", timeout=90)
        seen = time.time()
        new = until(lambda: hosts(cluster, "collected", 0).get(2), "the replacement", timeout=60)
        since = noted(began, seen=seen, replaced=made(new))
        assert 39 <= since["seen"] <= 61 + LOAD
        assert 49 <= since["replaced"] <= 71 + LOAD  # after the wait of 10 s
        until(lambda: collected(history, name), "the watch to tell why")
    restore(cluster, [node])
    until(lambda: whole(cluster, "collected", 0), "the slice to be whole")
    ends(cluster, "collected", following)


@pytest.mark.verified("6.7")
def test_the_node_object_of_the_heads_dead_machine_is_deleted(cluster):
    """What a cloud does to a machine that is gone, where nobody has obeyed the alarm."""
    counting(cluster, "orphaned")
    following = followed(cluster, "orphaned")
    head = cluster.pod("orphaned-pathways-head")
    node = cluster.get("pod", head)["spec"]["nodeName"]
    with PodHistory(cluster) as history, lost(cluster, node):
        until(lambda: not is_ready(cluster.get("pod", head)), "the silence to show", timeout=90)
        began = time.time()
        cluster.kubectl("delete", "node", node)
        until(lambda: cluster.look("status", "orphaned")["jobset"]["restarts"] == 1, "the restart", timeout=120)
        since = noted(began, restarted=time.time())
        assert 39 <= since["restarted"] <= 61 + 2 * LOAD
        following.grows(2)
        until(lambda: collected(history, head), "the watch to tell why")
    assert cluster.json("wait", "orphaned", "--for=running", "--timeout=60s")["result"] == "Running"
    ends(cluster, "orphaned", following)


@pytest.mark.parametrize("control_plane", [ControlPlane(gates={"RestartJob": True})], indirect=True, ids=str)
@pytest.mark.verified("0.C", "4.11")
def test_the_node_object_of_a_dead_machine_is_deleted_whose_slice_restarts_alone(cluster):
    """With RestartJob the whole slice waits for it: its Job cannot end before PodGC gives the dead host's pod up."""
    counting(cluster, "scope", "--restart-scope=slice")
    following = followed(cluster, "scope")
    pod = hosts(cluster, "scope", 0)[2]
    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
    began = time.time()
    with PodHistory(cluster) as history, lost(cluster, node):
        told = until(lambda: cluster.look("status", "scope")["alarms"], "the alarm", timeout=130)
        assert [each["reason"] for each in told] == ["StuckOnDeadNode"]
        until(lambda: hosts(cluster, "scope", 0) == {}, "the other hosts to go")
        since = noted(began, evicted=told_to_go(cluster.get("pod", name)), stuck=time.time())
        assert 69 <= since["evicted"] <= 96 + LOAD
        until(lambda: is_stuck(cluster), "the slice's Job to wait for that pod alone")
        seen = time.time()
        until(lambda: time.time() - seen > UNCHANGED, "nothing to change")
        assert is_stuck(cluster)
        began = time.time()
        cluster.kubectl("delete", "node", node)
        until(lambda: row(cluster, "scope", 0)["jobRestarts"] == 1, "the slice's restart", timeout=120)
        since = noted(began, restarted=time.time())
        assert 39 <= since["restarted"] <= 61 + 2 * LOAD
        until(lambda: collected(history, name), "the watch to tell why")
    until(lambda: whole(cluster, "scope", 0), "the slice to be whole")
    status = cluster.look("status", "scope")
    assert (status["jobset"]["restarts"], status["alarms"]) == (0, [])
    assert len(following.lives()) == 1
    ends(cluster, "scope", following)


def is_stuck(cluster):
    """Whether the slice's Job must end and cannot: of its pods there is only the dead host's."""
    failing = conditions(cluster, "job", "scope-worker-0").get("FailureTarget", ("False",))[0] == "True"
    terminating, stuck = cluster.get("job", "scope-worker-0")["status"]["terminating"], row(cluster, "scope", 0)
    return failing and (terminating, stuck["ready"], stuck["jobRestarts"]) == (1, 0, 0)
