"""JobSet writes events of core/v1 until 0.11 and of events.k8s.io from 0.12 on; xlaunch reads both."""

import re

import pytest
from worlds import until

from testbed.control_plane import ControlPlane
from xlaunch.cluster.fates import Fates
from xlaunch.core import pods as podlib
from xlaunch.core.events import message, when

pytestmark = pytest.mark.real

SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MICROSECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
ACTION = "applying RestartJobSet failure policy action (first failed job: train-pathways-head-0)"


@pytest.mark.verified("5.7")
@pytest.mark.parametrize("control_plane", [ControlPlane(jobset="0.10.1"), ControlPlane()], indirect=True, ids=str)
def test_each_version_writes_its_own_kind_of_events_and_both_are_read(request, control_plane, world):
    """Of a JobSet that never gets a node, and restarts as its head's pod is deleted."""
    world.create("train", "--max-restarts=1")
    is_old = request.node.callspec.params["control_plane"].jobset == "0.10.1"
    started = event(world, "InOrderStartupPolicyInProgress", is_old)
    assert message(started) == "in order startup policy is in progress"

    before = head(world)
    fates = Fates(world.api, started["involvedObject"]["uid"], "main")
    fates.look([before], None)
    world.kubectl("delete", "pod", before["metadata"]["name"])
    after = until(lambda: (found := head(world)) and podlib.attempt(found) == 1 and found, "the head's next pod")
    fates.look([after], None)
    assert message(event(world, "RestartJobSetFailurePolicyAction", is_old)) == ACTION
    assert fates.take(podlib.uid(before), podlib.uid(after)) == [ACTION]
    assert world.look("status", "train")["jobset"]["restarts"] == 1
    for late in [world.start(command, "train", "--timeout=1s") for command in ("wait", "logs")]:
        assert b"train-pathways-head-0" in late.communicate(timeout=60)[1]
        assert late.returncode == 124


def head(world):
    """The head's pod, None while there is none."""
    return next(iter(world.get("pods")), None)


def event(world, reason, is_old):
    """The one event of that reason about the JobSet, which must be of the kind that its version writes."""

    def found():
        return [each for each in world.get("events") if each["reason"] == reason]

    [told] = until(found, reason)
    if is_old:
        assert (told["eventTime"], told.get("action"), told.get("series")) == (None, None, None)
        assert SECOND.fullmatch(told["firstTimestamp"])
        assert SECOND.fullmatch(when(told))
        assert when(told) == told["lastTimestamp"]
    else:
        assert (told["action"], told["firstTimestamp"], told["lastTimestamp"]) == ("Reconciling", None, None)
        assert MICROSECOND.fullmatch(when(told))
        assert when(told) == told["eventTime"]
    return told
