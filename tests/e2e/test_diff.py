"""What a plan would change, beside workloads that have been through webhooks and controllers."""

import pytest
from worlds import until

pytestmark = pytest.mark.e2e

SHAPE = (
    *("--tpu-type=v5litepod-16", "--docker-image=img", "--pathways-gcs-location=gs://my-bucket/tmp"),
    "--max-restarts=3",
)


def changes(text):
    """The lines that differ, without their indentation."""
    lines = [line for line in text.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return [line[0] + line[1:].strip() for line in lines]


def test_from_nothing_to_unchanged_to_changed(cluster):
    new = cluster.create("plan", "--queue=none", "--diff", code=5)
    assert new.stdout.startswith("--- /dev/null\n+++ plan/default/plan\n")
    assert "There is no plan in namespace default yet: all of it would be new." in new.stderr
    cluster.xlaunch("status", "plan", code=3)

    cluster.create("plan", "--queue=none")
    same = cluster.create("plan", "--queue=none", "--diff")
    assert (same.stdout, "No difference: plan (" in same.stderr) == ("", True)
    other = cluster.create("plan", "--queue=none", "--env=A=1", "--diff", command=("sleep", "601"), slices=2, code=5)
    wanted = {"-replicas: 1", "+replicas: 2", "+- name: A", "-- '600'", "+- '601'"}
    assert {line.replace('"', "'") for line in changes(other.stdout)} >= wanted
    assert "differs. It can't be changed in place; --if-exists=replace makes it anew." in other.stderr


def test_what_controllers_write_is_no_difference(cluster):
    """Running, suspended, resumed, restarted: the plan stays the same, until a person changes what it decides."""
    plan = ("--queue=none", "--ttl-seconds-after-finished=600")
    line = ("workload", "create-pathways", "--workload=life", *SHAPE, *plan)

    def patch(**spec):
        cluster.patch("jobset", "life", {"spec": spec})

    def compared():
        return cluster.look(*line, "--diff", "--", "sleep", "600")

    cluster.xlaunch(*line, "--", "sleep", "600")
    cluster.json("wait", "life", "--for=running", "--timeout=60s")
    assert compared()["diff"] == ""
    patch(suspend=True)
    assert compared()["diff"] == ""
    until(lambda: not cluster.get("pods") and not ready(cluster), "all to stop, and JobSet to see it")
    patch(suspend=False)
    cluster.json("wait", "life", "--for=running", "--timeout=60s")
    cluster.kubectl("delete", "pod", cluster.pod("life-pathways-head"), "--wait=false")
    until(lambda: cluster.get("jobset", "life").get("status", {}).get("restarts") == 1, "the restart")
    told = compared()
    assert (told["kind"], told["diff"], told["changed"], told["exists"]) == ("Diff", "", False, True)

    patch(ttlSecondsAfterFinished=60)
    told = cluster.json(*line, "--diff", "--", "sleep", "600", code=5)
    assert (told["changed"], told["exists"]) == (True, True)
    assert changes(told["diff"]) == ["-ttlSecondsAfterFinished: 60", "+ttlSecondsAfterFinished: 600"]


def ready(cluster):
    """How many Jobs JobSet takes as ready."""
    return sum(each["ready"] for each in cluster.get("jobset", "life")["status"]["replicatedJobsStatus"])


def test_one_that_kubectl_made_of_the_same_manifest(cluster):
    """As a platform team does it: rendered here, applied by somebody else."""
    line = ("--queue=none", "--env=HF_TOKEN=hf_old")
    manifest = cluster.create("ops", *line, "--dry-run").stdout
    cluster.kubectl("apply", "-f", "-", stdin=manifest)
    assert cluster.create("ops", *line, "--diff").stdout == ""
    told = cluster.create("ops", "--queue=none", "--env=HF_TOKEN=hf_new", "--diff", code=5)
    assert "hf_" not in told.stdout + told.stderr
    assert [line.split("value: ")[1].strip("'\"") for line in changes(told.stdout)] == ["*** (before)", "*** (after)"]


def test_a_plan_that_the_server_refuses(cluster):
    cluster.create("wrong", "--queue=none")
    for asking in ("--diff", "--dry-run=server"):
        done = cluster.create("wrong", "--queue=none", "--restart-scope=slice", asking, code=4)
        assert (done.stdout, "JobSet's feature gate RestartJob is off" in done.stderr) == ("", True)
        assert "Next: Take --restart-scope=pod, or auto" in done.stderr
