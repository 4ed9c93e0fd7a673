"""The machine of a worker or of the head dies, or was only away for a moment."""

import time

import pytest
from following import Following, counting
from looking import conditions, events, uids
from losing import LOAD, ends, goes_on, hosts, row, whole
from outages import (
    FAST_NODES,
    UNREACHABLE,
    alarm,
    disrupted,
    impatient,
    is_deleting,
    lost,
    made,
    obey,
    patience,
    short_of_hosts,
    tainted,
    told_to_go,
)
from worlds import until

from xlaunch.core.timestamps import words

pytestmark = [pytest.mark.e2e, pytest.mark.clusters(*FAST_NODES)]

STARTED, COMPLETED = "InOrderStartupPolicyInProgress", "InOrderStartupPolicyCompleted"


def brackets(cluster, name):
    """How many outages have begun, and how many have ended."""
    reasons = [reason for _, reason, _ in events(cluster, name)]
    return reasons.count(STARTED), reasons.count(COMPLETED)


def is_silence(told, pod, node, seconds):
    """Whether that is what is said of a pod on a node that does not answer."""
    begins = told.startswith(f"pod {pod} is on node {node}, which has not answered since ")
    return begins and told.endswith(f"; Kubernetes evicts it after {words(seconds)}")


def test_a_node_that_comes_back_in_time_costs_a_restart_in_place(cluster):
    counting(cluster, "blink", "--worker-toleration-seconds=300")
    following = Following(cluster, "blink")
    pod = hosts(cluster, "blink", 0)[2]
    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
    with lost(cluster, node):
        short = until(lambda: short_of_hosts(cluster, "blink"), "the silence to show")
        assert (short["ready"], short["missing"], short["lost"], short["budgetLeft"]) == (3, 1, 0, 8)
        assert is_silence(short["waiting"], name, node, 300)
        assert 200 < short["nextReplacementSeconds"] <= 300
        until(lambda: ("Warning", "NodeNotReady", "Node is not ready") in events(cluster, name), "the event")
    back = until(lambda: whole(cluster, "blink", 0), "the slice to be whole")
    assert (back["lost"], back["inPlaceRestarts"], back["budgetLeft"]) == (0, 1, 6)
    assert (back["missing"], back["lostSince"], back["waiting"]) == (0, None, None)
    assert hosts(cluster, "blink", 0)[2]["metadata"]["uid"] == pod["metadata"]["uid"]
    goes_on(cluster, "blink")
    ends(cluster, "blink", following)


@pytest.mark.verified("2.6", "5.2", "7.1", "7.5")
def test_a_node_that_stays_away_costs_a_pod(cluster):
    counting(cluster, "silent", f"--worker-toleration-seconds={patience(cluster)}")
    following = Following(cluster, "silent")
    pod = hosts(cluster, "silent", 0)[2]
    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
    until(lambda: brackets(cluster, "silent")[1], "the start to be told")
    begun, ended = brackets(cluster, "silent")
    with lost(cluster, node):
        short = until(lambda: short_of_hosts(cluster, "silent"), "the silence to show")
        assert (short["ready"], short["missing"], short["lost"], short["budgetLeft"]) == (3, 1, 0, 8)
        assert is_silence(short["waiting"], name, node, patience(cluster))
        assert 0 < short["nextReplacementSeconds"] <= patience(cluster)
        told = cluster.json("wait", "silent", "--timeout=1s", code=124)["message"]
        assert f"pod {name} is on node {node}" in told
        until(lambda: brackets(cluster, "silent") == (begun + 1, ended), "the outage to begin")

        until(lambda: is_deleting(cluster, name), "the eviction")
        marked = ("Normal", "TaintManagerEviction", f"Marking for deletion Pod default/{name}")
        until(lambda: marked in events(cluster, name), "the event")
        taint = "Taint manager: deleting due to NoExecute taint"
        assert disrupted(cluster, name) == ("DeletionByTaintManager", taint)
        waiting = until(lambda: unscheduled(cluster), "the replacement to wait for a node")
        assert "had untolerated taint" in waiting["waiting"]
        assert (waiting["ready"], waiting["missing"], waiting["lost"], waiting["budgetLeft"]) == (3, 0, 1, 7)
        # Its wait has run since the silence was noticed, and is over; stamps are too coarse for the embedded one
        if cluster.plane:
            new = hosts(cluster, "silent", 0)[2]
            assert made(new) - told_to_go(cluster.get("pod", name)) <= LOAD
        goes_on(cluster, "silent")
        assert [each["phase"] for each in cluster.json("workload", "list")["items"]] == ["Running"]
        assert cluster.look("status", "silent")["alarms"] == []
        assert cluster.get("pod", name)["status"]["phase"] == "Running"
        assert is_deleting(cluster, name)
    back = until(lambda: whole(cluster, "silent", 0), "the slice to be whole")
    assert (back["lost"], back["missing"], back["inPlaceRestarts"], back["waiting"]) == (1, 0, 0, None)
    until(lambda: brackets(cluster, "silent") == (begun + 1, ended + 1), "the outage to end")
    assert len(following.lives()) == 1
    ends(cluster, "silent", following)


@pytest.mark.verified("7.1")
def test_a_worker_tolerates_silence_for_30_seconds(cluster):
    """Those of a flag that nobody has given, and of each side's own seconds."""
    counting(cluster, "thirty")
    following = Following(cluster, "thirty")
    pod = hosts(cluster, "thirty", 0)[2]
    name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
    tolerated = {each.get("tolerationSeconds") for each in pod["spec"]["tolerations"] if each["key"] == UNREACHABLE}
    assert tolerated == {30}
    with lost(cluster, node):
        until(lambda: row(cluster, "thirty", 0)["lost"] == 1, "the eviction", timeout=90)
        since = told_to_go(cluster.get("pod", name)) - tainted(cluster.get("node", node))
        assert 30 * cluster.unit - 1 <= since <= 30 * cluster.unit + LOAD
        assert disrupted(cluster, name)[0] == "DeletionByTaintManager"
        goes_on(cluster, "thirty")
    back = until(lambda: whole(cluster, "thirty", 0), "the slice to be whole")
    assert (back["lost"], back["missing"], back["budgetLeft"]) == (1, 0, 7)
    assert len(following.lives()) == 1
    ends(cluster, "thirty", following)


def unscheduled(cluster):
    """The slice's row while the replacement of the lost host has no node."""
    found = row(cluster, "silent", 0)
    return found if found["lost"] and "is not scheduled" in (found["waiting"] or "") else None


@pytest.mark.verified("0.C", "6.6")
def test_the_heads_node_dies_and_the_alarm_knows_what_helps(cluster):
    counting(cluster, "headless")
    following = Following(cluster, "headless")
    following.grows(1)
    head = cluster.pod("headless-pathways-head")
    node = cluster.get("pod", head)["spec"]["nodeName"]
    impatient(cluster, head)
    before = uids(cluster, "pods")
    with lost(cluster, node):
        waiting = until(lambda: cluster.look("status", "headless")["head"]["waiting"], "the silence to show")
        assert is_silence(waiting, head, node, patience(cluster))
        told = alarm(cluster, "headless")
        assert told["reason"] == "StuckOnDeadNode"
        assert told["message"].startswith(f"Pod {head} cannot end: node {node} has not answered for ")
        job = cluster.get("job", "headless-pathways-head-0")
        assert conditions(cluster, "job", "headless-pathways-head-0")["FailureTarget"][0] == "True"
        assert job["status"]["terminating"] == 1
        status = cluster.json("status", "headless", "--exit-code")
        assert (status["phase"], status["jobset"]["restarts"], status["slices"][0]["ready"]) == ("Running", 0, 4)
        assert uids(cluster, "pods") == before
        following.says(f"The log of pod {head} cannot be read")
        obeyed = time.time()
        obey(cluster, told)
        following.grows(2)
        assert cluster.look("status", "headless")["jobset"]["restarts"] == 1
        new = cluster.get("pod", cluster.pod("headless-pathways-head"))
        assert made(new) - obeyed < LOAD
        assert new["spec"]["nodeName"] != node
    assert cluster.json("wait", "headless", "--for=running", "--timeout=60s")["result"] == "Running"
    assert cluster.look("status", "headless")["alarms"] == []
    ends(cluster, "headless", following)


@pytest.mark.verified("0.C")
def test_a_slice_that_restarts_alone_is_stuck_on_a_dead_node(cluster):
    """With RestartJob the other hosts are gone before the dead one is, and nothing comes back until that one is."""
    counting(cluster, "scope", "--restart-scope=slice", "--worker-toleration-seconds=5")
    following = Following(cluster, "scope")
    dead = hosts(cluster, "scope", 0)[2]
    name, node = dead["metadata"]["name"], dead["spec"]["nodeName"]
    with lost(cluster, node):
        told = alarm(cluster, "scope")
        assert (told["reason"], name in told["message"]) == ("StuckOnDeadNode", True)
        until(lambda: hosts(cluster, "scope", 0) == {}, "the other hosts to go")
        assert conditions(cluster, "job", "scope-worker-0")["FailureTarget"][0] == "True"
        stuck = row(cluster, "scope", 0)
        assert (stuck["ready"], stuck["missing"], stuck["jobRestarts"]) == (0, 4, 0)
        assert stuck["nextReplacementSeconds"] is None
        goes_on(cluster, "scope")
        obey(cluster, told)
        until(lambda: row(cluster, "scope", 0)["jobRestarts"] == 1, "the slice's Job to be made anew")
    # Its leader may have chosen the pool of the dead node again: where there is no other, it has to
    back = until(lambda: whole(cluster, "scope", 0), "the slice to be whole")
    assert (back["jobRestarts"], back["lost"], back["missing"]) == (1, 0, 0)
    status = cluster.look("status", "scope")
    assert (status["jobset"]["restarts"], status["jobset"]["restartsTowardMax"], status["alarms"]) == (0, 1, [])
    assert len(following.lives()) == 1
    ends(cluster, "scope", following)
