"""Workloads in the queues of a real Kueue: held back, admitted, evicted, admitted again; and what people are told."""

import pytest
from following import Following
from looking import Obeying, conditions, events
from queues import WORKLOADS, becomes, evictions, priority_class, runs, submit, workload_of
from worlds import World, attached, until

from testbed.control_plane import ControlPlane

KUEUE = ControlPlane(kueue=True)
LONGEST = "lost" * 9 + "1"  # 37 characters; Kueue puts more around the name and checks labels, and takes it
pytestmark = [
    pytest.mark.real,
    pytest.mark.parametrize("control_plane", [KUEUE], indirect=True, ids=str),
    pytest.mark.usefixtures("nodes"),
]


@pytest.fixture(scope="module")
def nodes(control_planes):
    """Nodes that run pods, for as long as this file's tests."""
    plane = control_planes(KUEUE)
    with attached(plane.kubeconfig, "--slices=3", "--heads=3", log=plane.directory / "node-agent.log"):
        priority_class(plane.api, "urgent", 1000)
        yield


def tried(world, name):
    """What `status` tells of a workload once Kueue has said why it has no quota, and where it stands."""
    told = becomes(world, name, "Queued", "Pending")
    return told if told["queueing"]["message"] and told["queueing"]["pendingInLocalQueue"] else None


def standing(world):
    """How `workload list` says that each stands."""
    items = world.json("workload", "list")["items"]
    return {each["name"]: (each["phase"], each["queueing"]["state"]) for each in items}


def place(world, name):
    """How many are before it in its local queue."""
    return world.look("status", name)["queueing"]["positionInLocalQueue"]


@pytest.mark.verified("12.1", "12.2", "12.3", "12.5", "12.9", "12.16")
def test_workloads_wait_for_their_turn(world, queue):
    submit(world, "first")
    runs(world, "first")
    assert conditions(world, WORKLOADS, workload_of(world, "first")["metadata"]["name"]) == {
        "QuotaReserved": ("True", "QuotaReserved", f"Quota reserved in ClusterQueue {queue.name}"),
        "Admitted": ("True", "Admitted", "The workload is admitted"),
    }
    told = events(world, "first")
    assert ("Normal", "Started", f"Admitted by clusterQueue {queue.name}") in told
    assert "CreatedWorkload" in {reason for _, reason, _ in told}
    labels = world.get("pods")[0]["metadata"]["labels"]
    told = {key: labels.get(f"kueue.x-k8s.io/{key}") for key in ("cluster-queue-name", "local-queue-name", "podset")}
    podset = labels["jobset.sigs.k8s.io/replicatedjob-name"]
    assert told == {"cluster-queue-name": queue.name, "local-queue-name": "team", "podset": podset}
    for name in ("second", "third"):
        submit(world, name)
    waiting = until(lambda: tried(world, "third"), "Kueue to have tried the third")
    assert world.get("jobset", "third")["spec"]["suspend"] is True
    place = waiting["queueing"]["positionInLocalQueue"], waiting["queueing"]["pendingInLocalQueue"]
    assert place == (1, 2)
    short = (
        "couldn't assign flavors to pod set worker: insufficient unused quota for google.com/tpu in flavor "
        f"{queue.name}, 16 more needed"
    )
    assert waiting["queueing"]["message"] == short
    listed = world.xlaunch("workload", "list").stdout.splitlines()
    assert f"second: it waits in queue team (1st of 2): {short}" in listed
    assert f"third: it waits in queue team (2nd of 2): {short}" in listed
    late = world.json("wait", "third", "--for=running", "--timeout=1s", code=124)
    assert late["message"] == f"third is Queued: it waits in queue team (2nd of 2): {short}"
    wait = world.start("wait", "second", "--for=running", "--timeout=60s")
    line = wait.stderr.readline().decode()
    assert line == f"Waiting: second is Queued: it waits in queue team (1st of 2): {short}\n"
    world.xlaunch("workload", "delete", "first", "--yes")
    assert wait.wait(timeout=60) == 0
    becomes(world, "second", "Running", "Admitted")
    assert standing(world) == {"second": ("Running", "Admitted"), "third": ("Queued", "Pending")}


def test_kueue_undoes_a_suspend_and_keeps_to_a_deactivation(world, queue):
    submit(world, "train")
    runs(world, "train")
    world.patch("jobset", "train", {"spec": {"suspend": True}})
    until(lambda: not world.get("jobset", "train")["spec"]["suspend"], "Kueue to let it go on")
    name = workload_of(world, "train")["metadata"]["name"]
    world.patch(WORKLOADS, name, {"spec": {"active": False}})
    told = becomes(world, "train", "Suspended", "Held")
    assert told["waiting"] == "it is held back: The workload is deactivated"
    assert (told["jobset"]["restarts"], told["alarms"]) == (0, [])
    late = world.json("wait", "train", "--timeout=1s", code=124)
    assert late["message"] == "train is Suspended: it is held back: The workload is deactivated"
    world.patch(WORKLOADS, name, {"spec": {"active": True}})
    runs(world, "train")
    assert evictions(world, "train") == {("Deactivated", None): 1}


@pytest.mark.verified("12.6", "12.7", "12.11", "12.16")
def test_a_drained_queue_evicts_and_admits_again(world, queue, tmp_path):
    main = Obeying(tmp_path)
    submit(world, "train", command=main.command)
    runs(world, "train")
    following, wait = Following(world, "train"), world.start("wait", "train")
    until(lambda: following.lines == ["begin 1"], "the first line")
    assert wait.stderr.readline() == b"Waiting: train is Running\n"
    queue.stop("HoldAndDrain")
    told = becomes(world, "train", "Queued", "Evicted")
    why = "ClusterQueueStopped: The ClusterQueue is stopped"
    assert f"{told['queueing']['reason']}: {told['queueing']['message']}" == why
    # Kueue evicts first, and says a moment later why there is no quota
    [alarm] = until(lambda: world.json("status", "train")["alarms"], "the alarm")
    assert alarm["reason"] == "QueueStopped"
    until(lambda: not world.get("pods"), "all pods to go")
    following.says(f"train was evicted by its queue (1st time; no restart): {why}")
    assert "Stopped" in {reason for _, reason, _ in events(world, "train")}
    assert conditions(world, "localqueue", "team")["Active"][:2] == ("False", "ClusterQueueIsInactive")
    assert "the queue has evicted it (ClusterQueueStopped)" in world.xlaunch("workload", "list").stdout
    queue.stop("None")
    until(lambda: "begin 2" in following.lines, "the second life")
    runs(world, "train")
    requeued = conditions(world, WORKLOADS, workload_of(world, "train")["metadata"]["name"])["Requeued"]
    assert requeued[:2] == ("True", "ClusterQueueRestarted")
    assert evictions(world, "train") == {("ClusterQueueStopped", None): 1}
    main.end(2, 0)
    assert following.done() == 0
    assert following.lines == ["begin 1", "begin 2", "end 2"]
    # How main ended comes before it where that was seen: the pod goes at once
    replaced = next(line for line in following.said if "(JobSet restarts: 0): " in line)
    assert f"its queue evicted it: {why}" in replaced
    assert wait.wait(timeout=60) == 0
    assert why in wait.stderr.read().decode()
    assert world.json("status", "train")["jobset"]["restarts"] == 0


@pytest.mark.verified("12.15")
def test_a_queue_that_starts_again_may_admit_a_newer_workload_first(world, queue):
    """The place that `status` shows is Kueue's, and no promise: the evicted one was first in the queue."""
    submit(world, "older")
    runs(world, "older")
    submit(world, "newer")
    becomes(world, "newer", "Queued", "Pending")
    queue.stop("HoldAndDrain")
    becomes(world, "older", "Queued", "Evicted")
    # The visibility API answers also while the queue is stopped
    until(lambda: [place(world, name) for name in ("older", "newer")] == [0, 1], "both to have their place")
    queue.stop("None")
    # Kueue writes to the queue and to its workload side by side; each time that was seen the newer was first
    runs(world, "newer")
    told = becomes(world, "older", "Queued", "Requeued")
    again = "it waits in queue team (1st of 1) again after an eviction: couldn't assign flavors to pod set worker: "
    assert told["waiting"].startswith(again)
    assert told["jobset"]["restarts"] == 0
    assert f"older: {again}" in world.xlaunch("workload", "list").stdout
    assert standing(world) == {"older": ("Queued", "Requeued"), "newer": ("Running", "Admitted")}


@pytest.mark.verified("12.8")
def test_a_workload_is_preempted_and_waits_again(world, queue):
    submit(world, "low")
    runs(world, "low")
    submit(world, "high", "--priority=urgent")
    told = becomes(world, "low", "Queued", "Requeued")
    runs(world, "high")
    assert told["jobset"]["restarts"] == 0
    until(lambda: place(world, "low") == 0, "nobody to be before it")
    assert evictions(world, "low") == {("Preempted", None): 1}
    late = world.json("wait", "low", "--timeout=1s", code=124)
    assert late["message"].startswith("low is Queued: it waits in queue team (1st of 1) again after an eviction: ")
    world.xlaunch("workload", "delete", "high", "--yes")
    runs(world, "low")
    shown = world.xlaunch("status", "low").stdout
    assert "Evicted by the queue: 1 x Preempted; these are no restarts" in shown


@pytest.mark.verified("12.12")
def test_a_restart_of_the_jobset_keeps_its_quota(world, queue):
    submit(world, "train")
    runs(world, "train")
    before = workload_of(world, "train")
    world.kubectl("delete", "pod", world.pod("train-pathways-head"), "--wait=false")
    until(lambda: world.json("status", "train")["jobset"]["restarts"] == 1, "the JobSet's restart")
    runs(world, "train")
    after = workload_of(world, "train")
    assert after["status"] == before["status"]
    assert evictions(world, "train") == {}


@pytest.mark.verified("12.4")
def test_what_will_never_be_admitted_is_waited_for_and_said(world, queue):
    submit(world, "big", slices=2)
    world.create(LONGEST, f"--queue={'nobody' * 10}")
    told = until(lambda: tried(world, "big"), "Kueue to have tried it")
    assert "current podset request (32) > maximum capacity (16)" in told["queueing"]["message"]
    for name, reason, command in (
        ("big", "QueueNeverFits", "kubectl describe localqueue team"),
        (LONGEST, "QueueMissing", "kubectl get localqueues"),
    ):
        [alarm] = until(lambda name=name: world.json("status", name)["alarms"], f"an alarm about {name}")
        assert (alarm["reason"], alarm["next"]) == (reason, f"{command} -n {queue.name}")
        for waiting in (("wait", name, "--for=running"), ("logs", name)):
            late = world.xlaunch(*waiting, "--timeout=2s", code=124)
            assert f"{alarm['message']}. Next: {alarm['next']}\n" in late.stderr
    world.kubectl(*alarm["next"].split()[1:])


def test_who_may_not_see_queues_still_sees_workloads(control_plane, namespace, world, queue, tmp_path):
    submit(world, "first")
    submit(world, "second")
    becomes(world, "second", "Queued", "Pending")
    world.kubectl(
        "create", "role", "reader", "--verb=get,list,watch", "--resource=pods,jobs.batch,jobsets.jobset.x-k8s.io"
    )
    world.kubectl("create", "rolebinding", "reader", "--role=reader", "--user=reader")
    kubeconfig = control_plane.kubeconfig_of("reader", namespace=namespace)
    reader = World(tmp_path, (f"--kubeconfig={kubeconfig}",), kubeconfig)
    told = reader.json("status", "second")
    assert (told["phase"], told["queueing"], told["waiting"]) == (
        "Queued",
        None,
        "it waits in queue team: jobset is suspended",
    )
    assert [each["phase"] for each in reader.json("workload", "list")["items"]][1] == "Queued"
    reader.xlaunch("wait", "second", "--for=running", "--timeout=1s", code=124)
