"""One slice per node pool: what the loss of a slice's first host, its leader, means for the others."""

import time

import pytest
from following import COUNTING, Following, counting
from looking import events, refusals
from losing import LOAD, counted, ends, goes_on, hosts, is_about, lose, row, waited, whole
from outages import TPU_NODES, alarm, cordoned, made, obey
from worlds import until

pytestmark = pytest.mark.e2e

REFUSED = (
    'Error creating: admission webhook "vpod.kb.io" denied the request: follower pod node selector for topology domain '
    "not found. missing selector: cloud.google.com/gke-nodepool"
)


def pools(cluster, name, index):
    """The node pools in which a slice's pods run."""
    there = hosts(cluster, name, index).values()
    nodes = [cluster.get("node", pod["spec"]["nodeName"]) for pod in there]
    return {node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for node in nodes}


def uid_by_host(cluster, name, index):
    return {host: pod["metadata"]["uid"] for host, pod in hosts(cluster, name, index).items()}


@pytest.mark.verified("9.1", "9.2")
def test_a_lost_leader_comes_back_in_the_pool_of_its_followers(cluster):
    """Alone in one slice, with a follower in the other."""
    # No leader gets a node for a while: where one gets it at once, no follower is refused
    with cordoned(cluster, TPU_NODES):
        cluster.create("leader", slices=2, command=("bash", "-c", COUNTING))
        for job in ("leader-worker-0", "leader-worker-1"):
            until(lambda job=job: ("Warning", "FailedCreate", REFUSED) in events(cluster, job), "a follower's refusal")
        assert cluster.look("status", "leader")["alarms"] == []
    assert cluster.json("wait", "leader", "--for=running", "--timeout=60s")["result"] == "Running"
    following = Following(cluster, "leader")
    assert cluster.look("status", "leader")["alarms"] == []
    before = [uid_by_host(cluster, "leader", index) for index in (0, 1)]
    places = [pools(cluster, "leader", index) for index in (0, 1)]
    assert [len(each) for each in places] == [1, 1]
    alone, _ = lose(cluster, "leader", 0, 0)
    both, _ = lose(cluster, "leader", 1, 0, 3)
    goes_on(cluster, "leader")
    assert is_about(waited(cluster, "leader", 0, 0, alone), 10, cluster, "leader-worker-0")
    assert is_about(waited(cluster, "leader", 1, 3, both), 20, cluster, "leader-worker-1")
    until(lambda: whole(cluster, "leader", 0) and whole(cluster, "leader", 1), "the slices to be whole")
    after = [uid_by_host(cluster, "leader", index) for index in (0, 1)]
    assert [pools(cluster, "leader", index) for index in (0, 1)] == places
    new = [{host for host, uid in now.items() if uid != then[host]} for then, now in zip(before, after, strict=True)]
    assert new == [{0}, {0, 3}]
    assert [row(cluster, "leader", index)["lost"] for index in (0, 1)] == [1, 2]
    assert cluster.look("status", "leader")["alarms"] == []
    ends(cluster, "leader", following)


@pytest.mark.verified("0.E", "9.3")
def test_a_failed_leader_lets_no_follower_in_and_the_alarm_knows_what_helps(cluster):
    counting(cluster, "stuck")
    following = Following(cluster, "stuck")
    leader = hosts(cluster, "stuck", 0)[0]["metadata"]["name"]
    cluster.kubectl("patch", "pod", leader, "-p", '{"spec":{"activeDeadlineSeconds":1}}')
    until(lambda: cluster.get("pod", leader)["status"]["phase"] == "Failed", "the leader to fail")
    told = alarm(cluster, "stuck")
    assert (told["reason"], told["next"]) == ("FailedLeader", f"kubectl delete pod {leader} -n default")
    until(lambda: whole(cluster, "stuck", 0), "the next leader")
    refused = refusals(cluster, "stuck-worker-0")
    lose(cluster, "stuck", 0, 3)
    until(lambda: refusals(cluster, "stuck-worker-0") > refused, "the follower to be refused")
    stuck = until(lambda: counted(cluster, "stuck", 2, 0), "the loss to count")
    assert (stuck["ready"], stuck["missing"], stuck["budgetLeft"]) == (3, 1, 6)
    assert 0 <= stuck["nextReplacementSeconds"] <= 20
    goes_on(cluster, "stuck")
    assert cluster.look("status", "stuck")["alarms"] == [told]
    obeyed = time.time()
    obey(cluster, told)
    assert waited(cluster, "stuck", 0, 3, obeyed) <= LOAD
    back = until(lambda: whole(cluster, "stuck", 0), "the slice to be whole")
    assert (back["lost"], back["missing"]) == (2, 0)
    assert cluster.look("status", "stuck")["alarms"] == []
    assert len(following.lives()) == 1
    ends(cluster, "stuck", following)


@pytest.mark.verified("9.4")
@pytest.mark.long
def test_a_slice_whose_hosts_have_all_failed_waits_for_its_failed_leader_to_go(cluster):
    """As after a shutdown of their nodes."""
    counting(cluster, "down")
    following = Following(cluster, "down")
    failed = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in hosts(cluster, "down", 0).values()}
    began = time.time()
    for pod in failed.values():
        cluster.kubectl("patch", "pod", pod, "-p", '{"spec":{"activeDeadlineSeconds":1}}')
    until(lambda: counted(cluster, "down", 4, 0), "all losses to count")
    leader = until(lambda: new_pods(cluster, failed), "a new leader", timeout=150)
    assert list(leader) == [0]
    assert is_about(made(leader[0]) - began, 80, cluster, "down-worker-0")
    told = alarm(cluster, "down")
    assert (told["reason"], told["next"].split()[:3]) == ("FailedLeader", ["kubectl", "delete", "pod"])
    refused = refusals(cluster, "down-worker-0")
    until(lambda: refusals(cluster, "down-worker-0") > refused, "one more refusal")
    assert list(new_pods(cluster, failed)) == [0]
    goes_on(cluster, "down")
    obey(cluster, told)
    back = until(lambda: whole(cluster, "down", 0), "the slice to be whole")
    assert (back["lost"], back["missing"], back["budgetLeft"]) == (4, 0, 4)
    until(lambda: not cluster.look("status", "down")["alarms"], "the alarm to go")
    assert len(following.lives()) == 1
    ends(cluster, "down", following)


def new_pods(cluster, old):
    """The slice's pods by host that are not among the old ones."""
    pods = [each for each in cluster.get("pods") if each["metadata"]["name"].startswith("down-worker-0-")]
    new = [each for each in pods if each["metadata"]["uid"] not in old]
    return {int(each["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]): each for each in new}
