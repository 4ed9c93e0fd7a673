"""The embedded cluster as real processes: it comes up, it serves, and whatever kills it leaves nothing behind."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from xlaunch.local import lifecycle, procs, state
from xlaunch.local.leftovers import container_processes

pytestmark = pytest.mark.e2e
PATIENCE = 60
SIZE = {"tpu_type": "v5litepod-16", "slices": 1}
XLAUNCH = [sys.executable, "-m", "xlaunch"]
# A container that ignores SIGTERM and from which processes escape in every way we know of
ESCAPE_ARTIST = """
(setsid setsid sleep 1000 &)
env -i setsid sleep 1000 &
trap '' TERM
echo ready
exec sleep 1000
"""


@pytest.fixture
def env(tmp_path):
    made = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "PATH": os.environ["PATH"]}
    yield made
    for cluster in lifecycle.clusters(made):
        lifecycle.stop(cluster.name, made)


def up(env, name="local", **options):
    return lifecycle.ensure(name, **{**SIZE, "time_scale": 0.1, **options}, env=env, notice=lambda text: None)


def run(env, *argv, **options):
    return subprocess.run(
        [*XLAUNCH, *argv], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )


class Client:
    """Just enough of a client: JSON over HTTP."""

    def __init__(self, cluster):
        self.base = f"{cluster.server}/api/v1/"

    def call(self, path, body=None, method=None, kind="application/json"):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def get(self, path):
        return json.loads(self.call(path))

    def run(self, name, script, policy="Never", node="cpu-np-0"):
        container = {"name": "main", "image": "x", "command": ["bash", "-c", script]}
        spec = {"nodeName": node, "restartPolicy": policy, "containers": [container]}
        self.call("namespaces/default/pods", {"metadata": {"name": name}, "spec": spec})

    def pod(self, name):
        return self.get(f"namespaces/default/pods/{name}")

    def log(self, name, query=""):
        return self.call(f"namespaces/default/pods/{name}/log?container=main{query}")

    def until(self, name, holds):
        """The pod as soon as that holds."""
        return eventually(lambda: (pod := self.pod(name)) and holds(pod) and pod)


def eventually(look, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := look()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
    return found


def container(pod):
    return (pod.get("status", {}).get("containerStatuses") or [{"state": {}, "restartCount": 0}])[0]


def running(pod):
    return "running" in container(pod)["state"]


def processes_of(cluster):
    """Everything that lives of a cluster: its servers, what they started, what carries its mark."""
    table = procs.processes()
    known = [(cluster.pid, cluster.start), (cluster.server_pid, cluster.server_start)]
    known += container_processes(cluster.path)
    roots = {pid for pid, start in known if procs.is_running(pid, start)}
    below = {child for pid in roots for child in procs.descendants(pid, table)}
    return roots | below | set(procs.with_environment(cluster.marker, table))


@pytest.fixture
def artist(env):
    """A cluster with a container from which processes have escaped, and the pids of all its processes."""
    cluster = up(env)
    client = Client(cluster)
    client.run("artist", ESCAPE_ARTIST)
    client.until("artist", running)
    eventually(lambda: client.log("artist") == b"ready\n")
    started = eventually(lambda: len(found := processes_of(cluster)) >= 5 and found)
    table = procs.processes()
    return cluster, {pid: table[pid].start for pid in started if pid in table}


def nothing_left(cluster, started):
    alive = [pid for pid, start in started.items() if procs.is_running(pid, start)]
    return not alive and not cluster.path.exists() and not list(cluster.path.parent.glob(".local.*"))


def test_down_leaves_nothing(env, artist):
    cluster, started = artist
    lifecycle.stop("local", env)
    assert nothing_left(cluster, started)


def test_kill_9_of_the_server_leaves_nothing(artist):
    cluster, started = artist
    os.kill(cluster.server_pid, signal.SIGKILL)
    eventually(lambda: nothing_left(cluster, started))


def test_kill_9_of_the_guardian_leaves_nothing(artist):
    cluster, started = artist
    os.kill(cluster.pid, signal.SIGKILL)
    eventually(lambda: nothing_left(cluster, started))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_polite_end_of_the_guardian_leaves_nothing(artist, number):
    cluster, started = artist
    os.kill(cluster.pid, number)
    eventually(lambda: nothing_left(cluster, started))


def test_kill_9_of_both_is_swept_by_the_next_command(env, artist):
    cluster, started = artist
    for pid in (cluster.pid, cluster.server_pid):
        os.kill(pid, signal.SIGSTOP)
    for pid in (cluster.pid, cluster.server_pid):
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: not cluster.running)
    assert not nothing_left(cluster, started)
    outcome = run(env, "local", "status", "-o", "json")
    assert json.loads(outcome.stdout)["items"] == []
    assert nothing_left(cluster, started)


def test_a_server_that_hangs_is_ended(env, artist):
    cluster, started = artist
    os.kill(cluster.server_pid, signal.SIGSTOP)
    lifecycle.stop("local", env)
    assert nothing_left(cluster, started)


def test_a_new_cluster_of_that_name_after_a_sudden_end(env, artist):
    cluster, started = artist
    os.kill(cluster.server_pid, signal.SIGKILL)
    again = eventually(lambda: (found := up(env)).id != cluster.id and found)
    eventually(lambda: not [pid for pid, start in started.items() if procs.is_running(pid, start)])
    assert again.running
    assert Client(again).get("nodes")["items"]


def test_up_status_down(env):
    outcome = run(env, "local", "up", "--slices", "1", "--name", "ci", "-o", "json")
    made = json.loads(outcome.stdout)
    assert outcome.returncode == 0
    assert made["kind"] == "LocalCluster"
    kubeconfig = Path(made["kubeconfig"])
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kubeconfig, kubeconfig.parent)] == [0o600, 0o700]
    table = run(env, "local", "status").stdout.splitlines()
    assert table[1].split()[:5] == ["ci", "v5litepod-16", "1", "1", "1"]
    again = json.loads(run(env, "local", "up", "--slices", "1", "--name", "ci", "-o", "json").stdout)
    assert again == made
    small = run(env, "local", "up", "--slices", "2", "--name", "ci")
    assert small.returncode == 4
    assert "xlaunch local down --name ci && xlaunch local up" in small.stderr
    assert run(env, "local", "down", "--name", "ci").returncode == 0
    assert run(env, "local", "down", "--name", "ci").returncode == 3


def test_several_clusters_do_not_meet(env):
    one, two = up(env, "one"), up(env, "two")
    for cluster in (one, two):
        Client(cluster).run("p", "echo $XLAUNCH_POD_IP")
    addresses = {
        Client(each).until("p", lambda pod: "podIP" in pod["status"])["status"]["hostIP"] for each in (one, two)
    }
    assert len(addresses) == 2
    lifecycle.stop("one", env)
    assert Client(two).get("nodes")["items"]
    assert [each.name for each in lifecycle.clusters(env)] == ["two"]


def test_only_the_secret_opens_it(env):
    cluster = up(env)
    origin = cluster.server.rsplit("/", 1)[0]
    for path in ("/api", "/version", "/wrong-secret/api"):
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(origin + path, timeout=PATIENCE)
        assert error.value.code == 401
    assert origin.startswith("http://127.0.0.1:")
    listing = (procs.PROC / str(cluster.server_pid) / "cmdline").read_bytes()
    assert cluster.server.rsplit("/", 1)[1].encode() not in listing


def test_a_container_that_is_killed_is_restarted_in_place(env):
    client = Client(up(env))
    client.run("p", "echo $BASHPID; exec sleep 1000", policy="OnFailure")
    client.until("p", running)
    pid = int(eventually(lambda: client.log("p")))
    os.kill(pid, signal.SIGKILL)
    pod = client.until("p", lambda pod: container(pod)["restartCount"] == 1 and running(pod))
    assert container(pod)["lastState"]["terminated"]["exitCode"] == 137
    assert int(client.log("p", "&previous=true")) == pid


def test_large_and_undecodable_output_arrives_whole(env):
    client = Client(up(env))
    script = "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\n\\377\\376 50%%\\r100%%\\n'"
    client.run("p", script)
    client.until("p", lambda pod: pod["status"]["phase"] == "Succeeded")
    assert client.log("p") == b"x" * 3_000_000 + b"\n\xff\xfe 50%\r100%\n"


def test_follow_across_a_rotation(env):
    client = Client(up(env))
    lines = 150_000
    client.run("p", f"sleep 2; seq -f '%0100.0f' {lines}; read -t 0.5 < /dev/zero; echo end")
    client.until("p", lambda pod: container(pod)["state"] and "waiting" not in container(pod)["state"])
    text = client.log("p", "&follow=true").splitlines()
    assert text[-1] == b"end"
    numbers = [int(each) for each in text[:-1]]
    assert numbers == list(range(numbers[0], lines + 1))
    client.until("p", lambda pod: pod["status"]["phase"] == "Succeeded")
    assert len(client.log("p")) < len(b"\n".join(text))


def test_a_lost_node_takes_its_processes_along(env):
    client = Client(up(env))
    client.run("p", "exec sleep 1000", policy="OnFailure", node="tpu-0-0")
    pod = client.until("p", running)
    lost = {"metadata": {"annotations": {"xlaunch.dev/lost": "true"}}}
    client.call("nodes/tpu-0-0", lost, "PATCH", "application/merge-patch+json")
    eventually(lambda: client.get("nodes/tpu-0-0")["status"]["conditions"][-1]["status"] == "Unknown")
    assert running(client.pod("p"))  # nobody has said otherwise
    lost["metadata"]["annotations"]["xlaunch.dev/lost"] = None
    client.call("nodes/tpu-0-0", lost, "PATCH", "application/merge-patch+json")
    back = client.until("p", lambda pod: container(pod)["restartCount"] == 1 and running(pod))
    assert back["metadata"]["uid"] == pod["metadata"]["uid"]


@contextlib.contextmanager
def foreground(env):
    process = subprocess.Popen(
        [*XLAUNCH, "local", "up", "--foreground", "--slices", "1"], env=env, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_foreground_ends_with_its_command(env, number, code):
    with foreground(env) as process:
        assert "Ctrl-C ends it" in process.stderr.readline()
        cluster = lifecycle.find("local", env)
        started = {cluster.pid: cluster.start, cluster.server_pid: cluster.server_start}
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
    eventually(lambda: nothing_left(cluster, started))


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_a_command_killed_in_mid_start_leaves_a_whole_cluster_or_none(env, delay):
    argv = [*XLAUNCH, "local", "up", "--slices", "1", "--time-scale", "0.1"]
    process = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(delay)
    process.kill()
    process.wait()
    cluster = up(env)  # waits for one that has begun
    assert Client(cluster).get("nodes")["items"]
    lifecycle.stop("local", env)
    assert not list(procs.with_environment(cluster.marker, procs.processes()))


def test_ctrl_c_in_mid_start_takes_everything_back(env):
    process = subprocess.Popen([*XLAUNCH, "local", "up", "--slices", "1"], env=env, stderr=subprocess.DEVNULL)
    cluster = eventually(lambda: next(iter(state.records(env)), None))
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert state.directories(env) == []
    assert not list(procs.with_environment(cluster.marker, procs.processes()))
