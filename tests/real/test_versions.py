"""Every version that can be built runs: one control plane each, asked what it is and made to act."""

import copy
import json
from contextlib import contextmanager
from functools import partial

import pytest
from worlds import until

from testbed import kwok
from testbed.control_plane import ControlPlane
from testbed.upstreams import versions
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, namespaced
from xlaunch.cluster.versions import CRD, answered_version

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    "control_plane",
    [ControlPlane(kubernetes="1.37.2"), ControlPlane(jobset="0.11.1"), ControlPlane(jobset="0.10.1")],
    indirect=True,
    ids=str,
)
def test_a_jobset_becomes_pods(request, control_plane, world):
    plane = request.node.callspec.params["control_plane"]
    version = control_plane.api.request("GET", "/version").body
    assert version["gitVersion"] == f"v{plane.kubernetes}"
    world.create("train")
    until(lambda: world.get("pods"), "the head's pod")


KNOWN_AS = {"0.12.0": "0.12 or later", "0.11.1": "0.11", "0.10.1": "0.10"}
ANSWERS_AS = {**KNOWN_AS, "0.10.1": "0.10 or older"}


def jobset_of(request):
    return request.node.callspec.params["control_plane"].jobset


@pytest.mark.parametrize(
    "control_plane", [ControlPlane(jobset=version) for version in versions("jobset")], indirect=True, ids=str
)
def test_jobsets_version_is_told_though_neither_deployment_nor_label_say_it(request, control_plane, namespace, world):
    """Also to a user without any rights, who may not read CRDs and reads what the API server publishes."""
    known = KNOWN_AS[jobset_of(request)]
    nobody = control_plane.kubeconfig_of("nobody", namespace=namespace)
    for flags in (world.flags, (f"--kubeconfig={nobody}",)):
        told = world.json("version", *flags, target=False)
        assert (told["jobset"], told["jobsetSource"]) == (known.split()[0], "schema")
        assert f"JobSet {known} (by the fields of its schema)" in world.xlaunch("version", *flags, target=False).stdout
    assert str(answered_version(partial(dry_run, control_plane.api))) == ANSWERS_AS[jobset_of(request)]


def dry_run(api, body):
    return api.request("POST", namespaced(api, JOBSET_GROUP_VERSION, "jobsets"), query={"dryRun": "All"}, body=body)


@pytest.mark.parametrize(
    "control_plane", [ControlPlane(jobset="0.11.1"), ControlPlane(jobset="0.10.1")], indirect=True, ids=str
)
def test_before_0_12_slices_do_not_restart_alone(request, control_plane, world):
    why = f"RestartJob came with JobSet 0.12, and this is {KNOWN_AS[jobset_of(request)]}"
    refused = world.create("sliced", "--restart-scope=slice", code=4).stderr
    assert f"Error: The API server refuses sliced. {why}.\nNext: Take --restart-scope=pod, or auto" in refused
    for action in ("Created auto", "auto is unchanged"):
        done = world.create("auto", "--restart-scope=auto")
        assert done.stdout.startswith(action)
        assert f"--restart-scope=auto means pod here: {why}." in done.stderr
    assert [each["metadata"]["name"] for each in world.get("jobsets")] == ["auto"]


@contextmanager
def newer_schema(api):
    """The CRD takes RestartJob meanwhile, as where only the CRD was upgraded."""
    before = api.request("GET", CRD).body
    changed = copy.deepcopy(before)
    [version] = changed["spec"]["versions"]
    policy = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["failurePolicy"]
    policy["properties"]["rules"]["items"]["properties"]["action"]["enum"].append("RestartJob")
    stored = api.request("PUT", CRD, body=changed).body
    try:
        yield
    finally:
        api.request("PUT", CRD, body={**before, "metadata": stored["metadata"]})


@pytest.mark.parametrize("control_plane", [ControlPlane(jobset="0.11.1")], indirect=True, ids=str)
def test_a_controller_that_is_older_than_its_schema_restarts_no_slices(control_plane, world):
    why = "and the controller is 0.11, older than its schema"
    with newer_schema(control_plane.api):
        until(lambda: why in world.create("auto", "--restart-scope=auto", "--dry-run=server").stderr, "the new schema")


@pytest.mark.parametrize("control_plane", [ControlPlane(jobset="0.10.1")], indirect=True, ids=str)
def test_a_name_that_0_10_would_take_and_make_nothing_of_is_refused_before(control_plane, world, tmp_path):
    patch = tmp_path / "patch.json"
    patch.write_text(json.dumps({"spec": {"network": {"subdomain": None}}}))
    refused = world.create("a" * 30, f"--patch={patch}", code=2).stderr
    assert "the coordinator's address" in refused
    assert "labels have at most 63" in refused
    assert world.get("jobsets") == []


NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-0", "annotations": {kwok.NODE_ANNOTATION: "fake"}},
    "status": {resources: {"cpu": "4", "memory": "8Gi", "pods": "10"} for resources in ("allocatable", "capacity")},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod"},
    "spec": {"containers": [{"name": "main", "image": "none"}]},
}


@pytest.mark.nightly  # so that kwok need not be built for every change
@pytest.mark.parametrize("control_plane", [ControlPlane(kwok=True)], indirect=True, ids=str)
def test_kwok_runs_pods_and_ends_them(control_plane, namespace, world):
    api = control_plane.api
    api.request("POST", "/api/v1/nodes", body=NODE)
    pods = f"/api/v1/namespaces/{namespace}/pods"
    api.request("POST", pods, body=POD)
    until(lambda: world.get("pod", "pod")["status"]["phase"] == "Running", "the pod to run")
    api.request("DELETE", f"{pods}/pod")
    until(lambda: not world.get("pods"), "the pod to go")
