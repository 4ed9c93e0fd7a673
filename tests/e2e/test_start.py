"""A workload starts in order: the head first, and its slices once it is ready."""

import json

import pytest
from following import COUNTING, Following
from looking import conditions, events, names, refusals
from losing import ends, whole
from outages import HEAD_NODES, PodHistory, cordoned, is_head_first
from worlds import until

pytestmark = pytest.mark.e2e

STARTED = ("Normal", "InOrderStartupPolicyInProgress", "in order startup policy is in progress")
COMPLETED = ("Normal", "InOrderStartupPolicyCompleted", "in order startup policy has completed")


def told(cluster, name):
    """The events that bracket the start, in order."""
    return [each for each in events(cluster, name) if each in (STARTED, COMPLETED)]


@pytest.mark.verified("5.1")
def test_no_worker_is_made_before_the_head_is_ready(cluster):
    with PodHistory(cluster) as history:
        with cordoned(cluster, HEAD_NODES):
            cluster.create("orderly", slices=2, command=("bash", "-c", COUNTING))
            status = until(lambda: held(cluster, "orderly"), "the head to be held")
            assert (status["jobset"]["restarts"], status["alarms"]) == (0, [])
            assert [(each["ready"], each["missing"], each["lost"]) for each in status["slices"]] == [(0, 0, 0)] * 2
            late = cluster.json("wait", "orderly", "--for=running", "--timeout=1s", code=124)
            assert (late["result"], "is not scheduled" in late["message"]) == ("Timeout", True)
            assert "is not scheduled" in cluster.xlaunch("logs", "orderly", "--no-follow").stderr
            assert names(cluster, "jobs") == ["orderly-pathways-head-0"]
            assert conditions(cluster, "jobset", "orderly")["StartupPolicyInProgress"][0] == "True"
            assert told(cluster, "orderly") == [STARTED]
        following = Following(cluster, "orderly")
        assert cluster.json("wait", "orderly", "--for=running", "--timeout=60s")["result"] == "Running"
        assert is_head_first(history, "orderly")
    until(lambda: told(cluster, "orderly") == [STARTED, COMPLETED], "the start to be told")
    assert conditions(cluster, "jobset", "orderly")["StartupPolicyCompleted"][0] == "True"
    assert all(whole(cluster, "orderly", index) for index in (0, 1))
    following.grows(1)
    ends(cluster, "orderly", following)


def held(cluster, name):
    """What `status` says while the head has no node, once JobSet has seen that its Job is active."""
    found = cluster.look("status", name)
    return found if found["phase"] == "Starting" and "is not scheduled" in (found["waiting"] or "") else None


@pytest.mark.verified("11.10")
def test_a_slice_whose_job_is_refused_is_told_of(cluster):
    """By an event of the JobSet only: its phase stays Starting, and nothing fails."""
    planned = json.loads(cluster.create("bad", "--dry-run", "-o", "json", command=("bash", "-c", COUNTING)).stdout)
    [worker] = [each for each in planned["spec"]["replicatedJobs"] if each["name"] == "worker"]
    [container] = worker["template"]["spec"]["template"]["spec"]["containers"]
    container["volumeMounts"] = [*container.get("volumeMounts", ()), {"name": "nowhere", "mountPath": "/nowhere"}]
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(planned))
    following = Following(cluster, "bad")
    following.grows(1)
    status = until(lambda: (found := cluster.look("status", "bad"))["waiting"] and found, "the reason")
    assert (status["phase"], status["head"]["phase"], status["alarms"]) == ("Starting", "Running", [])
    said = (
        'Job bad-worker-0 is not created: JobCreationFailed: job "bad-worker-0" creation failed with error: Job.batch'
    )
    assert status["waiting"].startswith(said)
    assert 'Not found: "nowhere"' in status["waiting"]
    assert f"Waiting: {said}" in cluster.xlaunch("status", "bad").stdout
    late = cluster.json("wait", "bad", "--for=running", "--timeout=1s", code=124)
    assert said in late["message"]
    assert names(cluster, "jobs") == ["bad-pathways-head-0"]
    ends(cluster, "bad", following)


def test_pods_that_are_refused_are_told_of(cluster):
    """By an event of the head's Job only, which has no condition for that; and not any more once it has its pod."""
    cluster.create("poor", "--service-account=nobody", command=("bash", "-c", COUNTING))
    refused = (
        "its pod has not been created yet: Job poor-pathways-head-0 lacks pods: FailedCreate: Error creating: pods "
        '"poor-pathways-head-0-0-" is forbidden'
    )
    status = until(lambda: refusal(cluster, "poor"), "the reason")
    assert status["waiting"].startswith(refused)
    assert status["waiting"].endswith('serviceaccount "nobody" not found')
    assert f"Head: {refused}" in cluster.xlaunch("status", "poor").stdout
    following = Following(cluster, "poor")
    following.says(f"Waiting: {refused}")
    # Each try has another name for the pod, and is the same reason
    tries = until(lambda: refusals(cluster, "poor-pathways-head-0"), "a try")
    until(lambda: refusals(cluster, "poor-pathways-head-0") > tries, "one more")
    assert len([line for line in following.said if "lacks pods" in line]) == 1
    late = cluster.json("wait", "poor", "--for=running", "--timeout=1s", code=124)
    assert 'serviceaccount "nobody" not found' in late["message"]
    cluster.kubectl("create", "serviceaccount", "nobody")
    try:
        following.grows(1)
        assert cluster.json("wait", "poor", "--for=running", "--timeout=60s")["result"] == "Running"
        assert cluster.look("status", "poor")["waiting"] is None
        ends(cluster, "poor", following)
    finally:
        cluster.kubectl("delete", "serviceaccount", "nobody")


def refusal(cluster, name):
    """What `status` says once it knows why there is no pod."""
    found = cluster.look("status", name)
    return found if "FailedCreate" in (found["waiting"] or "") else None


def test_a_job_of_somebody_else_has_the_name_of_a_slices(cluster):
    """A server dry run refuses it; what is submitted all the same says what it waits for, and goes on after that."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "img"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "guest-worker-1"}}
    job["spec"] = {"suspend": True, "template": {"spec": pod}}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(job))
    keeper = "a Job of that name is there, which nothing controls"
    refused = cluster.create("guest", "--dry-run=server", slices=2, code=4).stderr
    assert f"Error: The API server refuses Job guest-worker-1. {keeper}.\nNext: Take another --workload" in refused
    assert names(cluster, "jobs") == ["guest-worker-1"]

    cluster.create("guest", slices=2, command=("bash", "-c", COUNTING))
    following = Following(cluster, "guest")
    said = f"Job guest-worker-1 is not created: {keeper}"
    until(lambda: whole(cluster, "guest", 0), "the other slice")
    status = until(lambda: (found := cluster.look("status", "guest"))["waiting"] == said and found, "the reason")
    assert (status["phase"], status["slices"][1]["ready"]) == ("Starting", 0)
    assert said in cluster.json("wait", "guest", "--for=running", "--timeout=1s", code=124)["message"]
    cluster.kubectl("delete", "job", "guest-worker-1")
    assert cluster.json("wait", "guest", "--for=running", "--timeout=60s")["result"] == "Running"
    ends(cluster, "guest", following)
