"""The node agent on a real control plane as a process: it runs pods, it comes back, and it leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from worlds import attached, until

from testbed.control_plane import ControlPlane
from xlaunch.local import procs
from xlaunch.local.node.nodes import KUBELET_PORT
from xlaunch.local.server import claim_subnet

# The endings must not hit the nodes of other tests, so these have a control plane of their own
PLANE = ControlPlane(jobset="")
pytestmark = [pytest.mark.real, pytest.mark.parametrize("control_plane", [PLANE], indirect=True, ids=str)]

# It ignores SIGTERM, and processes escape from it in every way we know of
ESCAPE_ARTIST = "(setsid setsid sleep 1000 &); env -i setsid sleep 1000 & trap '' TERM; echo ready; exec sleep 1000"


def pod(name, script):
    container = {"name": "main", "image": "none", "command": ["bash", "-c", script]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def run(control_plane, namespace):
    """Makes a pod in the scenario's namespace."""

    def make(name, script):
        control_plane.api.request("POST", f"/api/v1/namespaces/{namespace}/pods", body=pod(name, script))

    return make


def end_guardian(number):
    return lambda process, _: os.kill(process.pid, number)


def kill_agent(_, below):
    os.kill(below[0], signal.SIGKILL)


def cut_lifeline(process, _):
    process.stdin.close()


ENDINGS = {
    "SIGTERM": end_guardian(signal.SIGTERM),
    "SIGKILL": end_guardian(signal.SIGKILL),
    "agent": kill_agent,
    "lifeline": cut_lifeline,
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_however_it_ends(control_plane, world, run, tmp_path, ending):
    with attached(control_plane.kubeconfig, log=tmp_path / "agent.log") as process:
        run("artist", ESCAPE_ARTIST)
        until(lambda: world.get("pod", "artist")["status"]["phase"] == "Running", "the pod to run")
        until(lambda: world.kubectl("logs", "artist") == "ready\n", "the pod's log")
        below = procs.descendants(process.pid, procs.processes())
        started = {pid: procs.start_of(pid) for pid in below}
        assert len(started) >= 4  # the agent, the container, and two that escaped
        ENDINGS[ending](process, below)
        process.wait(timeout=20)
        until(lambda: not any(procs.is_running(*each) for each in started.items()), "all processes to end", timeout=10)


def test_its_addresses_are_free_when_its_claim_to_them_is(control_plane, world, run, tmp_path):
    """Whoever claims them next listens there at once, so nothing may be let go before the last pod has ended."""
    with attached(control_plane.kubeconfig, log=tmp_path / "agent.log") as process:
        run("slow", "trap '' TERM; echo ready; exec sleep 1000")
        until(lambda: world.get("pod", "slow")["status"]["phase"] == "Running", "the pod to run")
        until(lambda: world.kubectl("logs", "slow") == "ready\n", "the pod's log")
        node = world.get("pod", "slow")["status"]["hostIP"]
        process.terminate()
        end = time.monotonic() + 20
        # Without a pause: what is too early may be so by milliseconds
        while (claim := bound(f"{node.rsplit('.', 2)[0]}.255.254")) is None:
            assert time.monotonic() < end, "the claim is kept"
        listener = bound(node)
        claim.close()
        assert listener, "somebody listens at an address that nobody claims"
        listener.close()


def bound(address):
    """A socket that could be bound to a kubelet's port there, None where another has it."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address, KUBELET_PORT))
    except OSError:
        made.close()
        return None
    return made


def test_an_agent_that_comes_back_goes_on_with_its_pods(control_plane, world, run, tmp_path):
    """Also with other addresses, as those that it had may be another's meanwhile."""
    log = tmp_path / "agent.log"
    with claim_subnet(), attached(control_plane.kubeconfig, log=log):
        run("stays", "echo $BASHPID; exec sleep 1000")
        until(lambda: world.get("pod", "stays")["status"]["phase"] == "Running", "the pod to run")
    with attached(control_plane.kubeconfig, log=log):
        again = until(lambda: restarted(world.get("pod", "stays")), "the container to run again")
        assert again["lastState"]["terminated"]["reason"] == "Unknown"
        until(lambda: world.kubectl("logs", "stays").strip().isdigit(), "the log of its second life")
        world.kubectl("delete", "pod", "stays", "--timeout=30s")


def restarted(found):
    [status] = found["status"]["containerStatuses"]
    return status if status["restartCount"] and "running" in status["state"] else None


def test_an_api_server_that_was_away_is_found_again(control_plane, world, run, tmp_path):
    with attached(control_plane.kubeconfig, log=tmp_path / "agent.log"):
        run("before", "sleep 1000")
        until(lambda: world.get("pod", "before")["status"]["phase"] == "Running", "the first pod to run")
        control_plane.restart("kube-apiserver")
        run("after", "echo here; exec sleep 1000")
        until(lambda: world.get("pod", "after")["status"]["phase"] == "Running", "the second pod to run", timeout=120)
        assert restarts(world.get("pod", "before")) == 0
        until(lambda: world.kubectl("logs", "after") == "here\n", "its log")


def restarts(found):
    return found["status"]["containerStatuses"][0]["restartCount"]


def test_who_may_not_see_nodes_is_told_so(control_plane, namespace):
    nobody = control_plane.kubeconfig_of("nobody", namespace=namespace)
    line = ["-m", "xlaunch.local.attach", "--kubeconfig", str(nobody)]
    done = subprocess.run([sys.executable, *line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("The API server does not take the node agent. nodes is forbidden: User")
