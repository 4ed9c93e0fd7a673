"""A line from MaxText's guide runs unchanged: create, logs, status, wait, delete."""

import json
from pathlib import Path

import pytest
from worlds import until

pytestmark = pytest.mark.e2e

LINES = {each["name"]: each for each in json.loads((Path(__file__).parents[1] / "data" / "xpk_lines.json").read_text())}
NAME, OTHER = "elastic-qwen3-20261129-101500", "elastic-qwen3-20261129-113000"


@pytest.fixture
def guide(cluster):
    """The line, with few steps. The flags of the cluster, and of GKE's project with a kubeconfig, give way to ours."""
    ours = ("--cluster",) if "--cluster=local" in cluster.flags else ("--cluster", "--project", "--zone")
    argv = [word for word in LINES["guide-elastic"]["argv"] if not word.startswith(ours)]
    return [word.replace("steps=5000", "steps=40").replace("period=100", "period=10") for word in argv]


def test_the_guides_line(cluster, guide):
    made = cluster.json("workload", "create-pathways", *guide)
    assert (made["action"], made["metadata"]) == ("created", {"name": NAME, "namespace": "default"})
    again = cluster.json("workload", "create-pathways", *guide)
    assert again["action"] == "unchanged"
    logs = cluster.xlaunch("logs", NAME)
    assert "completed step: 39" in logs.stdout
    assert "restarts" in logs.stderr.lower()
    assert cluster.json("wait", NAME)["result"] == "Completed"
    status = cluster.json("status", NAME)
    assert (status["phase"], status["jobset"]["restarts"], status["jobset"]["maxRestarts"]) == ("Completed", 0, 3)
    main = next(each for each in status["head"]["containers"] if each["name"] == "main")
    assert (main["restartCount"], main["lastExit"]["code"]) == (0, 0)
    assert cluster.json("workload", "create-pathways", *guide)["action"] == "unchanged"
    cluster.xlaunch("workload", "delete", NAME, "--yes")
    assert cluster.xlaunch("status", NAME, code=3).stdout == ""


@pytest.mark.long
def test_a_lost_worker_is_recovered_in_place(cluster, guide):
    # A run of its own: what another scenario trained with this run name would be its checkpoint
    # Some 80 s of everybody's time, or 25 on the embedded cluster
    steps, argv = 400 if cluster.plane else 1200, guide
    for old, new in ((NAME, OTHER), ("steps=40", f"steps={steps}"), ("elastic-slices=1", "elastic-slices=3")):
        argv = [word.replace(old, new) for word in argv]
    cluster.xlaunch("workload", "create-pathways", *argv)
    cluster.xlaunch("wait", OTHER, "--for=running")
    cluster.xlaunch("wait", OTHER, r"--log-pattern=completed step: [2-9]\d")
    head = cluster.get("pod", cluster.pod(f"{OTHER}-pathways-head"))["metadata"]["uid"]
    force = ("--grace-period=0", "--force", "--wait=false")
    cluster.kubectl("delete", "pod", cluster.pod(f"{OTHER}-worker-2-0"), *force)
    lost = until(lambda: slice_row(cluster, 2)["lost"], "the loss to show")
    assert lost == 1
    logs = cluster.xlaunch("logs", OTHER, timeout=240).stdout
    assert "Slice down event detected" in logs
    assert f"completed step: {steps - 1}" in logs
    status = cluster.json("status", OTHER)
    assert (status["phase"], status["jobset"]["restarts"]) == ("Completed", 0)
    proxy = next(each for each in status["head"]["containers"] if each["name"] == "pathways-proxy")
    assert proxy["restartCount"] == 0
    assert cluster.get("pod", cluster.pod(f"{OTHER}-pathways-head"))["metadata"]["uid"] == head


def slice_row(cluster, index):
    return next(each for each in cluster.json("status", OTHER)["slices"] if each["index"] == index)
