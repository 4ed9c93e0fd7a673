"""Submitting, listing and deleting on a cluster that answers by itself: taken names, races, replacements."""

import json

import pytest
from following import Following, counting
from looking import uids
from losing import goes_on, unbroken
from worlds import until

from xlaunch.cluster import jobsets
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.cluster.watch import watch
from xlaunch.core.clock import SystemClock

pytestmark = pytest.mark.e2e

BRIEF = ("sleep", "0.1")


def phase(cluster, name):
    return {item["name"]: item["phase"] for item in cluster.json("workload", "list")["items"]}.get(name)


def test_the_same_line_again(cluster):
    cluster.create("again")
    assert "again is unchanged" in cluster.create("again").stdout
    assert "exists already and differs" in cluster.create("again", command=("sleep", "601"), code=5).stderr
    assert "left alone" in cluster.create("again", "--if-exists=skip", command=("sleep", "601")).stdout
    runs = cluster.create("again", "--if-exists=replace-finished", "--yes", command=("sleep", "601"), code=5).stderr
    assert "exists already and differs" in runs


def test_a_replacement_has_new_pods_only(cluster):
    """Whoever follows the old one, or waits for its end, is not led on to the new one."""
    counting(cluster, "swap")
    old, before = uids(cluster, "pods"), uids(cluster, "jobsets")
    following, waiting = Following(cluster, "swap"), cluster.start("wait", "swap", "-o", "json")
    following.grows(1)
    assert waiting.stderr.readline() == b"Waiting: swap is Running\n"
    made = cluster.create("swap", "--if-exists=replace", "--yes", command=("sleep", "601"))
    assert "Replaced swap" in made.stdout
    cluster.xlaunch("wait", "swap", "--for=running")
    new = uids(cluster, "pods")
    assert (len(new), old & new) == (5, set())
    assert following.done() == 10
    assert following.said[-1] == "swap was deleted."
    assert (len(following.lives()), unbroken(following)) == (1, True)
    told = json.loads(waiting.communicate(timeout=60)[0])
    assert (waiting.returncode, told["result"] in ("Deleting", "Deleted")) == (10, True)
    assert before.isdisjoint(uids(cluster, "jobsets"))
    status = cluster.json("status", "swap")
    assert (status["jobset"]["restarts"], [each["lost"] for each in status["slices"]]) == (0, [0])
    goes_on(cluster, "swap")


def test_ends_are_remembered(cluster):
    cluster.create("good", command=BRIEF)
    cluster.xlaunch("wait", "good")
    assert "has already completed at" in cluster.create("good", command=BRIEF).stdout
    cluster.create("bad", command=("false",))
    cluster.xlaunch("wait", "bad", code=10)
    assert "has failed already" in cluster.create("bad", command=("false",), code=10).stderr
    assert "exists (Failed) and is left alone" in cluster.create("bad", "--if-exists=skip").stdout
    assert cluster.create("bad", "--if-exists=replace-finished", "--yes", command=BRIEF).stdout.startswith("Replaced")


def test_suspended_and_resumed_as_the_error_says(cluster):
    cluster.create("held", "--queue=none")
    cluster.patch("jobset", "held", {"spec": {"suspend": True}})
    until(lambda: phase(cluster, "held") == "Suspended", "the suspension")
    refused = cluster.create("held", "--queue=none", code=5).stderr
    advice = refused.partition("Resume it: kubectl ")[2].strip()
    cluster.kubectl(*advice.replace("'", "").split())
    assert "is unchanged" in cluster.create("held", "--queue=none").stdout


def test_two_creators_of_one_name(cluster):
    """Whoever comes second sees the other's: never two, never an error of the server."""
    common = ["--tpu-type=v5litepod-16", "--num-slices=1", "--docker-image=i", "--pathways-gcs-location=gs://bucket/t"]
    lines = [
        ["workload", "create-pathways", "--workload=race", *common, "-o", "json", "--", "sleep", str(600 + index % 2)]
        for index in range(4)
    ]
    runs = [cluster.start(*line) for line in lines]
    ended = [(run.communicate(timeout=60)[0], run.returncode) for run in runs]
    codes = sorted(code for _, code in ended)
    actions = [json.loads(out).get("action") for out, code in ended if code == 0]
    assert codes == [0, 0, 5, 5]
    assert sorted(actions) == ["created", "unchanged"]


def test_delete_returns_when_the_last_pod_is_gone(cluster):
    cluster.create("gone-1")
    cluster.create("gone-2")
    cluster.create("stays")
    cluster.xlaunch("wait", "gone-1", "--for=running")
    body = cluster.json("workload", "delete", "gone-*", "--yes")
    assert [item["name"] for item in body["items"]] == ["gone-1", "gone-2"]
    names = {pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] for pod in cluster.get("pods")}
    assert names <= {"stays"}
    assert phase(cluster, "stays")


def test_deleted_while_it_starts(cluster):
    cluster.create("early", slices=2)
    until(lambda: cluster.get("pods"), "its first pod")
    cluster.xlaunch("workload", "delete", "early", "--yes")
    assert [cluster.get(kind) for kind in ("jobsets", "jobs", "pods")] == [[], [], []]
    assert "Created early" in cluster.create("early", slices=2).stdout


def test_a_pod_that_hangs_is_named(cluster):
    cluster.create("stuck")
    cluster.xlaunch("wait", "stuck", "--for=running")
    pod = cluster.pod("stuck-pathways-head")
    cluster.patch("pod", pod, {"metadata": {"finalizers": ["example.com/hold"]}})
    try:
        hung = cluster.xlaunch("workload", "delete", "stuck", "--yes", "--timeout=3", code=124)
        assert "stuck is not gone after 3 s" in hung.stderr
        assert f"pod {pod} has the finalizers example.com/hold" in hung.stderr
        assert phase(cluster, "stuck") == "Deleting"
        assert "is being deleted" in cluster.create("stuck", code=5).stderr
    finally:
        cluster.patch("pod", pod, {"metadata": {"finalizers": None}})
    cluster.xlaunch("workload", "delete", "stuck", "--yes", "--ignore-not-found")


def test_a_watch_tells_a_life_in_order(cluster):
    """From creation to deletion, through requests that last a second each."""
    connection = connect(TargetOptions(kubeconfig=str(cluster.kubeconfig)), {})
    changes = watch(connection.api, jobsets.path(connection.api), clock=SystemClock(), timeout=300, period=1)
    assert next(changes).type == "LISTED"
    cluster.create("alive", command=BRIEF)
    cluster.xlaunch("wait", "alive")
    cluster.xlaunch("workload", "delete", "alive", "--yes")
    seen = []
    for change in changes:
        if change.type != "TICK":
            seen.append((change.type, int(change.object["metadata"]["resourceVersion"])))
        if change.type == "DELETED":
            break
    assert seen[0][0] == "ADDED"
    assert [version for _, version in seen] == sorted({version for _, version in seen})


def test_versions(cluster):
    told = cluster.json("version")
    assert told["kubernetes"] == json.loads(cluster.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]
    assert told["jobset"] is not None
