"""Clusters for the scenarios: each scenario is written once and runs on both control planes."""

import os
from collections import Counter
from pathlib import Path

import pytest
from worlds import World, attached

from testbed.build import NoGoError
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import unavailable

TIME_SCALE = "0.1"
SIZE = ("--tpu-type=v5litepod-16", "--slices=3", "--heads=3")
SCENARIOS = pytest.StashKey[Counter]()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory):
    """An embedded cluster for the whole run, whose time goes ten times as fast."""
    world = World(tmp_path_factory.mktemp("home"), ("--cluster=local",))
    up = world.json("local", "up", *SIZE, f"--time-scale={TIME_SCALE}", target=False)
    try:
        yield World(world.home, world.flags, Path(up["kubeconfig"]))
    finally:
        world.xlaunch("local", "down", target=False)


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """The real control plane with the node agent attached, for the whole run; its time is everybody's."""
    try:
        with ControlPlane().running(tmp_path_factory.mktemp("control-plane")) as plane:
            log = plane.directory / "node-agent.log"
            with attached(plane.kubeconfig, *SIZE, log=log):
                yield World(tmp_path_factory.mktemp("home"), (f"--kubeconfig={plane.kubeconfig}",), plane.kubeconfig)
    except NoGoError as error:
        unavailable(error, os.environ)


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.real)])
def cluster(request):
    """The cluster of one scenario, empty again afterwards."""
    world = request.getfixturevalue(request.param)
    yield world
    world.xlaunch("workload", "delete", "--all", "--yes", "--ignore-not-found")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Counts the scenarios of each control plane, also of the one that this run leaves out."""
    # The hook sees all tests of the run; others may have a parameter of that name, which is something else
    here = Path(__file__).parent
    scenarios = (item for item in items if here in item.path.parents and "cluster" in item.fixturenames)
    config.stash[SCENARIOS] = Counter(item.callspec.params["cluster"] for item in scenarios)


def pytest_terminal_summary(terminalreporter, config):
    """Says how many scenarios there are on each control plane, after a run that had some on the real one."""
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", ()) if report.when == "call"]
    if ran := sum("e2e/" in name and "[real" in name for name in passed):
        found = config.stash[SCENARIOS]
        counts = ", ".join(f"{found[plane]} on {plane}" for plane in sorted(found))
        terminalreporter.write_line(f"Scenarios: {counts}; {ran} passed on real in this run")
