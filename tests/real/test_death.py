"""A control plane ends with whoever started it, and survives what a test does to its parts."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import until

from xlaunch.local import procs

pytestmark = pytest.mark.real


def up(directory, *argv):
    line = [sys.executable, "-m", "testbed", "up", *argv]
    env = {**os.environ, "TMPDIR": str(directory)}
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@pytest.mark.usefixtures("control_plane")  # builds what is missing, or skips
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_it(tmp_path, number):
    with up(tmp_path, "--jobset=") as starter:
        key, _, kubeconfig = starter.stdout.readline().strip().partition("=")
        assert (key, Path(kubeconfig).is_file()) == ("KUBECONFIG", True)
        below = procs.descendants(starter.pid, procs.processes())
        started = {pid: procs.start_of(pid) for pid in below}
        assert len(started) == 4
        os.kill(starter.pid, number)
        starter.wait()
    until(lambda: not any(procs.is_running(*each) for each in started.items()), "all components to end", timeout=10)
    # A killed process removes nothing; whoever asked it to end gets a clean machine
    assert Path(kubeconfig).parent.exists() == (number == signal.SIGKILL)


def test_a_component_can_be_stopped_and_started_again(control_plane, world):
    control_plane.stop("kube-controller-manager")
    world.create("train")
    control_plane.resume("kube-controller-manager")
    until(lambda: world.get("pods"), "the head's pod")
    control_plane.restart("jobset")
    world.xlaunch("workload", "delete", "train", "--yes")
