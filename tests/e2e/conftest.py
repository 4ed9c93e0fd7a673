"""Clusters for the scenarios."""

import signal
from pathlib import Path

import pytest
from worlds import World

TIME_SCALE = "0.1"

# A shell ignores SIGINT in what it starts with `&`, which all children inherit: then Ctrl-C could not be tested
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory):
    """An embedded cluster for the whole run, whose time goes ten times as fast."""
    world = World(tmp_path_factory.mktemp("home"), ("--cluster=local",))
    size = ["--tpu-type=v5litepod-16", "--slices=3", "--heads=3"]
    up = world.json("local", "up", *size, f"--time-scale={TIME_SCALE}", target=False)
    try:
        yield World(world.home, world.flags, Path(up["kubeconfig"]))
    finally:
        world.xlaunch("local", "down", target=False)


@pytest.fixture
def cluster(embedded):
    """The cluster of one scenario, empty again afterwards."""
    yield embedded
    embedded.xlaunch("workload", "delete", "--all", "--yes", "--ignore-not-found")
