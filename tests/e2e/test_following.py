"""logs, status and wait through what happens to a workload: nothing lost, nothing twice, and true exit codes."""

import os
import signal

import pytest
from following import Following, counting, kill, rows
from worlds import World, until

pytestmark = pytest.mark.e2e

ENDING = "for n in $(seq {count}); do echo line $n; sleep 0.01; done; exit {code}"


def test_every_line_once_across_a_restart_of_the_jobset(cluster):
    counting(cluster, "follow")
    following = Following(cluster, "follow")
    following.grows(1)
    cluster.kubectl("delete", "pod", cluster.pod("follow-pathways-head"), "--wait=false")
    following.grows(2)
    cluster.xlaunch("workload", "delete", "follow", "--yes")
    assert following.done() == 10
    assert [counts == list(range(1, len(counts) + 1)) for counts in following.lives()] == [True, True]
    assert any("is replaced by follow-pathways-head-0-0-" in line for line in following.said)
    assert following.said[-1] == "follow was deleted."


def test_every_line_once_across_a_restart_of_the_container(cluster):
    """A sidecar is killed and restarts in place: its log goes on with the next instance."""
    counting(cluster, "inplace")
    following = Following(cluster, "inplace", "--container=pathways-proxy")
    following.says("Following pathways-proxy")
    pod = cluster.pod("inplace-pathways-head")
    kill(cluster, pod, "pathways-proxy")
    following.says("pathways-proxy has restarted in pod")
    proxy = until(lambda: restarted(cluster, "inplace", "pathways-proxy"), "the restart to show")
    assert (proxy["restartCount"], proxy["lastExit"]["code"], proxy["lastExit"]["signal"]) == (1, 137, "SIGKILL")
    logs = [cluster.kubectl("logs", pod, "-c", "pathways-proxy", *more) for more in (["--previous"], [])]
    until(lambda: len(following.lines) >= sum(len(log.splitlines()) for log in logs), "all lines")
    cluster.xlaunch("workload", "delete", "inplace", "--yes")
    assert following.done() == 10
    expected = "".join(logs).splitlines()
    assert following.lines[: len(expected)] == expected
    assert f"pathways-proxy has restarted in pod {pod} (restart 1, after exit 137 (SIGKILL))" in following.said


def restarted(cluster, name, container):
    """The container's row once it has been restarted."""
    found = cluster.json("status", name)["head"]["containers"]
    return next((each for each in found if each["name"] == container and each["restartCount"]), None)


@pytest.mark.parametrize(("code", "exit_code", "result"), [(0, 0, "Completed"), (3, 10, "Failed")])
def test_the_end_has_one_exit_code_everywhere(cluster, code, exit_code, result):
    script = ENDING.format(count=50, code=code)
    cluster.create("ends", "--max-restarts=0", command=("bash", "-c", script))
    logs = cluster.xlaunch("logs", "ends", code=exit_code)
    assert logs.stdout.splitlines() == [f"line {n}" for n in range(1, 51)]
    waited = cluster.json("wait", "ends", code=exit_code)
    assert (waited["result"], waited["exitCode"]) == (result, code)
    status = cluster.json("status", "ends", "--exit-code", code=exit_code)
    assert status["phase"] == result
    assert cluster.xlaunch("logs", "ends", "--no-follow").stdout == logs.stdout
    assert cluster.xlaunch("logs", "ends", "--no-follow", "--tail=2").stdout == "line 49\nline 50\n"
    assert cluster.xlaunch("logs", "ends", "--exit-zero", "--tail=1").stdout == "line 50\n"


def test_lost_hosts_show_at_once_with_their_wait(cluster):
    counting(cluster, "loses", slices=2)
    # Three of them, which are missing for 40 s of the cluster: one would be back before a busy machine has looked
    lost = [cluster.pod(f"loses-worker-1-{host}") for host in (1, 2, 3)]
    cluster.kubectl("delete", "pod", *lost, "--grace-period=0", "--force", "--wait=false")
    row = until(lambda: next((each for each in rows(cluster, "loses") if each["missing"]), None), "the loss to show")
    assert (row["index"], row["ready"], row["missing"], row["lost"], row["budgetLeft"]) == (1, 1, 3, 3, 5)
    assert 0 <= row["nextReplacementSeconds"] <= 40
    whole = until(lambda: rows(cluster, "loses")[1]["ready"] == 4 and rows(cluster, "loses")[1], "the replacement")
    assert (whole["missing"], whole["lost"], whole["nextReplacementSeconds"]) == (0, 3, 80.0)
    assert rows(cluster, "loses")[0]["lost"] == 0


def test_a_line_is_waited_for(cluster):
    counting(cluster, "speaks")
    found = cluster.json("wait", "speaks", r"--log-pattern=^\d+ 30$", "--timeout=60s")
    assert found["result"] == "Matched"
    assert cluster.json("wait", "speaks", "--log-pattern=never", "--timeout=2s", code=124)["result"] == "Timeout"
    assert cluster.json("wait", "speaks", "--for=done", "--timeout=1s", code=124)["result"] == "Timeout"
    watching = cluster.start("wait", "speaks", "--for=done")
    assert watching.stderr.readline() == b"Waiting: speaks is Running\n"
    cluster.xlaunch("workload", "delete", "speaks", "--yes")
    watching.communicate(timeout=60)
    assert watching.returncode == 10
    cluster.xlaunch("wait", "speaks", "--for=deleted")


def test_sigterm_leaves_the_workload_and_says_how_to_go_on(cluster):
    counting(cluster, "stays")
    following = Following(cluster, "stays", "--tail=1")
    following.grows(1)
    following.process.terminate()
    assert following.done() == 143
    flags = " ".join(cluster.flags)
    assert following.said[-1] == f"stays keeps running. Go on with: xlaunch logs stays {flags}"
    assert cluster.json("status", "stays")["phase"] == "Running"


def test_a_cluster_that_dies_ends_what_follows_it(tmp_path):
    world = World(tmp_path, ("--cluster=local:dies",))
    up = world.json("local", "up", "--name=dies", "--tpu-type=v5litepod-16", "--time-scale=0.1", target=False)
    try:
        counting(world, "train")
        following = Following(world, "train", "--tail=1")
        following.grows(1)
        waiting = world.start("wait", "train")
        assert waiting.stderr.readline() == b"Waiting: train is Running\n"
    finally:
        os.kill(up["pid"], signal.SIGKILL)
    assert following.done() == 3
    assert following.said[-2] == "Error: The embedded cluster dies has ended, with all that ran there."
    waiting.communicate(timeout=60)
    assert waiting.returncode == 3
