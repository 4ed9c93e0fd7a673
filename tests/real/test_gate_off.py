"""JobSet's gate RestartJob is turned off under a workload that relies on it: an alarm, and a command that helps."""

import json
import shlex

import pytest
from looking import FORCED, conditions
from worlds import until

from testbed import jobset
from testbed.control_plane import ControlPlane

pytestmark = pytest.mark.real


def turn(control_plane, *, on):
    """The controller starts anew with the gate on or off."""
    configuration = jobset.configuration(control_plane.ports, {"RestartJob": True} if on else {})
    (control_plane.directory / "jobset.json").write_text(json.dumps(configuration), encoding="utf-8")
    control_plane.restart("jobset")


@pytest.mark.parametrize("control_plane", [ControlPlane(gates={"RestartJob": True})], indirect=True, ids=str)
def test_a_failed_slice_stays_and_status_knows_what_helps(control_plane, world, tmp_path):
    """There are no nodes: the first pod of the slice is Pending, and its deletion is a loss."""
    patch = tmp_path / "patch.json"
    patch.write_text(json.dumps({"spec": {"startupPolicy": {"startupPolicyOrder": "AnyOrder"}}}))
    world.create("train", "--restart-scope=slice", f"--patch={patch}")
    until(lambda: [pod for pod in names(world, "pods") if "worker" in pod], "a pod of the slice")
    job = world.get("job", "train-worker-0")["metadata"]["uid"]
    try:
        turn(control_plane, on=False)
        world.kubectl("delete", "pod", world.pod("train-worker-0"), *FORCED)
        [told] = until(lambda: world.json("status", "train")["alarms"], "the alarm")
        assert told["reason"] == "SliceNotRestarted"
        assert "its feature gate RestartJob was turned off" in told["message"]
        assert conditions(world, "job", "train-worker-0")["Failed"][0] == "True"
        assert world.get("job", "train-worker-0")["metadata"]["uid"] == job
        kubectl, *command = shlex.split(told["next"])
        assert kubectl == "kubectl"
        world.kubectl(*command)
        until(lambda: "train-worker-0" in names(world, "jobs"), "the Job to be made anew")
        until(lambda: not world.json("status", "train")["alarms"], "the alarm to end")
    finally:
        turn(control_plane, on=True)


def names(world, kind):
    return [each["metadata"]["name"] for each in world.get(kind)]
