"""`xlaunch local up --control-plane=real` without a control plane: what is asked for, looked for, built and shown."""

import json
import re

import pytest
from fakes.binaries import filled
from fakes.local import a_cluster

from testbed.build import BuildError, NoGoError
from testbed.control_plane import ControlPlane
from xlaunch.cli import real_plane
from xlaunch.local import lifecycle
from xlaunch.local.plane import EMBEDDED_PLANE, REAL, Plane

PLANE = Plane(REAL, "1.35.4", "0.12.0")
CLUSTER = a_cluster(
    directory="/state/local", slices=3, created="2026-11-29T12:00:00Z", server="https://127.0.0.1:1", plane=PLANE
)


@pytest.fixture
def asked(monkeypatch):
    """The planes that the lifecycle was asked for."""
    found = []

    def ensure(name, *, plane, **options):
        found.append(plane)
        return CLUSTER

    monkeypatch.setattr(lifecycle, "ensure", ensure)
    monkeypatch.setattr(lifecycle, "clusters", lambda env: [CLUSTER])
    return found


@pytest.fixture
def built(monkeypatch):
    """What was to be built; nothing is there already."""
    found = []

    def build(upstream, env, say):
        say(f"Building {upstream.label}")
        found.append(upstream.label)

    monkeypatch.setattr("testbed.build.build", build)
    monkeypatch.setattr("testbed.build.is_built", lambda upstream, env: upstream.name == "etcd")
    return found


def test_it_is_built_and_started(xlaunch, asked, built):
    outcome = xlaunch("local", "up", "--control-plane=real", "--kubernetes=1.37.2")
    assert outcome.code == 0
    assert asked == [Plane(REAL, "1.37.2")]
    assert built == ["etcd-3.6.16", "kubernetes-1.37.2", "jobset-0.12.0"]
    # What takes no time is not worth a word
    assert [line for line in outcome.stderr.splitlines() if line.startswith("Built")] == [
        "Built kubernetes-1.37.2 in 0 s.",
        "Built jobset-0.12.0 in 0 s.",
    ]
    assert outcome.stdout.splitlines()[0] == (
        "Local cluster local: 3 slices of v5litepod-16 and 1 CPU node, Kubernetes 1.35.4, JobSet 0.12.0"
    )


def test_nothing_is_built_for_one_that_runs(xlaunch, asked, built, monkeypatch):
    """It may have been started from ready binaries, on a machine without Go."""
    monkeypatch.setattr(lifecycle, "find", lambda name, env: CLUSTER)
    assert xlaunch("local", "up", "--control-plane=real").code == 0
    assert (asked, built) == ([Plane(REAL)], [])


def test_nothing_is_built_for_the_embedded_one(xlaunch, asked, built):
    assert xlaunch("local", "up").code == 0
    assert xlaunch("local", "up", "--control-plane", "embedded", "--time-scale=0.1").code == 0
    assert (asked, built) == ([None, EMBEDDED_PLANE], [])


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--control-plane=real", "--time-scale=0.1"], "--time-scale means nothing to a real control plane"),
        (["--kubernetes=1.35.4"], "--kubernetes is for a real control plane"),
        (["--control-plane=embedded", "--jobset=0.12.0"], "--jobset is for a real control plane"),
        (["--binaries=/b"], "--binaries is for a real control plane"),
        (["--control-plane=real", "--binaries=/b", "--jobset=0.12.0"], "--binaries and --jobset contradict each other"),
        (
            ["--control-plane=real", "--kubernetes=1.36.0"],
            "--kubernetes 1.36.0 cannot be built. There are 1.35.4, 1.37.2",
        ),
        (["--control-plane=real", "--jobset=9"], "--jobset 9 cannot be built. There are 0.12.0, 0.11.1, 0.10.1"),
        (["--control-plane=kind"], "Invalid value for '--control-plane': 'kind' is not one of 'embedded', 'real'"),
        (["--control-plane=real", "--binaries="], "--binaries is empty"),
        (["--control-plane=real", "--feature-gate=restartjob"], "--feature-gate restartjob is not one"),
        (["--control-plane=real", "--slices=0"], "--slices 0 is out of range"),
        (["--control-plane=real", "--foreground", "--heads=0"], "--heads 0 is out of range"),
        (["--control-plane=real", "--tpu-type=v9-1"], "v9-1 is not a TPU type"),
        (["--control-plane=real", "--machine-type=ct9"], "ct9"),
        (["--control-plane=real", "--name=A"], "'A' cannot name a local cluster"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_built(xlaunch, asked, built, flags, words):
    outcome = xlaunch("local", "up", *flags)
    assert (outcome.code, asked, built) == (2, [], [])
    assert words in outcome.stderr
    assert "\nNext: " in outcome.stderr


def test_ready_binaries_are_used_and_nothing_is_built(xlaunch, asked, built, tmp_path, monkeypatch):
    filled(tmp_path / "ready", *ControlPlane().upstreams().values())
    monkeypatch.chdir(tmp_path)
    assert xlaunch("local", "up", "--control-plane=real", "--binaries=ready").code == 0
    assert (asked, built) == ([Plane(REAL, binaries=str(tmp_path / "ready"))], [])


def test_what_the_directory_lacks_is_named(xlaunch, asked, tmp_path):
    filled(tmp_path, *ControlPlane().upstreams().values())
    (tmp_path / "bin" / "kube-scheduler").unlink()
    (tmp_path / "bin" / "jobset").chmod(0o644)
    outcome = xlaunch("local", "up", "--control-plane=real", f"--binaries={tmp_path}")
    assert (outcome.code, asked) == (3, [])
    assert outcome.stderr.startswith(f"Error: {tmp_path} lacks bin/kube-scheduler, bin/jobset. ")
    assert "Next: On a machine with Go: python -m testbed export DIR" in outcome.stderr


def test_a_directory_that_is_none(xlaunch, asked, tmp_path):
    outcome = xlaunch("local", "up", "--control-plane=real", f"--binaries={tmp_path}/gone", "-o", "json")
    assert (outcome.code, json.loads(outcome.stdout)["reason"], asked) == (3, "BinariesMissing", [])


@pytest.mark.parametrize(
    ("error", "code", "message", "why", "reason"),
    [
        (NoGoError("no"), 3, "etcd-3.6.16 is not built yet, and there is no Go on this machine", "", "NoGo"),
        (
            BuildError("go build of etcd-3.6.16 failed:\n# package\nno space left"),
            1,
            "go build of etcd-3.6.16 failed",
            "no space left",
            "BuildFailed",
        ),
    ],
)
def test_a_build_that_fails(xlaunch, asked, monkeypatch, error, code, message, why, reason):
    def build(upstream, env, say):
        raise error

    monkeypatch.setattr("testbed.build.build", build)
    monkeypatch.setattr("testbed.build.is_built", lambda upstream, env: False)
    outcome = xlaunch("local", "up", "--control-plane=real")
    assert (outcome.code, asked) == (code, [])
    told = f"Error: {message}. {why}." if why else f"Error: {message}."
    assert outcome.stderr.splitlines()[0] == told
    said = json.loads(xlaunch("local", "up", "--control-plane=real", "-o", "json").stdout)
    assert (said["code"], said["reason"]) == (code, reason)


def test_ctrl_c_in_a_build_starts_nothing(xlaunch, asked, monkeypatch):
    def build(upstream, env, say):
        raise KeyboardInterrupt

    monkeypatch.setattr("testbed.build.build", build)
    monkeypatch.setattr("testbed.build.is_built", lambda upstream, env: False)
    assert (xlaunch("local", "up", "--control-plane=real").code, asked) == (130, [])


def test_what_is_shown_of_one_that_runs(xlaunch, asked):
    [item] = json.loads(xlaunch("local", "status", "-o", "json").stdout)["items"]
    assert [item[name] for name in ("controlPlane", "kubernetes", "jobset")] == ["real", "1.35.4", "0.12.0"]
    assert item["kubeconfig"] == "/state/local/kubeconfig"
    assert " Kubernetes 1.35.4, JobSet 0.12.0 " in xlaunch("local", "status").stdout


@pytest.mark.parametrize("name", ["kubernetes", "jobset"])
def test_help_names_the_usual_version(xlaunch, name):
    usual = real_plane.versions_of(name)[0]
    page = " ".join(xlaunch("local", "up", "--help").stdout.split())
    assert re.search(rf"--{name} VERSION [^[]*\[default: {re.escape(usual)}\]", page)
