"""The head: its main ends with 0, with an error or by SIGKILL, or its pod is deleted; with restarts left or not."""

import json

import pytest
from following import Following, counting, kill
from looking import ATTEMPT, FORCED, Obeying, conditions, events, names, uids
from losing import goes_on, unbroken
from worlds import until

pytestmark = pytest.mark.e2e


def container(status, name):
    """What `status` says of a container of the head."""
    return next(each for each in status["head"]["containers"] if each["name"] == name)


def workers_go(cluster, name):
    """The head's pod and Job stay, and nothing else."""
    until(lambda: names(cluster, "pods") == [f"{name}-pathways-head-0-0"], "the workers' pods to go")
    assert names(cluster, "jobs") == [f"{name}-pathways-head-0"]


@pytest.mark.verified("6.4")
def test_main_exits_0(cluster, tmp_path):
    main = Obeying(tmp_path)
    cluster.create("good", command=main.command)
    following = Following(cluster, "good")
    waiting = cluster.start("wait", "good", "-o", "json")
    until(lambda: following.lines, "the first line")
    cluster.xlaunch("wait", "good", "--for=running")
    main.end(1, 0)
    assert following.done() == 0
    waited = json.loads(waiting.communicate(timeout=60)[0])
    assert (waiting.returncode, waited["result"], waited["exitCode"]) == (0, "Completed", 0)
    assert following.lines == ["begin 1", "end 1"]
    assert following.said[-1] == "good has completed. jobset completed successfully."
    workers_go(cluster, "good")
    assert conditions(cluster, "jobset", "good")["Completed"] == (
        "True",
        "AllJobsCompleted",
        "jobset completed successfully",
    )
    job = conditions(cluster, "job", "good-pathways-head-0")
    assert job["Complete"] == ("True", "CompletionsReached", "Reached expected number of succeeded pods")
    assert job["SuccessCriteriaMet"][0] == "True"
    status = cluster.json("status", "good", "--exit-code")
    assert (status["phase"], status["reason"], status["jobset"]["restarts"]) == ("Completed", "AllJobsCompleted", 0)
    assert (status["head"]["phase"], container(status, "main")["exit"]["code"]) == ("Succeeded", 0)
    assert cluster.xlaunch("logs", "good", "--no-follow").stdout == "begin 1\nend 1\n"
    assert cluster.json("wait", "good", "--for=running", code=10)["result"] == "Completed"


@pytest.mark.verified("6.2", "6.3")
def test_main_exits_with_an_error_until_no_restart_is_left(cluster, tmp_path):
    main = Obeying(tmp_path)
    cluster.create("bad", "--max-restarts=1", command=main.command)
    following = Following(cluster, "bad")
    until(lambda: following.lines == ["begin 1"], "the first life")
    cluster.xlaunch("wait", "bad", "--for=running")
    main.end(1, 3)
    until(lambda: "begin 2" in following.lines, "the second life")
    following.says("is replaced by bad-pathways-head-0-0-")
    cluster.xlaunch("wait", "bad", "--for=running")
    status = cluster.json("status", "bad")
    assert (status["phase"], status["jobset"]["restarts"], status["jobset"]["maxRestarts"]) == ("Running", 1, 1)
    assert (container(status, "main")["restartCount"], container(status, "main")["lastExit"]) == (0, None)
    printed = cluster.xlaunch("logs", "bad", "--no-follow")
    assert printed.stdout == "begin 2\n"
    assert "1st restart" in printed.stderr
    main.end(2, 4)
    assert following.done() == 10
    assert following.lines == ["begin 1", "end 1", "begin 2", "end 2"]
    assert any("main ended with exit code 3" in line for line in following.said)
    assert following.said[-2] == "main ended with exit code 4."
    exhausted = "jobset failed due to reaching max number of restarts (first failed job: bad-pathways-head-0)"
    assert following.said[-3] == f"bad has failed (ReachedMaxRestarts). {exhausted}."
    workers_go(cluster, "bad")
    assert conditions(cluster, "jobset", "bad")["Failed"] == ("True", "ReachedMaxRestarts", exhausted)
    waited = cluster.json("wait", "bad", code=10)
    assert (waited["result"], waited["reason"], waited["exitCode"]) == ("Failed", "ReachedMaxRestarts", 4)
    status = cluster.json("status", "bad", "--exit-code", code=10)
    assert (status["phase"], status["message"], status["head"]["phase"]) == ("Failed", exhausted, "Failed")
    assert cluster.xlaunch("logs", "bad", code=10).stdout == "begin 2\nend 2\n"
    assert cluster.xlaunch("logs", "bad", "--exit-zero", "--tail=1").stdout == "end 2\n"


def test_containers_are_killed(cluster):
    """Proxy and worker restart in place and are counted where they are; main does not, and all begins anew."""
    counting(cluster, "shot", "--max-restarts=1", slices=2)
    following = Following(cluster, "shot")
    following.grows(1)
    head, worker = cluster.pod("shot-pathways-head"), cluster.pod("shot-worker-1-2")
    kill(cluster, head, "pathways-proxy")
    kill(cluster, head, "pathways-rm")
    kill(cluster, worker, "pathways-worker")

    def counts():
        status = cluster.json("status", "shot")
        slices = [
            (each["ready"], each["inPlaceRestarts"], each["lost"], each["budgetLeft"]) for each in status["slices"]
        ]
        restarts = [container(status, f"pathways-{each}")["restartCount"] for each in ("proxy", "rm")]
        return restarts, slices, status["jobset"]["restarts"]

    until(lambda: counts() == ([1, 1], [(4, 0, 0, 8), (4, 1, 0, 6)], 0), "each restart to be counted where it was")
    assert len(following.lives()) == 1
    goes_on(cluster, "shot")
    kill(cluster, head, "main")
    following.grows(2)
    following.says("main ended with exit code 137 (SIGKILL); applying RestartJobSet failure policy action")
    cluster.xlaunch("wait", "shot", "--for=running")
    status = cluster.json("status", "shot")
    assert (status["jobset"]["restarts"], container(status, "pathways-proxy")["restartCount"]) == (1, 0)
    assert [(each["inPlaceRestarts"], each["lost"], each["budgetLeft"]) for each in status["slices"]] == [(0, 0, 8)] * 2
    goes_on(cluster, "shot")
    kill(cluster, cluster.pod("shot-pathways-head"), "main")
    assert following.done() == 10
    assert following.said[-2] == "main ended with exit code 137 (SIGKILL)."
    assert (len(following.lives()), unbroken(following)) == (2, True)
    workers_go(cluster, "shot")
    status = cluster.json("status", "shot", "--exit-code", code=10)
    main = container(status, "main")
    assert (status["phase"], status["reason"], status["head"]["phase"]) == ("Failed", "ReachedMaxRestarts", "Failed")
    assert (main["exit"]["code"], main["exit"]["signal"], main["restartCount"]) == (137, "SIGKILL", 0)
    waited = cluster.json("wait", "shot", code=10)
    assert (waited["result"], waited["reason"], waited["exitCode"]) == ("Failed", "ReachedMaxRestarts", 137)
    kept = cluster.xlaunch("logs", "shot", code=10).stdout.splitlines()
    assert kept == following.lines[-len(kept) :]
    assert kept[0].endswith(" 1")


@pytest.mark.verified("6.1")
def test_the_head_pod_is_deleted_until_no_restart_is_left(cluster):
    """Everything starts anew; at the end nothing is left to read, and only who followed has the log."""
    counting(cluster, "gone", "--max-restarts=1")
    following = Following(cluster, "gone")
    following.grows(1)
    before = uids(cluster, "pods")
    cluster.kubectl("delete", "pod", cluster.pod("gone-pathways-head"), "--wait=false")
    following.grows(2)
    cluster.xlaunch("wait", "gone", "--for=running")
    assert before & uids(cluster, "pods") == set()
    assert {pod["metadata"]["labels"][ATTEMPT] for pod in cluster.get("pods")} == {"1"}
    told = "applying RestartJobSet failure policy action (first failed job: gone-pathways-head-0)"
    assert ("Warning", "RestartJobSetFailurePolicyAction", told) in events(cluster, "gone")
    following.says(told)
    status = cluster.json("status", "gone")
    assert (status["jobset"]["restarts"], status["jobset"]["maxRestarts"], status["alarms"]) == (1, 1, [])
    goes_on(cluster, "gone")
    cluster.kubectl("delete", "pod", cluster.pod("gone-pathways-head"), *FORCED)
    assert following.done() == 10
    assert (len(following.lives()), unbroken(following)) == (2, True)
    until(lambda: not cluster.get("pods"), "all pods to go")
    status = cluster.json("status", "gone", "--exit-code", code=10)
    assert (status["phase"], status["reason"], status["head"]) == ("Failed", "ReachedMaxRestarts", None)
    assert cluster.json("wait", "gone", code=10)["exitCode"] is None
    printed = cluster.xlaunch("logs", "gone", "--no-follow")
    assert printed.stdout == ""
    assert "No pod is left that has the log" in printed.stderr
    assert "No pod is left that has the log" in cluster.xlaunch("logs", "gone", code=10).stderr
