"""logs, status and wait through what happens to a workload: nothing lost, nothing twice, and true exit codes."""

import os
import signal

import pytest
from following import Following, counting, kill
from losing import goes_on
from worlds import World, until

pytestmark = pytest.mark.e2e


def test_every_line_once_across_a_restart_of_the_container(cluster):
    """A sidecar is killed and restarts in place: its log goes on with the next instance."""
    counting(cluster, "inplace")
    following = Following(cluster, "inplace", "--container=pathways-proxy")
    until(lambda: following.lines, "its first line")
    pod = cluster.pod("inplace-pathways-head")
    kill(cluster, pod, "pathways-proxy")
    following.says("pathways-proxy has restarted in pod")
    proxy = until(lambda: restarted(cluster, "inplace", "pathways-proxy"), "the restart to show")
    assert (proxy["restartCount"], proxy["lastExit"]["code"], proxy["lastExit"]["signal"]) == (1, 137, "SIGKILL")
    goes_on(cluster, "inplace")
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
