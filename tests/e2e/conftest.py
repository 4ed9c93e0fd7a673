"""Clusters for the scenarios: each scenario is written once and runs on both control planes."""

from contextlib import ExitStack
from functools import partial

import pytest
from worlds import World, attached, rehearsal

from testbed.control_plane import ControlPlane

TIME_SCALE = "0.1"
SIZE = ("--tpu-type=v5litepod-16", "--slices=3", "--heads=3")

# What a scenario may ask for with its mark `clusters`; tests/test_scenarios.py holds that it asks for both of a kind
EMBEDDED = {
    "embedded": (),
    "embedded+RestartJob": ("--feature-gate=RestartJob",),
    "embedded-fast-nodes": ("--feature-gate=RestartJob",),
}
# A silent node is noticed after 8 to 11 s, instead of 40 to 50, and the next one is drained 5 s later, instead of 10
FAST_NODES = ("--node-monitor-period=1s", "--node-monitor-grace-period=10s", "--node-eviction-rate=0.2")
REAL = {
    "real": ControlPlane(),
    "real-1.37.2": ControlPlane(kubernetes="1.37.2"),
    "real+RestartJob": ControlPlane(gates={"RestartJob": True}),
    "real-fast-nodes": ControlPlane(gates={"RestartJob": True}, arguments={"kube-controller-manager": FAST_NODES}),
}
# What the node agent of a real one gets beside its size: a heartbeat every 2 s
AGENTS = {"real-fast-nodes": ("--node-lease-seconds=8",)}


@pytest.fixture(scope="session")
def clusters(tmp_path_factory, stage):
    """Gives a cluster by its label: an embedded one stays until the run ends, a real one until another is asked for.

    The time of an embedded one goes ten times as fast; a real control plane has the node agent attached, and the time
    of everybody.
    """
    found = {}

    def embedded(label):
        home = tmp_path_factory.mktemp("home")
        up = rehearsal(home, *SIZE, f"--time-scale={TIME_SCALE}", *EMBEDDED[label])
        return World(home, ("--cluster=local",), embeddeds.enter_context(up), unit=float(TIME_SCALE))

    def real(label, stack):
        plane = stage.launch(REAL[label], stack)
        agent = (*SIZE, *AGENTS.get(label, ()))
        stack.enter_context(attached(plane.kubeconfig, *agent, log=plane.directory / "node-agent.log"))
        flags = (f"--kubeconfig={plane.kubeconfig}",)
        return World(tmp_path_factory.mktemp("home"), flags, plane.kubeconfig, plane=plane)

    def cluster(label):
        if label in EMBEDDED:
            return found.get(label) or found.setdefault(label, embedded(label))
        return stage.get(label, partial(real, label))

    with ExitStack() as embeddeds:
        yield cluster


@pytest.fixture(scope="session")
def embedded(clusters):
    """The embedded cluster, for what only it has to show."""
    return clusters("embedded")


def pytest_generate_tests(metafunc):
    """A scenario runs on both control planes, or on those that its mark `clusters` names."""
    if "cluster" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("clusters")
        labels = mark.args if mark else ("embedded", "real")
        real = [pytest.mark.real]
        params = [pytest.param(label, marks=[] if label in EMBEDDED else real) for label in labels]
        metafunc.parametrize("cluster", params, indirect=True)


@pytest.fixture
def cluster(request, clusters):
    """The cluster of one scenario, empty again afterwards."""
    world = clusters(request.param)
    yield world
    world.xlaunch("workload", "delete", "--all", "--yes", "--ignore-not-found")
