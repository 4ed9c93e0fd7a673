"""Kueue holds a JobSet back, tells its position, and lets it go when there is quota."""

import pytest
from worlds import until

from testbed.control_plane import ControlPlane

pytestmark = [
    pytest.mark.real,
    pytest.mark.parametrize("control_plane", [ControlPlane(kueue=True)], indirect=True, ids=str),
]

GROUP_VERSION = "kueue.x-k8s.io/v1beta2"
ROOT = f"/apis/{GROUP_VERSION}"
COVERED = ("google.com/tpu", "cpu", "memory")


def thing(kind, name, spec):
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def cluster_queue(name, quota):
    """A queue for all namespaces with that much of everything."""
    flavor = {"name": name, "resources": [{"name": each, "nominalQuota": quota} for each in COVERED]}
    groups = [{"coveredResources": COVERED, "flavors": [flavor]}]
    return thing("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups})


@pytest.fixture
def queue(control_plane, namespace):
    """A local queue without quota, and a function that gives it some."""
    api = control_plane.api
    api.request("POST", f"{ROOT}/resourceflavors", body=thing("ResourceFlavor", namespace, {}))
    api.request("POST", f"{ROOT}/clusterqueues", body=cluster_queue(namespace, "0"))
    local = thing("LocalQueue", "team", {"clusterQueue": namespace})
    api.request("POST", f"{ROOT}/namespaces/{namespace}/localqueues", body=local)

    def give(quota):
        body = {"spec": cluster_queue(namespace, quota)["spec"]}
        api.request(
            "PATCH", f"{ROOT}/clusterqueues/{namespace}", body=body, content_type="application/merge-patch+json"
        )

    return give


def test_a_workload_waits_for_quota_and_then_runs(control_plane, namespace, world, queue):
    world.create("train", "--queue=team")
    pending = f"/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/{namespace}/localqueues/team/pendingworkloads"
    [waiting] = until(lambda: control_plane.api.request("GET", pending).body["items"], "a place in the queue")
    assert waiting["metadata"]["ownerReferences"][0]["name"] == "train"
    assert waiting["positionInLocalQueue"] == 0
    assert world.get("jobset", "train")["spec"]["suspend"] is True
    assert world.get("pods") == []
    queue("1000Gi")
    until(lambda: world.get("pods"), "the head's pod")
    assert world.get("jobset", "train")["spec"]["suspend"] is False


def test_a_queue_that_does_not_exist_holds_a_workload_back(world):
    world.create("train", "--queue=nobody")
    [workload] = until(lambda: world.get("workloads.kueue.x-k8s.io"), "Kueue's Workload")
    assert [owner["name"] for owner in workload["metadata"]["ownerReferences"]] == ["train"]
    assert world.get("jobset", "train")["spec"]["suspend"] is True
    assert world.get("pods") == []
