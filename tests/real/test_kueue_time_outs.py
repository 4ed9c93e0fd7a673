"""Kueue's time outs over several rounds, and what happens to workloads when an administrator switches them on."""

import json
from datetime import datetime

import pytest
from following import COUNTING, Following
from looking import conditions
from queues import WORKLOADS, becomes, evictions, runs, submit, workload_of
from worlds import attached, until

from testbed.control_plane import ControlPlane

BASE = 10
WAIT = {
    "timeout": "8s",
    "requeuingStrategy": {"backoffBaseSeconds": BASE, "backoffLimitCount": 3},
}
KUEUE = ControlPlane(kueue=True)
ONE_HOST = "--tpu-type=v5p-8"
pytestmark = [
    pytest.mark.real,
    pytest.mark.nightly,
    pytest.mark.parametrize("control_plane", [KUEUE], indirect=True, ids=str),
]


@pytest.fixture
def configure(control_plane):
    """Restarts Kueue with more in its configuration; afterwards it has its old one."""
    path = control_plane.directory / "kueue.json"
    before = path.read_text(encoding="utf-8")

    def restart(more):
        path.write_text(json.dumps(json.loads(before) | more), encoding="utf-8")
        control_plane.restart("kueue")

    yield restart
    restart({})


@pytest.mark.verified("12.13")
def test_each_time_out_of_the_queue_is_twice_as_long(world, queue, configure):
    """There are no nodes, so it never gets its pods ready."""
    configure({"waitForPodsReady": WAIT})
    submit(world, "train", ONE_HOST)
    for count in (1, 2, 3):
        told = until(lambda count=count: evicted(world, count), f"time out {count}", timeout=120)
        assert (told["reason"], told["requeues"]) == ("PodsReadyTimeout", count)
        # Kueue adds a jitter, and its stamps are whole seconds
        assert abs(told["pause"] - BASE * 2 ** (count - 1)) <= 2, count
    told = until(lambda: given_up(world), "Kueue to give it up", timeout=120)
    assert told["queueing"]["reason"] == "DeactivatedDueToRequeuingLimitExceeded"
    assert told["jobset"]["restarts"] == 0
    assert evictions(world, "train")["PodsReadyTimeout", "WaitForStart"] == 3


def evicted(world, count):
    """How it stands with its queue once it was sent away so often; `pause` is for how many seconds."""
    told = world.look("status", "train")["queueing"]
    if not (told and told["requeues"] == count and told["requeueAt"]):
        return None
    found = workload_of(world, "train")["status"]["conditions"]
    [since] = [each for each in found if each["type"] == "Evicted"]
    assert since["status"] == "True", "looked too late"
    return {**told, "pause": moment(told["requeueAt"]) - moment(since["lastTransitionTime"])}


def given_up(world):
    """Its status once the alarm says so."""
    told = world.json("status", "train")
    return told if "QueueGaveUp" in {each["reason"] for each in told["alarms"]} else None


def moment(stamp):
    return datetime.fromisoformat(stamp).timestamp()


@pytest.mark.verified("12.14")
def test_switching_time_outs_on_evicts_what_has_run_for_longer(control_plane, world, queue, configure):
    """Nothing is on record about its pods, so Kueue takes them as late; xlaunch says that it was the queue."""
    with attached(control_plane.kubeconfig, ONE_HOST, log=control_plane.directory / "node-agent.log"):
        for name in ("first", "second", "third", "fourth"):
            configure({})
            submit(world, name, ONE_HOST, command=("bash", "-c", COUNTING))
            runs(world, name)
            following = Following(world, name)
            following.grows(1)
            assert pods_ready(world, name) is None
            until(lambda following=following: len(following.lines) > 600, "more than the time out to pass", timeout=60)
            configure({"waitForPodsReady": WAIT})
            until(lambda name=name: evictions(world, name) or pods_ready(world, name), "Kueue to have looked")
            if evictions(world, name):
                break
            # Another of its reconcilers was quicker, and has put on record that the pods are ready
            world.xlaunch("workload", "delete", name, "--yes")
        following.says(f"{name} was evicted by its queue (1st time; no restart): PodsReadyTimeout: ")
        becomes(world, name, "Running", "Admitted")
        following.grows(2)
        told = world.json("status", name)
        assert (told["jobset"]["restarts"], told["queueing"]["requeues"]) == (0, 1)
        world.xlaunch("workload", "delete", name, "--yes")
        assert following.done() == 10


def pods_ready(world, name):
    """What Kueue has put on record about a workload's pods; None for nothing."""
    return conditions(world, WORKLOADS, workload_of(world, name)["metadata"]["name"]).get("PodsReady")
