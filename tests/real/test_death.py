"""A control plane ends with whoever started it, and survives what a test does to its parts."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import until

from testbed.build import NoGoError, build
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import unavailable
from xlaunch.local import procs

pytestmark = pytest.mark.real

KUBERNETES = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
# Kueue is started by two other commands, unshare(1) and sh(1)
KUEUE, WITH_KUEUE = ControlPlane(kueue=True), {*KUBERNETES, "jobset", "kueue"}
KWOK, WITH_KWOK = ControlPlane(kueue=True, kwok=True), {*WITH_KUEUE, "kwok"}

TEST = """
import signal
from pathlib import Path

import pytest

from testbed.control_plane import ControlPlane


@pytest.mark.parametrize("control_plane", [ControlPlane(kueue=True)], indirect=True)
def test_that_never_ends(control_plane):
    Path("directory").write_text(str(control_plane.directory))
    signal.pause()
"""


def up(directory, *argv):
    line = [sys.executable, "-m", "testbed", "up", *argv]
    env = {**os.environ, "TMPDIR": str(directory)}
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def programs_of(directory):
    """What runs there: all processes whose command line or environment names the directory, whoever their parent is."""
    mine = [pid for pid in procs.processes() if any(os.fsencode(directory) in text for text in texts(pid))]
    return {Path(program(pid)).name for pid in mine}


def texts(pid):
    """The command line and the environment of a process; nothing of one that has ended."""
    for name in ("cmdline", "environ"):
        with contextlib.suppress(OSError):
            yield Path(f"/proc/{pid}/{name}").read_bytes()


def program(pid):
    return next(texts(pid), b"").partition(b"\0")[0].decode()


def built(plane):
    """Builds what a control plane needs and is missing, or skips the test."""
    try:
        for upstream in plane.upstreams().values():
            build(upstream, os.environ)
    except NoGoError as error:
        unavailable(error, os.environ)


@pytest.mark.parametrize(
    ("plane", "flags", "number", "programs"),
    [
        pytest.param(ControlPlane(jobset=""), ["--jobset="], signal.SIGTERM, KUBERNETES, id="SIGTERM"),
        pytest.param(ControlPlane(jobset=""), ["--jobset="], signal.SIGKILL, KUBERNETES, id="SIGKILL"),
        # Whoever wants only `make test-real` need not build kwok
        pytest.param(
            KWOK, ["--kueue", "--kwok"], signal.SIGKILL, WITH_KWOK, id="SIGKILL-kwok", marks=pytest.mark.nightly
        ),
    ],
)
def test_nothing_is_left_of_it(tmp_path, plane, flags, number, programs):
    built(plane)
    with up(tmp_path, *flags) as starter:
        try:
            key, _, kubeconfig = starter.stdout.readline().strip().partition("=")
            assert (key, Path(kubeconfig).is_file()) == ("KUBECONFIG", True)
            directory = Path(kubeconfig).parent
            assert programs_of(directory) == programs
            os.kill(starter.pid, number)
            starter.wait()
        finally:
            starter.kill()
    until(lambda: not programs_of(directory), "all components to end", timeout=10)
    # A killed process removes nothing; whoever asked it to end gets a clean machine
    assert directory.exists() == (number == signal.SIGKILL)


# A worker of pytest-xdist learns of it by the end of its input; it gives its test 5 s, and 10 more after an interrupt
@pytest.mark.parametrize(
    ("workers", "seconds"),
    [pytest.param([], 10, id="alone", marks=pytest.mark.nightly), pytest.param(["-n1"], 30, id="with a worker")],
)
def test_nothing_is_left_of_it_when_pytest_is_killed(tmp_path, workers, seconds):
    built(KUEUE)
    (tmp_path / "test_it.py").write_text(TEST, encoding="utf-8")
    base, log, told = (tmp_path / name for name in ("base", "log", "directory"))
    line = [sys.executable, "-m", "pytest", "-p", "testbed.pytest_plugin", f"--basetemp={base}", *workers, "test_it.py"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    with log.open("wb") as out, subprocess.Popen(line, cwd=tmp_path, env=env, stdout=out, stderr=out) as runner:
        try:
            until(lambda: runner.poll() is not None or text_of(told), "its control plane", timeout=180)
            assert runner.poll() is None, log.read_text(encoding="utf-8")
            directory = text_of(told)
            assert programs_of(directory) == WITH_KUEUE
        finally:
            runner.kill()
    until(lambda: not programs_of(directory), "all components to end", timeout=seconds)


def text_of(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_component_can_be_stopped_and_started_again(control_plane, world):
    control_plane.stop("kube-controller-manager")
    world.create("train")
    control_plane.resume("kube-controller-manager")
    until(lambda: world.get("pods"), "the head's pod")
    control_plane.restart("jobset")
    world.xlaunch("workload", "delete", "train", "--yes")
