"""A slice's whole pool dies: its nodes fall silent one after the other, or are taken away and made again."""

import itertools

import pytest
from following import Following, counting
from losing import ends, goes_on, hosts, is_about, row, waited, whole
from outages import (
    FAST_NODES,
    PATIENCE,
    PodHistory,
    lost,
    nodes_of,
    patience,
    restore,
    seconds,
    short_of_hosts,
    tainted,
    told_to_go,
)
from worlds import until

from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import words

pytestmark = [pytest.mark.e2e, pytest.mark.clusters(*FAST_NODES)]


@pytest.mark.verified("0.D", "7.4")
def test_the_hosts_of_a_silent_pool_are_given_up_one_by_one(cluster):
    counting(cluster, "rack", f"--worker-toleration-seconds={patience(cluster)}")
    following = Following(cluster, "rack")
    nodes = nodes_of(cluster, "rack", 0)
    pods = [hosts(cluster, "rack", 0)[host]["metadata"]["name"] for host in range(4)]
    with lost(cluster, *nodes):
        short = until(lambda: (found := row(cluster, "rack", 0))["missing"] == 4 and found, "the silence to show")
        assert short["ready"] == 0
        assert f"have not answered since {short['lostSince']} ({', '.join(nodes)})" in short["waiting"]
        assert short["waiting"].endswith(f"evicts them after {words(patience(cluster))}, one node every 10s")
        assert short["nextReplacementSeconds"] <= max(80, 30 + patience(cluster))
        gone = until(lambda: (found := row(cluster, "rack", 0))["lost"] == 4 and found, "the last eviction")
        # The first to be evicted are replaced before the wait has grown, by pods without a node
        assert (gone["ready"], gone["budgetLeft"]) == (0, 4)
        taints = [tainted(cluster.get("node", node)) for node in nodes]
        evictions = [told_to_go(cluster.get("pod", pod)) for pod in pods]
        every = 5 if cluster.plane else 10 * cluster.unit
        for moments in (taints, evictions):
            assert all(after - before >= every - 1 for before, after in itertools.pairwise(sorted(moments)))
        assert all(end - taint >= PATIENCE - 1 for taint, end in zip(taints, evictions, strict=True))
        goes_on(cluster, "rack")
    ends(cluster, "rack", following)


@pytest.mark.verified("7.3")
@pytest.mark.long
def test_a_pool_is_taken_away_and_made_again(cluster):
    """What GKE does to a multi-host slice one of whose machines has failed: k is all hosts, and so is the wait."""
    # So long that nobody is evicted before the Node objects are gone
    counting(cluster, "pool", "--worker-toleration-seconds=300", slices=2)
    following = Following(cluster, "pool")
    nodes = nodes_of(cluster, "pool", 1)
    before = {pod["metadata"]["name"] for pod in hosts(cluster, "pool", 1).values()}
    machines = {cluster.get("node", node)["metadata"]["uid"] for node in nodes}
    with lost(cluster, nodes[1]), PodHistory(cluster) as history:
        short = until(lambda: short_of_hosts(cluster, "pool", 1), "the silence to show")
        assert (short["ready"], short["missing"], short["lost"]) == (3, 1, 0)
        cluster.kubectl("delete", "node", *nodes)
        gone = until(lambda: (found := row(cluster, "pool", 1))["lost"] == 4 and found, "the loss to show", timeout=120)
        assert (gone["ready"], gone["missing"], gone["budgetLeft"]) == (0, 4, 4)
        assert 0 < gone["nextReplacementSeconds"] <= 80
        goes_on(cluster, "pool")
        began = max(until(lambda pod=pod: given_up(history, pod), f"the end of {pod}") for pod in before)
        restore(cluster, nodes)
        assert is_about(waited(cluster, "pool", 1, 3, began), 80, cluster, "pool-worker-1")
        assert {cluster.get("node", node)["metadata"]["uid"] for node in nodes} & machines == set()
        back = until(lambda: whole(cluster, "pool"), "the slice to be whole", timeout=150)
        assert (back["lost"], back["missing"], back["nextReplacementSeconds"]) == (4, 0, 160.0)
    assert {collected(history, pod) for pod in before} == {("Failed", "DeletionByPodGC")}
    assert row(cluster, "pool", 0)["lost"] == 0
    status = cluster.look("status", "pool")
    assert (status["jobset"]["restarts"], status["alarms"]) == (0, [])
    assert len(following.lives()) == 1
    ends(cluster, "pool", following)


def collected(history, pod):
    """How a pod ended whose node is gone: its last phase, and by whom."""
    last = history.of(pod)[-1]["status"]
    return last["phase"], condition(last, "DisruptionTarget")["reason"]


def given_up(history, pod):
    """When that was, in seconds since the epoch; None while it has not been."""
    told = condition(history.of(pod)[-1]["status"], "DisruptionTarget") if history.of(pod) else None
    return seconds(told["lastTransitionTime"]) if told else None
