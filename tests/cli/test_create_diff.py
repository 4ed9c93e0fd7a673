"""create-pathways --diff: what is printed, what is told, what the exit code is."""

import copy
import json

import jsonschema
import pytest
from fakes.api import status_error
from support.pathways import COMMAND, IMAGE, LINE
from worlds import SCHEMA

ARGV = ("workload", "create-pathways", *LINE, *IMAGE, *COMMAND)
DIFF = (*ARGV, "--diff")


def test_an_unchanged_plan_has_no_diff(cluster):
    cluster.run(*ARGV)
    done = cluster.run(*DIFF)
    assert (done.code, done.stdout) == (0, ""), done.stderr
    assert "No difference: demo (Pending) is what the plan says." in done.stderr


def test_another_plan_is_a_diff_and_a_conflict(cluster):
    cluster.run(*ARGV)
    before = dict(cluster.store.objects)
    done = cluster.run(*DIFF, "--num-slices=2")
    assert done.code == 5
    assert done.stdout.startswith("--- live/default/demo\n+++ plan/default/demo\n")
    assert "\n-    replicas: 1\n+    replicas: 2\n" in done.stdout
    assert "--if-exists=replace" in done.stderr
    assert cluster.store.objects == before


def test_what_is_not_there_is_all_additions(cluster):
    done = cluster.run(*DIFF)
    assert done.code == 5
    assert done.stdout.startswith("--- /dev/null\n+++ plan/default/demo\n")
    assert "There is no demo in namespace default yet" in done.stderr
    assert cluster.store.objects == {}


@pytest.mark.parametrize("flags", [(), ("--num-slices=2",)])
def test_json_says_whether_it_changed(cluster, flags):
    cluster.run(*ARGV)
    done = cluster.run(*DIFF, *flags, "-o", "json")
    body = json.loads(done.stdout)
    jsonschema.validate(body, {"$ref": "#/$defs/Diff", "$defs": SCHEMA["$defs"]})
    assert (body["changed"], body["exists"]) == (bool(flags), True)
    assert bool(body["diff"]) == bool(flags)
    assert body["metadata"] == {"name": "demo", "namespace": "default"}


@pytest.mark.parametrize("flags", [(), ("--num-slices=2",)])
def test_what_is_being_deleted_is_nothing_to_rely_on(cluster, flags):
    cluster.run(*ARGV)
    [stored] = cluster.store.objects.values()
    stored["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}
    done = cluster.run(*DIFF, *flags)
    assert (done.code, bool(done.stdout)) == (5, bool(flags))
    assert f"demo is being deleted{', and differs' if flags else ''}." in done.stderr
    assert "(xlaunch wait demo --for=deleted)" in done.stderr
    body = json.loads(cluster.run(*DIFF, *flags, "-o", "json").stdout)
    assert (body["changed"], body["deleting"]) == (bool(flags), True)


def test_who_submitted_it_with_which_version_is_no_difference(cluster, xlaunch):
    env = {"KUBECONFIG": str(cluster.kubeconfig), "USER": "alice"}
    xlaunch(*ARGV, env=env, clock=cluster.clock)
    assert cluster.run(*DIFF).code == 0


def test_equal_objects_of_plans_with_other_hashes(cluster):
    """As after an upgrade whose template only says what is the default anyway."""
    cluster.run(*ARGV)
    [stored] = cluster.store.objects.values()
    stored["metadata"]["annotations"] |= {"xlaunch.dev/plan-hash": "other", "xlaunch.dev/version": "0.0.1"}
    done = cluster.run(*DIFF)
    assert done.code == 0
    assert "Yet a submission takes it for another: xlaunch 0.0.1 made it" in done.stderr


def test_values_of_credentials_are_hidden(cluster):
    cluster.run(*ARGV, "--env=HF_TOKEN=hf_abc")
    done = cluster.run(*DIFF, "--env=HF_TOKEN=hf_xyz")
    assert done.code == 5
    assert "hf_" not in done.stdout + done.stderr
    assert '"*** (before)"' in done.stdout.replace("'", '"')


def test_a_plan_that_the_server_refuses_is_compared_with_nothing(cluster):
    cluster.store.verdicts = {"JobSet": status_error(422, "Invalid", "spec: no")}
    done = cluster.run(*DIFF)
    assert (done.code, done.stdout) == (4, "")


def test_warnings_are_told(cluster):
    cluster.store.cautions = {"JobSet": ["old"]}
    done = cluster.run(*DIFF, "-o", "json")
    assert json.loads(done.stdout)["warnings"] == ["old"]
    assert "Warning from the API server: old" in done.stderr


@pytest.mark.parametrize("flag", ["--dry-run", "--dry-run=server", "--no-dry-run", "--follow", "--wait"])
def test_contradictions(cluster, flag):
    done = cluster.run(*DIFF, flag)
    assert (done.code, done.stdout) == (2, "")
    assert "contradict" in done.stderr
    assert cluster.requests == []


def test_what_to_do_about_an_existing_one_is_no_contradiction(cluster):
    cluster.run(*ARGV)
    assert cluster.run(*DIFF, "--if-exists=replace", "--yes").code == 0
    assert len(cluster.store.objects) == 1


def test_no_embedded_cluster_is_started(xlaunch):
    done = xlaunch(*DIFF, "--cluster=local")
    assert (done.code, done.stdout) == (3, "")
    assert "xlaunch local up" in done.stderr


def admitted(cluster):
    """The JobSet as Kueue leaves it when it has quota in a flavor; returns its templates from before."""
    [stored] = cluster.store.objects.values()
    templates = {job["name"]: job["template"]["spec"]["template"] for job in stored["spec"]["replicatedJobs"]}
    before = copy.deepcopy(templates)
    for name, template in templates.items():
        metadata = template.setdefault("metadata", {})
        metadata["labels"] = {**metadata.get("labels", {}), "kueue.x-k8s.io/podset": name}
        template["spec"]["nodeSelector"] = {**template["spec"].get("nodeSelector", {}), "flavor": "tpu"}
    stored["spec"]["suspend"] = False
    return before


def test_what_kueue_has_added_is_no_difference(cluster):
    cluster.run(*ARGV)
    before = admitted(cluster)
    podsets = [{"name": name, "count": 1, "template": template} for name, template in before.items()]
    [uid] = [item["metadata"]["uid"] for item in cluster.store.objects.values()]
    workload = {"metadata": {"name": "jobset-demo", "labels": {"kueue.x-k8s.io/job-uid": uid}}}
    cluster.store.put(
        {**workload, "spec": {"podSets": podsets}}, "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
    )
    done = cluster.run(*DIFF)
    assert (done.code, done.stdout) == (0, ""), done.stdout + done.stderr


def test_without_its_workload_what_kueue_has_added_is_shown_and_said(cluster):
    cluster.run(*ARGV)
    admitted(cluster)
    done = cluster.run(*DIFF)
    assert done.code == 5
    assert "flavor: tpu" in done.stdout
    assert "its Kueue Workload can't be read" in done.stderr
