"""A real control plane of its own for each test that takes long."""

import pytest
from worlds import World, attached

# With fewer nodes four silent ones would be most of the cluster, and then Kubernetes evicts nobody
SIZE = ("--tpu-type=v5litepod-16", "--slices=3", "--heads=2")


@pytest.fixture
def cluster(control_plane, tmp_path):
    """A real control plane with nodes to spare."""
    with attached(control_plane.kubeconfig, *SIZE, log=tmp_path / "node-agent.log"):
        flags = (f"--kubeconfig={control_plane.kubeconfig}",)
        world = World(tmp_path, flags, control_plane.kubeconfig, plane=control_plane)
        yield world
        world.xlaunch("workload", "delete", "--all", "--yes", "--ignore-not-found")
