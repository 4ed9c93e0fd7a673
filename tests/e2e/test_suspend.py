"""Suspended by a person and resumed: no loss and no restart is counted, and logs go on in the next pod."""

import pytest
from following import Following, counting
from looking import ATTEMPT, FORCED, conditions, events, uids
from losing import ends, followed, goes_on
from outages import HEAD_NODES, PodHistory, cordoned, is_head_first
from worlds import until

pytestmark = pytest.mark.e2e


def suspend(cluster, name, value):
    cluster.patch("jobset", name, {"spec": {"suspend": value}})


@pytest.mark.verified("5.6", "10.1")
@pytest.mark.long
def test_suspended_and_resumed(cluster):
    counting(cluster, "held", "--queue=none")
    following = Following(cluster, "held")
    following.grows(1)
    jobs = uids(cluster, "jobs")
    suspend(cluster, "held", True)
    until(lambda: not cluster.get("pods"), "all pods to go")
    status = cluster.json("status", "held")
    assert (status["phase"], status["message"], status["head"]) == ("Suspended", "jobset is suspended", None)
    assert [(each["ready"], each["missing"], each["lost"]) for each in status["slices"]] == [(0, 0, 0)]
    assert [each["phase"] for each in cluster.json("workload", "list")["items"]] == ["Suspended"]
    told = conditions(cluster, "jobset", "held")
    assert told["Suspended"] == ("True", "SuspendedJobs", "jobset is suspended")
    assert told["StartupPolicyCompleted"][0] == "True"  # conditions freeze
    assert conditions(cluster, "job", "held-worker-0")["Suspended"][:2] == ("True", "JobSuspended")
    assert "it is suspended" in cluster.xlaunch("logs", "held", "--no-follow").stderr
    timed_out = cluster.json("wait", "held", "--timeout=1s", code=124)
    assert (timed_out["result"], timed_out["reason"]) == ("Timeout", "Suspended")
    waiting = cluster.start("wait", "held", "--for=running")
    assert waiting.stderr.readline().startswith(b"Waiting: held is Suspended: ")
    following.says("Waiting: it is suspended")

    with PodHistory(cluster) as history:
        suspend(cluster, "held", False)
        out, _ = waiting.communicate(timeout=60)
        assert is_head_first(history, "held")
    assert (waiting.returncode, out) == (0, b"held: Running.\n")
    following.grows(2)
    following.says("(JobSet restarts: 0)")
    assert uids(cluster, "jobs") == jobs
    assert {pod["metadata"]["labels"][ATTEMPT] for pod in cluster.get("pods")} == {"0"}
    until(lambda: conditions(cluster, "jobset", "held")["Suspended"][:2] == ("False", "ResumeJobs"), "the condition")
    status = cluster.json("status", "held")
    assert (status["phase"], status["jobset"]["restarts"], status["alarms"]) == ("Running", 0, [])
    assert [(each["ready"], each["lost"], each["budgetLeft"]) for each in status["slices"]] == [(4, 0, 8)]
    assert len(following.lives()) == 2
    ends(cluster, "held", following)


@pytest.mark.verified("10.2")
def test_suspended_while_it_restarts(cluster):
    """The restart is over with that, and counted; what begins after the resume is none."""
    counting(cluster, "amid", "--queue=none", "--max-restarts=2")
    following = followed(cluster, "amid")
    with cordoned(cluster, HEAD_NODES):
        cluster.kubectl("delete", "pod", cluster.pod("amid-pathways-head"), *FORCED)
        until(lambda: restarting(cluster, "amid")[:1] == ("True",), "the restart")
        suspend(cluster, "amid", True)
        over = ("False", "JobSetSuspended", "jobset is suspended")
        until(lambda: restarting(cluster, "amid") == over, "the restart to be over")
        until(lambda: ("Normal", *over[1:]) in events(cluster, "amid"), "the event")
        until(lambda: not cluster.get("pods"), "all pods to go")
        status = cluster.json("status", "amid")
        assert (status["phase"], status["jobset"]["restarts"], status["alarms"]) == ("Suspended", 1, [])
    suspend(cluster, "amid", False)
    following.grows(2)
    assert cluster.json("wait", "amid", "--for=running", "--timeout=60s")["result"] == "Running"
    status = cluster.json("status", "amid")
    assert (status["jobset"]["restarts"], [each["lost"] for each in status["slices"]]) == (1, [0])
    goes_on(cluster, "amid")
    ends(cluster, "amid", following)


def restarting(cluster, name):
    return conditions(cluster, "jobset", name).get("RestartingJobSet", ())
