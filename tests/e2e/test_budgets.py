"""A slice's budget is spent, by lost pods or by restarts in place: one less does nothing, and then exit codes tell."""

import pytest
from following import counting, kill
from losing import counted, followed, hosts, limit, lose, row, unbroken, waited, whole
from worlds import until

pytestmark = pytest.mark.e2e


def fails(cluster, name, following, job):
    """The workload has failed because that Job did, and everything says so; the Job's status."""
    words = f"jobset failed due to reaching max number of restarts (first failed job: {job})"
    assert following.done() == 10
    assert any(f"{name} has failed (ReachedMaxRestarts). {words}." in line for line in following.said), following.said
    assert unbroken(following)
    waiting = cluster.json("wait", name, code=10)
    assert (waiting["result"], waiting["reason"], waiting["message"]) == ("Failed", "ReachedMaxRestarts", words)
    status = cluster.json("status", name, "--exit-code", code=10)
    assert (status["phase"], status["reason"], status["alarms"]) == ("Failed", "ReachedMaxRestarts", [])
    assert {each["nextReplacementSeconds"] for each in status["slices"]} == {None}
    until(lambda: not cluster.get("pods"), "the head's pod to go, and its log with it")
    assert "No pod is left that has the log" in cluster.xlaunch("logs", name, "--no-follow").stderr
    told = cluster.get("job", job)["status"]
    assert {each["type"]: each["reason"] for each in told["conditions"]}["Failed"] == "BackoffLimitExceeded"
    return told


@pytest.mark.verified("1.4", "1.6", "3.2", "11.8")
def test_one_lost_pod_more_than_the_limit_fails_the_job(cluster):
    counting(cluster, "spends", "--max-restarts=0")
    following = followed(cluster, "spends")
    limit(cluster, "spends-worker-0", 1)
    began, _ = lose(cluster, "spends", 0, 1)
    short = until(lambda: counted(cluster, "spends", 1, 0), "the loss to count")
    assert short["budgetLeft"] == 0
    # That it is replaced shows that the Job controller has counted, and that this many do nothing
    waited(cluster, "spends", 0, 1, began)
    spent = until(lambda: whole(cluster, "spends", 0), "the slice to be whole")
    assert (spent["lost"], spent["budgetLeft"], spent["nextReplacementSeconds"]) == (1, 0, None)
    assert "the Job fails" in cluster.xlaunch("status", "spends").stdout
    limit(cluster, "spends-worker-0", 2)
    raised = row(cluster, "spends", 0)
    assert (raised["budgetLeft"], raised["nextReplacementSeconds"]) == (1, 20.0)
    lose(cluster, "spends", 0, 0)
    short = until(lambda: counted(cluster, "spends", 2, 0), "the second loss to count")
    assert short["budgetLeft"] == 0
    lose(cluster, "spends", 0, 3)
    told = fails(cluster, "spends", following, "spends-worker-0")
    # The hosts that were left end with the Job, and are counted with it
    assert told["failed"] == 5


@pytest.mark.verified("1.1", "1.2", "1.5")
def test_as_many_restarts_in_place_as_the_limit_fail_the_job(cluster):
    """Sidecars count; lost pods do not, which have a limit of their own."""
    counting(cluster, "shaky", "--max-restarts=0", "--max-slice-restarts=1", "--colocated-python-sidecar-image=img")
    following = followed(cluster, "shaky")
    there = {host: pod["metadata"]["name"] for host, pod in hosts(cluster, "shaky", 0).items()}
    for host, container in enumerate(("pathways-worker", "colocated-python-sidecar", "pathways-worker")):
        kill(cluster, there[host], container)
    shaken = until(lambda: restarted(cluster, 3), "three restarts")
    assert (shaken["lost"], shaken["budgetLeft"]) == (0, 0)
    began, _ = lose(cluster, "shaky", 0, 3)
    waited(cluster, "shaky", 0, 3, began)
    shaken = until(lambda: restarted(cluster, 3), "three restarts beside the replacement")
    assert (shaken["lost"], shaken["budgetLeft"], shaken["nextReplacementSeconds"]) == (1, 0, 20.0)
    kill(cluster, hosts(cluster, "shaky", 0)[3]["metadata"]["name"], "colocated-python-sidecar")
    fails(cluster, "shaky", following, "shaky-worker-0")


def restarted(cluster, times):
    """The slice's row once it is whole with so many restarts in place."""
    found = whole(cluster, "shaky", 0)
    return found if found and found["inPlaceRestarts"] == times else None


@pytest.mark.verified("1.3")
def test_a_limit_of_0_allows_neither_a_restart_nor_a_loss(cluster):
    counting(cluster, "brittle", "--max-restarts=1", "--max-slice-restarts=0")
    following = followed(cluster, "brittle")
    assert row(cluster, "brittle", 0)["budgetLeft"] == 0
    kill(cluster, cluster.pod("brittle-worker-0-2"), "pathways-worker")
    following.grows(2)
    following.says("first failed job: brittle-worker-0")
    cluster.xlaunch("wait", "brittle", "--for=running")
    status = cluster.json("status", "brittle")
    assert (status["jobset"]["restarts"], status["slices"][0]["inPlaceRestarts"]) == (1, 0)
    lose(cluster, "brittle", 0, 1)
    fails(cluster, "brittle", following, "brittle-worker-0")
