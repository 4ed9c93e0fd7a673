"""`xlaunch local up --control-plane=real`: used as the embedded cluster is, and gone whole, whatever kills it."""

import json
import os
import signal
import stat
from pathlib import Path

import pytest
from worlds import World, until

from testbed import binaries
from testbed.build import NoGoError, build, cache_of
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import unavailable
from xlaunch.local import lifecycle, procs, state

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("local up --control-plane=real")]

SIZE = ("--tpu-type=v5litepod-16", "--slices=1")
# It ignores SIGTERM, and processes escape from it in every way we know of
ESCAPE_ARTIST = "(setsid setsid sleep 1000 &); env -i setsid sleep 1000 & trap '' TERM; echo ready; exec sleep 1000"
PATIENCE = 30


@pytest.fixture(scope="module")
def builds():
    """What a control plane is made of, built or made now."""
    try:
        return [build(each, os.environ) for each in ControlPlane().upstreams().values()]
    except NoGoError as error:
        unavailable(error, os.environ)


@pytest.fixture
def user(builds, tmp_path):
    """A user of this machine's cache of builds; what of clusters is left at the end is taken down."""
    cache = {"XDG_CACHE_HOME": str(cache_of(os.environ).parents[1])}
    made = World(tmp_path, ("--cluster=local:k8s",), env=cache)
    yield made
    made.xlaunch("local", "down", "--all", target=False)


def up(user, *argv):
    """A cluster with a real control plane, and a user whose kubectl leads there."""
    body = user.json("local", "up", "--name=k8s", "--control-plane=real", *SIZE, *argv, target=False)
    return body, World(user.home, user.flags, Path(body["kubeconfig"]), user.env)


def processes_of(cluster):
    """All that lives below its guardian, with start times; the guardian is the first."""
    found = [cluster.pid, *procs.descendants(cluster.pid, procs.processes())]
    return {pid: procs.start_of(pid) for pid in found}


def nothing_left(cluster, started):
    alive = [pid for pid, start in started.items() if procs.is_running(pid, start)]
    return not alive and not cluster.path.exists() and not list(cluster.path.parent.glob(".k8s.*"))


def test_it_is_used_as_the_embedded_one_and_taken_down(user):
    body, there = up(user)
    assert [body[name] for name in ("controlPlane", "kubernetes", "jobset")] == ["real", "1.35.4", "0.12.0"]
    cluster = lifecycle.find("k8s", there.environment())
    keys = [path for path in cluster.path.rglob("*") if path.suffix == ".key" or path.name.endswith("kubeconfig")]
    assert len(keys) >= 8
    assert {stat.S_IMODE(path.stat().st_mode) for path in keys} == {0o600}
    assert stat.S_IMODE(cluster.path.stat().st_mode) == 0o700
    [row] = user.json("local", "status", target=False)["items"]
    assert row == {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}
    again = user.json("local", "up", "--name=k8s", *SIZE, target=False)
    assert again["pid"] == body["pid"]
    other = user.xlaunch("local", "up", "--name=k8s", "--control-plane=embedded", *SIZE, target=False, code=4)
    assert "The local cluster k8s runs on Kubernetes 1.35.4, JobSet 0.12.0" in other.stderr
    created = there.create("train", command=("bash", "-c", "echo one; echo two"))
    assert "-> local cluster k8s, namespace default" in created.stderr
    assert there.json("wait", "train")["result"] == "Completed"
    assert there.xlaunch("logs", "train").stdout == "one\ntwo\n"
    [slice_] = there.json("status", "train")["slices"]
    assert (slice_["hosts"], slice_["lost"]) == (4, 0)
    assert [each["name"] for each in there.json("workload", "list")["items"]] == ["train"]
    assert "v1.35.4" in there.xlaunch("version").stdout
    there.xlaunch("workload", "delete", "train", "--yes")
    started = processes_of(cluster)
    user.xlaunch("local", "down", target=False)
    assert nothing_left(cluster, started)
    assert there.xlaunch("status", "train", code=3).stderr.startswith("Error: No local cluster named k8s runs")


def pid_of(command, started):
    """The process that runs a program of that name."""
    [found] = [pid for pid in started if (procs.PROC / str(pid) / "exe").readlink().name == command]
    return found


VICTIMS = {
    "guardian": lambda cluster, started: cluster.pid,
    "server": lambda cluster, started: cluster.server_pid,
    "kube-apiserver": lambda cluster, started: pid_of("kube-apiserver", started),
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_kill_9_of_any_of_it_leaves_nothing(user, victim):
    _, there = up(user)
    cluster = lifecycle.find("k8s", there.environment())
    run(there, "artist", ESCAPE_ARTIST)
    until(lambda: there.get("pod", "artist")["status"]["phase"] == "Running", "the pod to run")
    until(lambda: there.kubectl("logs", "artist") == "ready\n", "the pod's log")
    started = processes_of(cluster)
    assert len(started) >= 10  # guardian, server, five components, the container, and two that escaped
    os.kill(VICTIMS[victim](cluster, started), signal.SIGKILL)
    until(lambda: nothing_left(cluster, started), f"all to end with the {victim}", timeout=PATIENCE)
    assert user.json("local", "status", target=False)["items"] == []


def run(world, name, script):
    container = {"name": "main", "image": "none", "command": ["bash", "-c", script]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
    world.kubectl("create", "-f", "-", stdin=json.dumps(body))


def test_ready_binaries_serve_without_go_and_the_foreground_ends_with_the_cluster(user, builds, tmp_path):
    binaries.export(builds, tmp_path / "ready")
    line = ("local", "up", "--foreground", "--name=k8s", "--control-plane=real", f"--binaries={tmp_path}/ready", *SIZE)
    without_go = World(user.home, (), env={"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"})
    with without_go.start(*line) as process:
        assert b"Started the local cluster k8s" in process.stderr.readline()
        cluster = lifecycle.find("k8s", without_go.environment())
        assert (cluster.plane.kubernetes, cluster.plane.jobset) == ("1.35.4", "0.12.0")
        started = processes_of(cluster)
        os.kill(pid_of("etcd", started), signal.SIGKILL)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read().endswith(b"The local cluster k8s has ended.\n")
    assert nothing_left(cluster, started)
    assert not (tmp_path / "cache").exists()


def test_ctrl_c_while_it_starts_takes_everything_back(user):
    line = ("local", "up", "--name=k8s", "--control-plane=real", *SIZE)
    starting = World(user.home, (), env=user.env)
    with starting.start(*line) as process:
        cluster = until(lambda: next(iter(state.records(starting.environment())), None), "a guardian")
        components = until(lambda: len(found := processes_of(cluster)) > 3 and found, "the first components")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    until(lambda: nothing_left(cluster, components), "all to end", timeout=PATIENCE)
    assert state.directories(starting.environment()) == []
