"""A worker's Job fails: the JobSet starts everything anew, as often as it may; then it fails, and the log is gone."""

import json

import pytest
from following import Following, counting
from looking import ATTEMPT, FORCED, conditions, events, names, uids
from losing import unbroken
from worlds import until

pytestmark = pytest.mark.e2e

CULPRIT = "(first failed job: again-worker-1)"
APPLIED = f"applying RestartJobSet failure policy action {CULPRIT}"
EXHAUSTED = f"jobset failed due to reaching max number of restarts {CULPRIT}"


def reasons(cluster, name):
    return [reason for _, reason, _ in events(cluster, name)]


@pytest.mark.verified("0.F", "3.1", "3.2", "5.6")
def test_a_worker_exhausts_the_restarts(cluster):
    """No loss is allowed: the first fails the slice's Job, and that the whole; the second ends it."""
    counting(cluster, "again", "--max-slice-restarts=0", "--max-restarts=1", slices=2)
    following = Following(cluster, "again")
    following.grows(1)
    pods, head = uids(cluster, "pods"), cluster.pod("again-pathways-head")
    cluster.kubectl("delete", "pod", cluster.pod("again-worker-1-2"), *FORCED)
    following.grows(2)
    following.says(f"Pod {head} is replaced by {cluster.pod('again-pathways-head')} (JobSet restarts: 1)")
    following.says(APPLIED)
    assert cluster.json("wait", "again", "--for=running")["result"] == "Running"
    assert uids(cluster, "pods") & pods == set()
    assert {pod["metadata"]["labels"][ATTEMPT] for pod in cluster.get("pods")} == {"1"}
    told = events(cluster, "again")
    assert ("Warning", "DefaultFailurePolicy", APPLIED) in told
    assert ("Warning", "RestartJobSetFailurePolicyAction", APPLIED) in told
    until(lambda: ("Normal", "JobsReady", "all jobs are ready") in events(cluster, "again"), "the event")
    assert "BackoffLimitExceeded" in reasons(cluster, "again-worker-1")
    until(lambda: conditions(cluster, "jobset", "again")["RestartingJobSet"][0] == "False", "the restart to end")
    status = cluster.json("status", "again")
    assert (status["jobset"]["restarts"], status["jobset"]["restartsTowardMax"]) == (1, 1)
    assert [(each["lost"], each["budgetLeft"], each["ready"]) for each in status["slices"]] == [(0, 0, 4), (0, 0, 4)]
    assert "1st restart" in cluster.xlaunch("logs", "again", "--no-follow").stderr

    cluster.kubectl("delete", "pod", cluster.pod("again-worker-1-0"), *FORCED)
    assert following.done() == 10
    assert (len(following.lives()), unbroken(following)) == (2, True)
    assert f"again has failed (ReachedMaxRestarts). {EXHAUSTED}." in following.said
    ended = conditions(cluster, "jobset", "again")
    assert ended["Failed"] == ("True", "ReachedMaxRestarts", EXHAUSTED)
    assert ended["RestartingJobSet"][:2] == ("False", "JobSetFailed")
    # For ever, as conditions freeze: JobSet saw either the outage first or the failed Job
    assert {ended[f"StartupPolicy{word}"][0] for word in ("InProgress", "Completed")} == {"True", "False"}
    until(lambda: {"ReachedMaxRestarts", "JobSetFailed"} <= set(reasons(cluster, "again")), "the events")
    until(lambda: not cluster.get("pods"), "all pods to go")
    assert names(cluster, "jobs") == ["again-worker-1"]
    printed = cluster.xlaunch("logs", "again", "--no-follow")
    assert (printed.stdout, "No pod is left that has the log" in printed.stderr) == ("", True)
    waited = cluster.json("wait", "again", code=10)
    assert (waited["reason"], waited["message"], waited["exitCode"]) == ("ReachedMaxRestarts", EXHAUSTED, None)
    status = cluster.json("status", "again", "--exit-code", code=10)
    assert (status["phase"], status["jobset"]["restarts"], status["alarms"]) == ("Failed", 1, [])
    assert status["slices"][1]["lost"] >= 1


@pytest.mark.verified("3.3")
def test_a_rule_of_its_own(cluster, tmp_path):
    """A named rule that ends it: no restart, and the rule's words are told."""
    rules = [
        {"name": "no_worker_may_fail", "action": "FailJobSet", "targetReplicatedJobs": ["worker"]},
        {"name": "once_more", "action": "RestartJobSetAndIgnoreMaxRestarts"},
    ]
    patch = tmp_path / "patch.json"
    patch.write_text(json.dumps({"spec": {"failurePolicy": {"rules": rules}}}))
    counting(cluster, "ruled", "--max-slice-restarts=0", "--max-restarts=0", f"--patch={patch}")
    cluster.kubectl("delete", "pod", cluster.pod("ruled-pathways-head"), *FORCED)
    until(lambda: cluster.json("status", "ruled")["jobset"]["restarts"] == 1, "the restart")
    until(lambda: "FailurePolicy_once_more" in reasons(cluster, "ruled"), "the event")
    cluster.xlaunch("wait", "ruled", "--for=running")
    status = cluster.json("status", "ruled")
    assert (status["jobset"]["restartsTowardMax"], status["jobset"]["maxRestarts"]) == (0, 0)
    cluster.kubectl("delete", "pod", cluster.pod("ruled-worker-0-1"), *FORCED)
    waited = cluster.json("wait", "ruled", code=10)
    assert waited["reason"] == "FailJobSetFailurePolicyAction"
    assert waited["message"] == "applying FailJobSet failure policy action (first failed job: ruled-worker-0)"
    status = cluster.json("status", "ruled", "--exit-code", code=10)
    assert (status["phase"], status["reason"], status["jobset"]["restarts"]) == ("Failed", waited["reason"], 1)
    until(lambda: not cluster.get("pods"), "the head's pod to go, and its log with it")
    assert "No pod is left that has the log" in cluster.xlaunch("logs", "ruled", code=10).stderr
