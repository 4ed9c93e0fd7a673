"""The demo as a user runs it, and nothing left behind however it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from worlds import kubectl

pytestmark = pytest.mark.e2e

PATIENCE = 90.0


class Demo:
    """A running `xlaunch demo --fast` in a home of its own."""

    def __init__(self, home, *flags, path=os.environ["PATH"]):
        self.home = home
        self.env = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": path}
        self.err = home / "stderr"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "xlaunch", "demo", "--fast", *flags],
            stdout=subprocess.PIPE,
            stderr=self.err.open("wb"),
            env=self.env,
            text=True,
        )

    def until(self, pattern):
        """Waits for a text on stderr and returns what it matched."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.err.read_text())):
            assert self.process.poll() is None, self.err.read_text()
            assert time.monotonic() < deadline, self.err.read_text()
            time.sleep(0.05)
        return found

    def done(self):
        try:
            out, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running: {self.err.read_text()}")
        return self.process.returncode, out

    def left(self):
        """Processes that carry the name of this home, and clusters whose state is there."""
        mine = [path for path in Path("/proc").glob("[0-9]*") if str(self.home) in words(path)]
        return mine, list((self.home / "state" / "xlaunch" / "clusters").glob("demo-*"))

    def gone(self):
        deadline = time.monotonic() + 15
        while self.left() != ([], []):
            assert time.monotonic() < deadline, self.left()
            time.sleep(0.1)
        return True


def words(process):
    """Command line and environment of a process; nothing for one that has gone."""
    try:
        return (process / "cmdline").read_text(errors="replace") + (process / "environ").read_text(errors="replace")
    except OSError:
        return ""


@pytest.fixture
def demo(tmp_path):
    started = []

    def start(*flags, **options):
        started.append(Demo(tmp_path, *flags, **options))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
    subprocess.run(
        [sys.executable, "-m", "xlaunch", "local", "down", "--all"],
        env={"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        check=False,
        capture_output=True,
    )


def test_the_proof_holds_and_nothing_is_left(demo):
    running = demo("-o", "json", path="/nonexistent")  # a machine whose only Python is xlaunch's own
    code, out = running.done()
    assert code == 0, running.err.read_text()
    result = json.loads(out)
    assert (result["kind"], result["proven"], result["restoredStep"], result["firstStep"]) == ("Demo", True, 100, 101)
    assert 30 <= result["stepsLost"] <= 60
    phases = {phase["name"]: phase for phase in result["phases"]}
    assert phases["back-off of the Job"]["seconds"] == pytest.approx(10, abs=8)
    assert phases["wait for slices"]["seconds"] >= phases["back-off of the Job"]["forecastSeconds"]
    assert "Slice down event detected" in running.err.read_text()
    assert running.gone()


def test_the_viewer_kills(demo):
    there = kubectl()
    running = demo("--interactive")
    line = running.until(r"==> (kubectl --kubeconfig .* --force)")[1]
    subprocess.run([there, *line.split()[1:]], env=running.env, check=True, capture_output=True)
    code, out = running.done()
    assert code == 0, running.err.read_text()
    assert "The proof holds" in out
    assert running.gone()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_when_it_is_stopped(demo, number, code):
    running = demo()
    running.until("completed step")
    running.process.send_signal(number)
    assert running.done()[0] == code
    assert running.gone()


def test_keep_leaves_the_run_up(demo):
    running = demo("--keep")
    code, out = running.done()
    assert code == 0, running.err.read_text()
    name = re.search(r"xlaunch local down --name (\S+)", out)[1]
    status = subprocess.run(
        [sys.executable, "-m", "xlaunch", "status", "pw-elastic", f"--cluster=local:{name}", "-o", "json"],
        env=running.env,
        check=True,
        capture_output=True,
    )
    assert json.loads(status.stdout)["phase"] == "Running"
    subprocess.run(
        [sys.executable, "-m", "xlaunch", "local", "down", "--name", name],
        env=running.env,
        check=True,
        capture_output=True,
    )
    assert running.gone()
