"""--restart-scope: with JobSet's gate RestartJob a lost host restarts its slice, and that slice alone."""

import json
import os
import signal
import time

import pytest
from following import COUNTING, Following, counting, kill, process, rows
from looking import FORCED, events, uids
from losing import (
    LOAD,
    ends,
    followed,
    goes_on,
    hosts,
    is_about,
    lose,
    quits,
    unbroken,
    waited,
    whole,
    with_workers,
)
from outages import obey
from worlds import until

from xlaunch.core.pods import JOB_RESTART_ATTEMPT, RESTART_ATTEMPT
from xlaunch.core.restart_scope import GATE_OFF, SCOPE_ANNOTATION

pytestmark = pytest.mark.e2e

with_the_gate = pytest.mark.clusters("embedded+RestartJob", "real+RestartJob")
# Seconds that a busy machine may take to end a Job and to make it anew; 3 were measured on an idle one
FLAT = 2 * LOAD
SLICE = "--restart-scope=slice"
AUTO = "--restart-scope=auto"


def workers(cluster, name):
    """What JobSet itself tells of the slices; there are no counters before the first restart."""
    told = cluster.get("jobset", name)["status"]["replicatedJobsStatus"]
    found = next(each for each in told if each["name"] == "worker")
    assert found.get("jobRestarts") == found.get("jobRestartsCountTowardsMax")
    return found


def back(cluster, name, counts):
    """Waits until the slices have been restarted so often and all their hosts are ready."""
    until(lambda: workers(cluster, name).get("jobRestarts") == counts, f"{counts} restarts of slices")
    until(lambda: workers(cluster, name)["ready"] == len(counts), "all slices to be ready")
    until(lambda: are_whole(cluster, name, counts), "all slices to be whole")


def are_whole(cluster, name, counts):
    """Whether `status` shows the slices restarted so often and with all their hosts ready."""
    found = rows(cluster, name)
    return [each["jobRestarts"] for each in found] == counts and all(each["ready"] == each["hosts"] for each in found)


def told(cluster, name, slices):
    """Whether JobSet has written one event for each of these restarts, and none else, whatever their order."""
    words = "applying RestartJob failure policy action (first failed job: {name}-worker-{index})"
    found = [each for each in events(cluster, name) if each[1] == "RestartJobFailurePolicyAction"]
    expected = [("Warning", "RestartJobFailurePolicyAction", words.format(name=name, index=each)) for each in slices]
    return sorted(found) == sorted(expected)


def budget(cluster, name):
    """(restarts of the whole, used of the shared budget, its size, what each slice has left)."""
    status = cluster.json("status", name)
    assert (status["phase"], status["alarms"]) == ("Running", [])
    jobset = status["jobset"]
    left = {each["budgetLeft"] for each in status["slices"]}
    return jobset["restarts"], jobset["restartsTowardMax"], jobset["maxRestarts"], left


@with_the_gate
@pytest.mark.verified("4.1", "4.2", "4.3", "4.4", "4.5", "4.8")
def test_only_the_lost_slice_restarts_and_always_as_soon(cluster):
    """All hosts are lost the second and third time, which would wait 160 and 600 s without RestartJob."""
    counting(cluster, "alone", AUTO, slices=3)
    following = Following(cluster, "alone")
    assert "jobRestarts" not in workers(cluster, "alone")
    assert budget(cluster, "alone") == (0, 0, 9, {9})
    others = uids(cluster, "pods") - {pod["metadata"]["uid"] for pod in hosts(cluster, "alone", 1).values()}
    job = cluster.get("job", "alone-worker-1")["metadata"]["uid"]
    began, _ = lose(cluster, "alone", 1, 2)
    assert waited(cluster, "alone", 1, 2, began) < FLAT
    back(cluster, "alone", [0, 1, 0])
    began, _ = lose(cluster, "alone", 1, 0, 1, 2, 3)
    assert waited(cluster, "alone", 1, 3, began) < FLAT
    back(cluster, "alone", [0, 2, 0])
    # A leader in phase Failed would let no follower in (jobset#1276), if it were not deleted with its Job
    pods = [pod["metadata"]["name"] for pod in hosts(cluster, "alone", 1).values()]
    numbers = [process(cluster, pod, "pathways-worker") for pod in pods]
    began = time.time()
    for number in numbers:
        os.kill(number, signal.SIGKILL)
    back(cluster, "alone", [0, 3, 0])
    assert waited(cluster, "alone", 1, 0, began) < FLAT
    assert others < uids(cluster, "pods")
    remade = cluster.get("job", "alone-worker-1")
    assert remade["metadata"]["uid"] != job
    assert "failed" not in remade["status"]
    for meta in (remade["metadata"], hosts(cluster, "alone", 1)[0]["metadata"]):
        assert (meta["labels"][RESTART_ATTEMPT], meta["labels"][JOB_RESTART_ATTEMPT]) == ("0", "3")
    until(lambda: told(cluster, "alone", [1, 1, 1]), "an event for each loss")
    lose(cluster, "alone", 0, 3)
    lose(cluster, "alone", 2, 1)
    back(cluster, "alone", [1, 3, 1])
    until(lambda: told(cluster, "alone", [0, 1, 1, 1, 2]), "an event for each slice")
    assert budget(cluster, "alone") == (0, 5, 9, {4})
    slices = rows(cluster, "alone")
    assert [(each["lost"], each["missing"], each["jobRestarts"]) for each in slices] == [
        (0, 0, 1),
        (0, 0, 3),
        (0, 0, 1),
    ]
    assert "RestartingJobSet" not in {each["type"] for each in cluster.get("jobset", "alone")["status"]["conditions"]}
    again = cluster.create("alone", AUTO, slices=3, command=("bash", "-c", COUNTING))
    assert again.stdout.startswith("alone is unchanged (Running).")
    assert cluster.json("wait", "alone", "--timeout=1s", code=124)["result"] == "Timeout"
    assert len(following.lives()) == 1
    ends(cluster, "alone", following)


@with_the_gate
@pytest.mark.verified("4.6", "4.7", "0.F")
def test_slices_and_the_whole_share_one_budget_and_then_it_ends(cluster):
    counting(cluster, "shared", SLICE, "--max-restarts=1", "--max-slice-restarts=1", slices=2)
    following = Following(cluster, "shared")
    following.grows(1)
    assert budget(cluster, "shared") == (0, 0, 3, {3})
    lose(cluster, "shared", 0, 1)
    back(cluster, "shared", [1, 0])
    before = uids(cluster, "pods")
    cluster.kubectl("delete", "pod", cluster.pod("shared-pathways-head"), *FORCED)
    until(lambda: cluster.json("status", "shared")["jobset"]["restarts"] == 1, "the restart of the whole")
    following.grows(2)
    back(cluster, "shared", [1, 0])
    assert before.isdisjoint(uids(cluster, "pods"))
    labels = hosts(cluster, "shared", 0)[0]["metadata"]["labels"]
    assert (labels[RESTART_ATTEMPT], labels[JOB_RESTART_ATTEMPT]) == ("1", "1")
    assert "FailurePolicy_head_or_other" in {each[1] for each in events(cluster, "shared")}
    assert budget(cluster, "shared") == (1, 2, 3, {1})
    lose(cluster, "shared", 1, 3)
    back(cluster, "shared", [1, 1])
    assert budget(cluster, "shared") == (1, 3, 3, {0})
    assert "the Job fails" in cluster.xlaunch("status", "shared").stdout
    lose(cluster, "shared", 0, 2)
    assert following.done() == 10
    assert unbroken(following)
    words = "jobset failed due to reaching max number of restarts (first failed job: shared-worker-0)"
    waited = cluster.json("wait", "shared", code=10)
    assert (waited["result"], waited["reason"], waited["message"]) == ("Failed", "ReachedMaxRestarts", words)
    status = cluster.json("status", "shared", "--exit-code", code=10)
    assert (status["phase"], [each["jobRestarts"] for each in status["slices"]]) == ("Failed", [1, 1])
    until(lambda: not cluster.get("pods"), "the head to go, and its log with it")


@with_the_gate
@pytest.mark.verified("4.10")
def test_one_restarted_container_restarts_a_slice_whose_kubelet_restarts_containers(cluster):
    shape = (SLICE, "--dry-run", "-o", "json")
    planned = json.loads(cluster.create("both", *shape, command=("bash", "-c", COUNTING)).stdout)
    worker = next(each for each in planned["spec"]["replicatedJobs"] if each["name"] == "worker")
    worker["template"]["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(planned))
    assert cluster.json("wait", "both", "--for=running", "--timeout=60s")["result"] == "Running"
    following = followed(cluster, "both")
    kill(cluster, hosts(cluster, "both", 0)[2]["metadata"]["name"], "pathways-worker")
    back(cluster, "both", [1])
    goes_on(cluster, "both")
    assert len(following.lives()) == 1
    ends(cluster, "both", following)


@with_the_gate
@pytest.mark.verified("8.8")
def test_a_worker_that_exits_0_does_not_restart_its_slice(cluster):
    with_workers(cluster, "quits", "trap 'exit 0' TERM; sleep 1000 & wait", SLICE, slices=2)
    following = followed(cluster, "quits")
    alarm = quits(cluster, "quits", 2)
    goes_on(cluster, "quits")
    obey(cluster, alarm)
    until(lambda: whole(cluster, "quits"), "the slice to be back", timeout=120)
    until(lambda: not cluster.look("status", "quits")["alarms"], "the alarm to go with the old pods")
    ends(cluster, "quits", following)


@pytest.mark.verified("4.9")
def test_without_the_gate_slice_is_refused_and_auto_is_pod(cluster):
    refused = cluster.create("ungated", SLICE, code=4).stderr
    if cluster.plane:
        assert f"Error: The API server refuses ungated. {GATE_OFF}.\nNext: Take --restart-scope=pod, or auto" in refused
    else:
        assert "runs without JobSet's feature gate RestartJob" in refused
        assert "--feature-gate RestartJob" in refused
    assert GATE_OFF in cluster.create("ungated", SLICE, "--dry-run=server", code=4).stderr
    assert cluster.get("jobsets") == []
    for action in ("Created ungated", "ungated is unchanged"):
        done = cluster.create("ungated", AUTO, command=("bash", "-c", COUNTING))
        assert done.stdout.startswith(action)
        assert f"--restart-scope=auto means pod here: {GATE_OFF}." in done.stderr
    made = cluster.get("jobset", "ungated")
    assert made["metadata"]["annotations"][SCOPE_ANNOTATION] == "pod"
    assert "rules" not in made["spec"]["failurePolicy"]
    # A line that says what auto has found is the same line
    again = cluster.create("ungated", "--restart-scope=pod", command=("bash", "-c", COUNTING))
    assert again.stdout.startswith("ungated is unchanged")
    assert cluster.json("wait", "ungated", "--for=running")["result"] == "Running"
    following = followed(cluster, "ungated")
    began, _ = lose(cluster, "ungated", 0, 2)
    assert is_about(waited(cluster, "ungated", 0, 2, began), 10, cluster, "ungated-worker-0")
    found = until(lambda: whole(cluster, "ungated", 0), "the slice to be whole")
    assert (found["lost"], found["jobRestarts"], found["budgetLeft"]) == (1, 0, 7)
    assert "jobRestarts" not in workers(cluster, "ungated")
    goes_on(cluster, "ungated")
    assert len(following.lives()) == 1
    ends(cluster, "ungated", following)
