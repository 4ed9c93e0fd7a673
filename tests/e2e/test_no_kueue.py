"""A workload that names a queue, on a cluster without Kueue: it runs at once, and only a person suspends it."""

import pytest
from queues import becomes, submit
from worlds import until

pytestmark = pytest.mark.e2e


def test_a_queue_that_nobody_keeps_holds_nothing_back(cluster):
    submit(cluster, "train", command=("sleep", "600"))
    assert cluster.json("wait", "train", "--for=running", "--timeout=120s")["result"] == "Running"
    status = cluster.json("status", "train")
    assert (status["queue"], status["queueing"]["state"], status["alarms"]) == ("team", "NotQueued", [])
    cluster.patch("jobset", "train", {"spec": {"suspend": True}})
    told = becomes(cluster, "train", "Suspended", "NotQueued")
    assert told["waiting"].startswith("it is suspended")
    [listed] = cluster.json("workload", "list", "--queue=team")["items"]
    assert (listed["phase"], listed["queueing"]["positionInLocalQueue"]) == ("Suspended", None)
    until(lambda: not cluster.get("pods"), "the pods to go, and their logs with them")
    assert "it is suspended" in cluster.xlaunch("logs", "train", "--no-follow").stderr
    late = cluster.json("wait", "train", "--for=running", "--timeout=1s", code=124)
    assert late["message"].startswith("train is Suspended: it is suspended")
