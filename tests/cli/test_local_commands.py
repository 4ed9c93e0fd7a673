"""`xlaunch local` without real clusters: what it asks of the lifecycle, and what it prints."""

import json
from pathlib import Path

import pytest

from xlaunch.core.errors import RefusedError
from xlaunch.local import lifecycle, state
from xlaunch.local.state import LocalCluster

LOCAL = LocalCluster(
    name="local",
    directory="/state/local",
    id="1",
    tpu_type="v5litepod-16",
    slices=3,
    heads=1,
    time_scale=1.0,
    created="2026-11-29T12:00:00Z",
    server="http://127.0.0.1:1/s",
    pid=10,
    server_pid=11,
)
CI = LocalCluster(
    **{
        **LOCAL.__dict__,
        "name": "ci",
        "directory": "/state/ci",
        "slices": 1,
        "time_scale": 0.1,
        "feature_gates": ("RestartJob",),
    }
)


@pytest.fixture
def running(monkeypatch):
    """The clusters that run; `stop` takes one away, and what was asked of `ensure` is kept."""
    found = {"local": LOCAL, "ci": CI}
    asked = []

    def ensure(name, **options):
        asked.append((name, options))
        return LOCAL

    def stop(name, env):
        if name not in found:
            raise state.not_running(name)
        return found.pop(name)

    monkeypatch.setattr(lifecycle, "clusters", lambda env: list(found.values()))
    monkeypatch.setattr(lifecycle, "stop", stop)
    monkeypatch.setattr(lifecycle, "ensure", ensure)
    return found, asked


def test_up_prints_how_to_go_on(xlaunch, running):
    outcome = xlaunch("local", "up")
    assert outcome.code == 0
    assert outcome.stdout.splitlines() == [
        "Embedded cluster local: 3 slices of v5litepod-16 and 1 CPU node",
        "  export KUBECONFIG=/state/local/kubeconfig",
        "  xlaunch workload create-pathways --cluster=local --tpu-type v5litepod-16 ...",
        "  xlaunch local down",
    ]


def test_up_asks_for_what_was_typed(xlaunch, running):
    xlaunch(
        *("local", "up", "--name", "ci", "--tpu-type", "v6e-8", "--slices", "2", "--heads", "3"),
        *("--time-scale", "0.1", "--feature-gate", "RestartJob"),
    )
    (name, options), *_ = running[1]
    assert options["feature_gates"] == ["RestartJob"]
    kept = ("tpu_type", "slices", "heads", "machine_type", "time_scale")
    assert (name, *(options[each] for each in kept)) == ("ci", "v6e-8", 2, 3, "", 0.1)


def test_up_as_json(xlaunch, running):
    body = json.loads(xlaunch("local", "up", "-o", "json").stdout)
    assert body == {
        "apiVersion": "xlaunch.dev/v1",
        "kind": "LocalCluster",
        "metadata": {"name": "local"},
        "name": "local",
        "kubeconfig": "/state/local/kubeconfig",
        "context": "xlaunch-local",
        "server": "http://127.0.0.1:1/s",
        "pid": 11,
        "tpuType": "v5litepod-16",
        "slices": 3,
        "heads": 1,
        "controlPlane": "embedded",
        "timeScale": 1.0,
        "featureGates": [],
        "created": "2026-11-29T12:00:00Z",
    }


def test_status(xlaunch, running):
    assert xlaunch("local", "status").stdout.splitlines() == [
        "NAME    TPU TYPE       SLICES   HEADS   TIME SCALE   CONTROL PLANE   FEATURE GATES   KUBECONFIG",
        "local   v5litepod-16   3        1       1            embedded                        /state/local/kubeconfig",
        "ci      v5litepod-16   1        1       0.1          embedded        RestartJob      /state/ci/kubeconfig",
    ]
    items = json.loads(xlaunch("local", "status", "-o", "json").stdout)["items"]
    assert [each["name"] for each in items] == ["local", "ci"]


def test_status_of_nothing(xlaunch, running):
    running[0].clear()
    assert xlaunch("local", "status").stdout == ("No local cluster runs on this machine. Start one: xlaunch local up\n")


@pytest.mark.parametrize(
    ("argv", "left", "printed"),
    [
        ([], ["ci"], "Stopped local.\n"),
        (["--name", "ci"], ["local"], "Stopped ci.\n"),
        (["--all"], [], "Stopped local.\nStopped ci.\n"),
    ],
)
def test_down(xlaunch, running, argv, left, printed):
    outcome = xlaunch("local", "down", *argv)
    assert (outcome.code, outcome.stdout) == (0, printed)
    assert list(running[0]) == left


def test_down_takes_the_only_one(xlaunch, running):
    del running[0]["local"]
    assert xlaunch("local", "down").stdout == "Stopped ci.\n"


def test_down_does_not_guess(xlaunch, running):
    running[0]["other"] = LocalCluster(**{**LOCAL.__dict__, "name": "other"})
    del running[0]["local"]
    outcome = xlaunch("local", "down")
    assert outcome.code == 4
    assert "2 local clusters run: ci, other" in outcome.stderr
    assert "xlaunch local down --name ci" in outcome.stderr


def test_down_of_nothing(xlaunch, running):
    running[0].clear()
    assert xlaunch("local", "down").code == 3
    assert xlaunch("local", "down", "--all").stdout == "No local cluster runs on this machine.\n"


def test_down_refuses_a_contradiction(xlaunch, running):
    assert xlaunch("local", "down", "--all", "--name", "ci").code == 2
    assert len(running[0]) == 2


def test_an_error_is_three_sentences(xlaunch, monkeypatch):
    def refuse(*args, **options):
        raise RefusedError("It has one slice", why="A running one does not grow", next="xlaunch local down")

    monkeypatch.setattr(lifecycle, "ensure", refuse)
    outcome = xlaunch("local", "up")
    assert outcome.code == 4
    assert outcome.stderr == "Error: It has one slice. A running one does not grow.\nNext: xlaunch local down\n"


@pytest.mark.parametrize("command", ["up", "down", "status"])
def test_help_has_examples(xlaunch, command):
    outcome = xlaunch("local", command, "--help")
    assert outcome.code == 0
    assert f"  xlaunch local {command}\n" in outcome.stdout


def test_wrong_values_never_reach_the_disk(xlaunch, tmp_path):
    outcome = xlaunch("local", "up", "--slices", "0")
    assert outcome.code == 2
    assert not Path(tmp_path / "state").exists()
