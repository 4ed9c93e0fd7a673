"""Kueue's waitForPodsReady takes away a workload that waits too long for a slice, and gives it up at last."""

import pytest
from following import Following
from looking import FORCED, Obeying
from outages import TPU_NODES
from queues import WORKLOADS, becomes, evictions, runs, submit
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
def nodes(control_plane):
    """Nodes that run what the queue admits."""
    with attached(control_plane.kubeconfig, ONE_HOST, log=control_plane.directory / "node-agent.log"):
        yield


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
