"""The two clusters that are compared: the embedded one, and Kubernetes 1.37.2 with the node agent attached."""

import pytest
from worlds import attached, rehearsal

from differential.clusters import cluster
from differential.shapes import ROLE, SLOT
from testbed.control_plane import ControlPlane
from xlaunch.cluster.api import MERGE
from xlaunch.cluster.connect import TargetOptions, connect

# The real one takes its time anyway; so a back-off of 10 s leaves time to look at both, also on a busy machine
SCALE = 1.0
# As many sequences run side by side, each on the nodes of two slices
SLOTS = 6
SIZE = ("--tpu-type=v5litepod-16", f"--slices={2 * SLOTS}", f"--heads={SLOTS}")


@pytest.fixture(scope="package")
def kubeconfigs(tmp_path_factory, control_planes):
    """Those of both, with time scales: by name."""
    plane = control_planes(ControlPlane(kubernetes="1.37.2"))
    agent = attached(plane.kubeconfig, *SIZE, log=plane.directory / "node-agent.log")
    with agent, rehearsal(tmp_path_factory.mktemp("home"), *SIZE, f"--time-scale={SCALE}") as embedded:
        found = {"embedded": (embedded, SCALE), "real": (plane.kubeconfig, 1.0)}
        for kubeconfig, _ in found.values():
            make_slots(kubeconfig)
        yield found


def make_slots(kubeconfig):
    """Gives every slot two slices, and a node for heads."""
    api = connect(TargetOptions(kubeconfig=str(kubeconfig)), {}).api
    for node in api.request("GET", "/api/v1/nodes").body["items"]:
        name = node["metadata"]["name"]
        worker = name.startswith("tpu-")
        slot = int(name.split("-")[1]) // 2 if worker else int(name.rpartition("-")[2])
        body = {"metadata": {"labels": {SLOT: str(slot), ROLE: "worker" if worker else "head"}}}
        api.request("PATCH", f"/api/v1/nodes/{name}", body=body, content_type=MERGE)


@pytest.fixture(scope="package")
def twins(kubeconfigs):
    """A function from the name of a new namespace to it on both clusters."""

    def make(namespace):
        return [cluster(name, path, namespace, scale) for name, (path, scale) in kubeconfigs.items()]

    return make
