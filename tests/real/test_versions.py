"""Every version that can be built runs: one control plane each, asked what it is and made to act."""

import pytest
from worlds import until

from testbed import kwok
from testbed.control_plane import ControlPlane

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
