"""The two clusters that are compared: the embedded one, and Kubernetes 1.37.2 with the node agent attached."""

from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest
from worlds import attached, rehearsal

from differential.clusters import cluster
from differential.shapes import ROLE, SLOT
from differential.side_by_side import compared
from testbed.control_plane import ControlPlane
from xlaunch.cluster.api import MERGE
from xlaunch.cluster.connect import TargetOptions, connect

# The real one takes its time anyway; so a back-off of 10 s leaves time to look at both, also on a busy machine
SCALE = 1.0
# As many sequences run side by side, each on the nodes of two slices
SLOTS = 6
SIZE = ("--tpu-type=v5litepod-16", f"--slices={2 * SLOTS}", f"--heads={SLOTS}")


@pytest.fixture(scope="module")
def kubeconfigs(request, tmp_path_factory, stage):
    """Those of both, with time scales: by name. A module's GATES are those of JobSet that both have on."""
    gates = getattr(request.module, "GATES", ())

    def start(stack):
        real = stage.launch(ControlPlane(kubernetes="1.37.2", gates=dict.fromkeys(gates, True)), stack)
        stack.enter_context(attached(real.kubeconfig, *SIZE, log=real.directory / "node-agent.log"))
        flags = (*SIZE, f"--time-scale={SCALE}", *(f"--feature-gate={gate}" for gate in gates))
        embedded = stack.enter_context(rehearsal(tmp_path_factory.mktemp("home"), *flags))
        found = {"embedded": (embedded, SCALE), "real": (real.kubeconfig, 1.0)}
        for kubeconfig, _ in found.values():
            make_slots(kubeconfig)
        return found

    return stage.get(("differential", gates), start)


def make_slots(kubeconfig):
    """Gives every slot two slices, and a node for heads."""
    api = connect(TargetOptions(kubeconfig=str(kubeconfig)), {}).api
    for node in api.request("GET", "/api/v1/nodes").body["items"]:
        name = node["metadata"]["name"]
        worker = name.startswith("tpu-")
        slot = int(name.split("-")[1]) // 2 if worker else int(name.rpartition("-")[2])
        body = {"metadata": {"labels": {SLOT: str(slot), ROLE: "worker" if worker else "head"}}}
        api.request("PATCH", f"/api/v1/nodes/{name}", body=body, content_type=MERGE)


@pytest.fixture(scope="module")
def twins(kubeconfigs):
    """A function from the name of a new namespace to it on both clusters."""

    def make(namespace):
        return [cluster(name, path, namespace, scale) for name, (path, scale) in kubeconfigs.items()]

    return make


@pytest.fixture(scope="module")
def outcomes(request, twins):
    """What each sequence of this module has shown, in the making: they mostly wait, so they run side by side."""
    ours = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    mine = [item.callspec.params["steps"] for item in ours]
    slots = Queue()
    for slot in range(SLOTS):
        slots.put(slot)
    with ThreadPoolExecutor(SLOTS) as pool:
        yield {each.name: pool.submit(compared, each, twins, slots) for each in mine}
        pool.shutdown(cancel_futures=True)
