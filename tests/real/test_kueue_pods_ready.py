"""Kueue's waitForPodsReady takes away a workload that waits too long for a slice, and gives it up at last."""

import time

import pytest
from following import Following
from looking import FORCED, Obeying, conditions
from losing import LOAD, whole
from outages import TPU_NODES
from queues import WORKLOADS, becomes, evictions, runs, submit, workload_of
from worlds import attached, until

from testbed.control_plane import ControlPlane

WAIT = {
    "timeout": "60s",
    "recoveryTimeout": "12s",
    "requeuingStrategy": {"backoffBaseSeconds": 10, "backoffLimitCount": 1},
}
KUEUE = ControlPlane(kueue=True, kueue_configuration={"waitForPodsReady": WAIT})
# One host: its losses cost waits of 10 and 20 s, those of four would cost 80 and 600 s, also across an eviction
ONE_HOST = "--tpu-type=v5p-8"
pytestmark = [
    pytest.mark.real,
    pytest.mark.parametrize("control_plane", [KUEUE], indirect=True, ids=str),
    pytest.mark.usefixtures("nodes"),
]


@pytest.fixture
def nodes(request, control_plane):
    """Nodes that run what the queue admits, of the type in the parameter; another test has others of the same names."""
    tpu = getattr(request, "param", ONE_HOST)
    with attached(control_plane.kubeconfig, tpu, log=control_plane.directory / "node-agent.log"):
        yield
    control_plane.api.request("DELETE", "/api/v1/nodes")


def lose_the_slice(world):
    """Its host is lost, and no other takes its place until `kubectl uncordon`."""
    world.kubectl("cordon", "-l", TPU_NODES)
    world.kubectl("delete", "pod", "-l", "jobset.sigs.k8s.io/replicatedjob-name=worker", *FORCED)


@pytest.mark.verified("12.10")
@pytest.mark.long
def test_a_lost_slice_may_cost_the_whole_workload(world, queue, tmp_path):
    submit(world, "train", ONE_HOST, command=Obeying(tmp_path).command)
    runs(world, "train")
    following = Following(world, "train")
    lose_the_slice(world)
    [alarm] = until(lambda: world.look("status", "train")["alarms"], "an alarm")
    assert alarm["reason"] == "QueueMayEvict"
    told = becomes(world, "train", "Queued", "Evicted")
    assert (told["queueing"]["reason"], told["queueing"]["requeues"]) == ("PodsReadyTimeout", 1)
    assert told["queueing"]["requeueAt"]
    following.says("train was evicted by its queue (1st time; no restart): PodsReadyTimeout: Exceeded the PodsReady")
    world.kubectl("uncordon", "-l", TPU_NODES)
    runs(world, "train")
    until(lambda: "begin 2" in following.lines, "the head's second life")
    lose_the_slice(world)
    told = becomes(world, "train", "Suspended", "Held")
    assert told["queueing"]["reason"] == "DeactivatedDueToRequeuingLimitExceeded"
    assert evictions(world, "train") == {
        ("PodsReadyTimeout", "WaitForRecovery"): 1,
        ("Deactivated", "RequeuingLimitExceeded"): 1,
    }
    [alarm] = told["alarms"]
    assert alarm["reason"] == "QueueGaveUp"
    following.says(f"{alarm['message']}. Next: {alarm['next']}")
    world.patch(WORKLOADS, told["queueing"]["workload"], {"spec": {"active": True}})
    told = becomes(world, "train", "Queued", "Evicted")
    assert told["alarms"] == [alarm]
    world.kubectl("uncordon", "-l", TPU_NODES)
    world.kubectl(*alarm["next"].split()[1:])
    runs(world, "train")
    assert world.json("status", "train")["jobset"]["restarts"] == 0
    world.xlaunch("workload", "delete", "train", "--yes")
    assert following.done() == 10


@pytest.mark.nightly
@pytest.mark.verified("12.17")
@pytest.mark.parametrize("nodes", ["--tpu-type=v5litepod-16"], indirect=True)
def test_kueue_does_not_know_of_one_lost_host_before_it_is_replaced(world, queue):
    """kubernetes#139428 keeps the Job's status as it was, so the time to recover begins when the back-off is over."""
    submit(world, "train")
    runs(world, "train")
    until(lambda: pods_ready(world) == ("True", "Started"), "Kueue to know that all run")
    began = time.time()
    world.kubectl("delete", "pod", world.pod("train-worker-0-2"), *FORCED)
    status = world.look("status", "train")
    assert [(each["ready"], each["missing"], each["lost"]) for each in status["slices"]] == [(3, 1, 1)]
    assert status["alarms"] == []
    told = until(lambda: (found := pods_ready(world)) != ("True", "Started") and found, "Kueue to know of the loss")
    passed = time.time() - began
    print(f"{told} after {passed:.1f} s")
    assert 8 <= passed <= 10 + LOAD
    until(lambda: pods_ready(world) == ("True", "Recovered"), "Kueue to know of the replacement")
    until(lambda: whole(world, "train", 0), "the slice to be whole")
    status = world.look("status", "train")
    assert (status["jobset"]["restarts"], status["alarms"]) == (0, [])
    assert evictions(world, "train") == {}


def pods_ready(world):
    """Status and reason of Kueue's own word about the pods."""
    return conditions(world, WORKLOADS, workload_of(world, "train")["metadata"]["name"]).get("PodsReady", ())[:2]
