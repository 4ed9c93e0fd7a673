"""What the API server says to a plan before it is submitted; that nothing comes of asking."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from refusing import changed, rendered
from worlds import until

from xlaunch.cluster.dry_run import DryRun
from xlaunch.cluster.verdicts import summary
from xlaunch.core.clock import SystemClock
from xlaunch.core.plan import finished

pytestmark = pytest.mark.e2e

RENDERED = Path(__file__).parents[1] / "golden" / "create-pathways"


def asked(cluster, manifest):
    """What the server says to a manifest that xlaunch itself would not have rendered."""
    return DryRun(cluster.api, finished(manifest), clock=SystemClock(), timeout=10.0, notice=print).report()


def traces(cluster, name):
    """All that there is of a workload: its objects, and events about them."""
    found = cluster.get("jobsets,jobs,pods,services,events")
    told = [item.get("involvedObject", item["metadata"])["name"] for item in found]
    return [each for each in told if each.startswith(name)]


def pod_of(manifest, job):
    return manifest["spec"]["replicatedJobs"][job]["template"]["spec"]["template"]["spec"]


def test_a_plan_that_is_accepted_is_stored_as_was_said(cluster):
    done = cluster.create("asked", "--queue=none", "--dry-run=server", slices=2)
    assert (
        "Accepted by the API server, and nothing was created: JobSet asked, Job asked-pathways-head-0, "
        "Pod asked-pathways-head-0-0, Jobs asked-worker-0 to asked-worker-1, Pod asked-worker-1-3."
    ) in done.stderr
    assert done.stdout == cluster.create("asked", "--queue=none", "--dry-run", slices=2).stdout
    said = json.loads(cluster.create("asked", "--queue=none", "--dry-run=server", "-o", "json", slices=2).stdout)
    assert traces(cluster, "asked") == []

    cluster.create("asked", "--queue=none", slices=2)
    made = cluster.get("jobset", "asked")
    assert made["spec"] == said["spec"]
    assert made["metadata"]["annotations"] == said["metadata"]["annotations"]


def test_a_workload_that_runs_is_left_alone(cluster):
    cluster.create("taken", "--queue=none")
    cluster.json("wait", "taken", "--for=running", "--timeout=60s")
    pods = {pod["metadata"]["uid"] for pod in cluster.get("pods")}
    version = cluster.get("jobset", "taken")["metadata"]["resourceVersion"]
    assert (
        "taken exists already (Running), of the same plan"
        in cluster.create("taken", "--queue=none", "--dry-run=server").stderr
    )
    other = cluster.create("taken", "--queue=none", "--dry-run=server", "-o", "json", slices=2)
    assert "taken exists already (Running), of another plan; --diff shows what differs" in other.stderr
    # Its own Job is in nobody's way
    assert "Jobs taken-worker-0 to taken-worker-1, Pod" in other.stderr
    said = json.loads(other.stdout)
    assert (said["metadata"]["name"], said["spec"]["replicatedJobs"][1]["replicas"]) == ("taken", 2)
    assert cluster.get("jobset", "taken")["metadata"]["resourceVersion"] == version
    assert {pod["metadata"]["uid"] for pod in cluster.get("pods")} == pods


def test_what_only_pods_are_refused_for(cluster):
    """The JobSet and its Jobs are accepted, so a submission would have ended in a head that never comes."""
    asking = ("workload", "create-pathways", "--workload=needy", "--tpu-type=v5litepod-16", "--docker-image=img")
    more = ("--pathways-gcs-location=gs://my-bucket/tmp", "--service-account=nobody", "--dry-run=server", "--", "true")
    error = cluster.json(*asking, *more, code=4)
    assert [(each["kind"], each["name"]) for each in error["refusals"]] == [
        ("Pod", "needy-pathways-head-0-0"),
        ("Pod", "needy-worker-0-3"),
    ]
    words = 'error looking up service account default/nobody: serviceaccount "nobody" not found'
    assert all(words in each["message"] for each in error["refusals"])
    assert traces(cluster, "needy") == []
    said = cluster.xlaunch(*asking, *more, code=4).stderr
    assert said.count("Refused: Pod ") == 2
    assert (
        "Error: The API server refuses 2 objects of needy. Pod needy-pathways-head-0-0, Pod needy-worker-0-3." in said
    )


def test_what_we_render_is_taken_whole(cluster):
    """All golden manifests: JobSet, Jobs and pods, but for what one of them names and one needs a gate for."""
    wrong = {}
    for path in sorted(RENDERED.glob("*.yaml")):
        manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
        manifest["metadata"]["namespace"] = "default"
        report = asked(cluster, manifest)
        assert report.warnings == {}
        if report.refusals:
            wrong[path.stem] = {(each.kind, each.message.rpartition(": ")[2]) for each in report.refusals}
    assert wrong == {
        "every-flag": {("Pod", 'serviceaccount "runner" not found')},
        "slice-scope": {("JobSet", "JobSet's feature gate RestartJob is off")},
    }


@pytest.mark.verified("11.9")
def test_the_child_jobs_are_looked_into(cluster):
    """JobSet's webhook takes a mount of a volume that there is not; each Job is refused, in Kubernetes' words."""

    def unknown_volume(manifest):
        pod_of(manifest, 1)["containers"][0]["volumeMounts"] = [{"name": "nowhere", "mountPath": "/data"}]

    report = asked(cluster, changed(rendered(cluster, "bad", "--num-slices=3"), unknown_volume))
    assert report.accepted == ["JobSet bad", "Job bad-pathways-head-0", "Pod bad-pathways-head-0-0"]
    words = 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "nowhere"'
    assert [(each.kind, each.name, each.message) for each in report.refusals] == [
        ("Job", f"bad-worker-{index}", words) for index in range(3)
    ]
    assert list(summary(report.refusals)) == ["Jobs bad-worker-0 to bad-worker-2"]


def test_a_refused_jobset_hides_nothing(cluster):
    def wrong(manifest):
        manifest["spec"]["failurePolicy"]["restartStrategy"] = "InPlaceRestart"
        pod_of(manifest, 0)["containers"][0]["volumeMounts"] = [{"name": "nowhere", "mountPath": "/data"}]
        pod_of(manifest, 1)["serviceAccountName"] = "nobody"
        # What JobSet's webhook fills in
        del pod_of(manifest, 1)["restartPolicy"]

    report = asked(cluster, changed(rendered(cluster, "bad"), wrong))
    assert [(each.kind, each.name) for each in report.refusals] == [
        ("JobSet", "bad"),
        ("Job", "bad-pathways-head-0"),
        ("Pod", "bad-worker-0-3"),
    ]


def test_names_are_too_long_for_the_children(cluster):
    """Beyond 39 characters xlaunch itself refuses; the server says the same of JobSet and children."""
    manifest = rendered(cluster, "a" * 37)
    renamed = copy.deepcopy(manifest)
    renamed["metadata"]["name"] = "a" * 56
    assert asked(cluster, manifest).refusals == []
    refused = {each.kind for each in asked(cluster, renamed).refusals}
    assert refused >= {"JobSet", "Job"}


def test_a_namespace_that_is_not_there(cluster):
    done = cluster.create("lost", "--namespace=nowhere", "--dry-run=server", code=3)
    assert "Error: There is no namespace nowhere." in done.stderr


def test_a_namespace_that_goes_refuses_all(cluster):
    cluster.kubectl("create", "namespace", "leaving")
    until(lambda: cluster.get("serviceaccounts", None, "-n", "leaving"), "its service account")
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.com/held"]}}
    cluster.kubectl("create", "-n", "leaving", "-f", "-", stdin=json.dumps(held))
    try:
        cluster.kubectl("delete", "namespace", "leaving", "--wait=false")
        done = cluster.create("late", "--namespace=leaving", "--dry-run=server", code=4)
        assert "The API server refuses 5 objects of late" in done.stderr
        assert "namespace leaving is being terminated" in done.stderr
    finally:
        cluster.patch("configmap", "held", {"metadata": {"finalizers": []}}, "--namespace=leaving")
