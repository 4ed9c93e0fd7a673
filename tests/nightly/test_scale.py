"""512 slices of 12 hosts with kwok's nodes and pods: status, list and delete tell the truth, at a bounded cost.

The figures are printed at the end. `XLAUNCH_SCALE=8x4` tries the test itself on a small fleet.
"""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from relay import Relay
from worlds import ROOT, World, until

from testbed import kwok
from testbed.control_plane import ControlPlane
from xlaunch.core.pods import is_ready
from xlaunch.core.tpu import lookup
from xlaunch.local.node import nodes

SLICES, HOSTS = (int(part) for part in os.environ.get("XLAUNCH_SCALE", "512x12").split("x"))
PODS = SLICES * HOSTS + 1
FAST = ("--kube-api-qps=1000", "--kube-api-burst=1000")
PLANE = ControlPlane(
    kwok=True,
    arguments={
        "kube-controller-manager": (
            # kwok renews no leases; and with the default rates the creation of the pods alone would take 307 s
            *("--node-monitor-grace-period=24h", "--concurrent-job-syncs=10", *FAST),
            # Nobody resolves the names of these pods, and each that becomes ready would rewrite lists of a thousand
            "--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
        ),
        "kube-scheduler": FAST,
    },
)
# Seconds; 532 were measured on two cores that had other work too
PATIENCE = 1800
# The type with the nearest number of hosts: there is none with 12, so the manifest is patched
TPU = lookup("v5p-2x4x4")

pytestmark = [pytest.mark.real, pytest.mark.nightly, pytest.mark.alone]

# The peak of this process image alone: ru_maxrss would count what pytest has, too
PROBE = """
import sys
from pathlib import Path
from xlaunch.main import main
peak = sys.argv.pop(1)
try:
    code = main()
finally:
    status = Path("/proc/self/status").read_text()
    Path(peak).write_text(status.partition("VmHWM:")[2].split()[0])
sys.exit(code)
"""


@dataclass(frozen=True)
class Cost:
    """What a command took: wall seconds, MiB of memory at its peak, MB from the API server; and what it printed."""

    seconds: float
    memory: float
    received: float
    output: str


class Fleet:
    """A control plane with many nodes, a user whose bytes are counted, and the figures so far."""

    def __init__(self, instance, relay, home):
        self.api = instance.api
        self.relay = relay
        self.home = home
        self.figures = []
        kubeconfig = home / "kubeconfig"
        text = instance.kubeconfig.read_text(encoding="utf-8")
        kubeconfig.write_text(text.replace(instance.url, f"https://127.0.0.1:{relay.port}"), encoding="utf-8")
        self.world = World(home, (f"--kubeconfig={kubeconfig}",), kubeconfig)

    def run(self, *argv, note=""):
        """Runs a command to its good end, and keeps what it took."""
        peak, before, began = self.home / "peak", self.relay.received, time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", PROBE, str(peak), *argv, *self.world.flags],
            env=self.world.environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{argv} ended with {done.returncode}\n{done.stderr}"
        seconds, received = time.monotonic() - began, (self.relay.received - before) / 1e6
        cost = Cost(seconds, int(peak.read_text()) / 1024, received, done.stdout)
        self.figure(note or "xlaunch " + " ".join(argv), cost.seconds, cost.memory, cost.received)
        return cost

    def json(self, *argv):
        """What a command prints with `-o json`."""
        return json.loads(self.run(*argv, "-o", "json").output)

    def figure(self, what, seconds=None, memory=None, received=None):
        """Keeps a line of the table."""
        numbers = [(seconds, ".1f"), (memory, ".0f"), (received, ".2f")]
        cells = ["-" if number is None else format(number, form) for number, form in numbers]
        self.figures.append(f"{what:58} {cells[0]:>8} {cells[1]:>9} {cells[2]:>9}")

    def bytes_of(self, path):
        """Megabytes of a collection as the API server sends it."""
        with self.api.stream(path) as body:
            return sum(iter(lambda: len(body.read()), 0)) / 1e6

    def table(self):
        """All figures."""
        return "\n".join([f"{'':58} {'wall s':>8} {'peak MiB':>9} {'MB':>9}", *self.figures])


@pytest.fixture
def fleet(control_plane, tmp_path, request):
    """Nodes for the whole JobSet; the figures are printed when the test has ended."""
    terminal = request.config.get_terminal_writer()
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with Relay(control_plane.ports["kube-apiserver"]) as relay:
        made = Fleet(control_plane, relay, tmp_path)
        try:
            with timed(made, f"{SLICES * HOSTS + 1} nodes created"):
                create_nodes(control_plane.api)
            yield made
        finally:
            with capture.global_and_fixture_disabled():
                terminal.line(f"\n{SLICES} slices of {HOSTS} hosts, load {os.getloadavg()[0]:.1f}\n{made.table()}")


@contextmanager
def timed(fleet, what):
    """Keeps how long something took."""
    began = time.monotonic()
    yield
    fleet.figure(what, time.monotonic() - began)


def create_nodes(api):
    """One pool for each slice and a node for the head, as GKE labels them, all played by kwok."""
    now = datetime.now(UTC)

    def create(spec):
        body = nodes.node(spec, now)
        body["metadata"]["annotations"] = {kwok.NODE_ANNOTATION: "fake"}
        api.request("POST", "/api/v1/nodes", body={"apiVersion": "v1", "kind": "Node", **body})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, nodes.plan(replace(TPU, hosts=HOSTS), SLICES, 1, 16)))


def submit(fleet):
    """Creates the JobSet with xlaunch; a patch gives its slices the hosts."""
    line = ["workload", "create-pathways", "--workload=fleet", f"--tpu-type={TPU.name}", f"--num-slices={SLICES}"]
    line += [f"--elastic-slices={SLICES}", "--docker-image=img", "--pathways-gcs-location=gs://my-bucket/tmp"]
    line += ["--command=sleep 600"]
    manifest = json.loads(fleet.world.xlaunch(*line, "--dry-run", "-o", "json").stdout)
    roles = manifest["spec"]["replicatedJobs"]
    roles[1]["template"]["spec"] |= {"parallelism": HOSTS, "completions": HOSTS}
    patch = fleet.home / "patch.json"
    patch.write_text(json.dumps({"spec": {"replicatedJobs": roles}}), encoding="utf-8")
    fleet.run(*line, f"--patch={patch}", note="xlaunch workload create-pathways")


@pytest.mark.verified("13.1", "13.2", "13.3", "13.4", "13.5", "13.6")
@pytest.mark.parametrize("control_plane", [PLANE], indirect=True, ids=["kwok"])
def test_a_fleet(fleet):
    submit(fleet)
    with timed(fleet, "until all of it runs"):
        fleet.run("wait", "fleet", "--for=running", f"--timeout={PATIENCE}s")
    all_is_read_once(fleet)
    each_slice_has_a_pool(fleet)
    forget_the_events(fleet)
    a_lost_pod_shows_at_once(fleet)
    with timed(fleet, "until all of it is deleted"):
        fleet.run("workload", "delete", "fleet", "--yes", f"--timeout={PATIENCE}s")
    for path in (PODS_PATH, "/apis/batch/v1/namespaces/default/jobs"):
        assert fleet.api.request("GET", path, query={"limit": "1"}).body["items"] == []
    assert fleet.json("workload", "list")["items"] == []


def all_is_read_once(fleet):
    """status and list are right, and neither reads or keeps more than it must."""
    status = fleet.json("status", "fleet")
    assert (status["phase"], status["alarms"]) == ("Running", [])
    assert [row["index"] for row in status["slices"]] == list(range(SLICES))
    assert {(row["hosts"], row["ready"], row["missing"], row["lost"]) for row in status["slices"]} == {
        (HOSTS, HOSTS, 0, 0)
    }
    seen = fleet.run("status", "fleet")
    pods, jobs = (fleet.bytes_of(f"{group}/namespaces/default/{kind}") for group, kind in COLLECTIONS)
    fleet.figure("all pods as JSON", received=pods)
    fleet.figure("all Jobs as JSON", received=jobs)
    assert seen.received < 1.1 * (pods + jobs) + 0.1
    [row] = fleet.json("workload", "list")["items"]
    assert (row["name"], row["phase"]) == ("fleet", "Running")
    listed = fleet.run("workload", "list")
    assert listed.received < 0.1
    # A page at a time is in memory, and of each object only what counts
    assert seen.memory - listed.memory < 32 + 2 * (pods + jobs)


COLLECTIONS = (("/api/v1", "pods"), ("/apis/batch/v1", "jobs"))
PODS_PATH, EVENTS_PATH = (f"/api/v1/namespaces/default/{kind}" for kind in ("pods", "events"))
WORKERS, JOB_INDEX = "jobset.sigs.k8s.io/replicatedjob-name=worker", "jobset.sigs.k8s.io/job-index"


def each_slice_has_a_pool(fleet):
    """All hosts of a slice are in one pool, and none of another slice is."""
    found = fleet.api.request("GET", PODS_PATH, query={"labelSelector": WORKERS}).body["items"]
    # A node has its pool's name and a number
    placed = {(pod["metadata"]["labels"][JOB_INDEX], pod["spec"]["nodeName"].rpartition("-")[0]) for pod in found}
    assert len(placed) == len({index for index, _ in placed}) == len({pool for _, pool in placed}) == SLICES


def forget_the_events(fleet):
    """The Job controller drops events when there are many pods, so nothing may rest on them."""
    made, refused = (job_events(fleet, reason) for reason in ("SuccessfulCreate", "FailedCreate"))
    fleet.figure(f"{sum(made)} events of Jobs for {PODS} pods")
    # Followers whose leader had no node yet: part of every start, though all of it runs
    assert refused
    fleet.figure(f"{len(refused)} events of refused followers, {sum(refused)} times")
    fleet.api.request("DELETE", EVENTS_PATH)


def job_events(fleet, reason):
    """How often each event of that reason about a Job happened."""
    found = fleet.api.request("GET", EVENTS_PATH, query={"fieldSelector": f"reason={reason}"}).body["items"]
    return [each.get("count") or 1 for each in found if each["involvedObject"]["kind"] == "Job"]


def a_lost_pod_shows_at_once(fleet):
    """The first status after the loss has it, and it is replaced after the Job's first wait."""
    index = SLICES // 2
    selector, pods = f"{WORKERS},{JOB_INDEX}={index}", PODS_PATH
    victim = fleet.api.request("GET", pods, query={"labelSelector": selector}).body["items"][0]["metadata"]["name"]
    began = time.monotonic()
    fleet.api.request("DELETE", f"{pods}/{victim}", body={"gracePeriodSeconds": 0})
    rows = fleet.json("status", "fleet")["slices"]
    assert rows[index]["lost"] == 1
    assert {row["lost"] for row in rows if row["index"] != index} == {0}
    fleet.figure("one pod deleted, until status had shown it", time.monotonic() - began)

    def replaced():
        found = fleet.api.request("GET", pods, query={"labelSelector": selector}).body["items"]
        names = {pod["metadata"]["name"] for pod in found if is_ready(pod)}
        return len(names) == HOSTS and victim not in names

    until(replaced, "the replacement", timeout=120)
    seconds = time.monotonic() - began
    fleet.figure("one pod deleted, until its replacement was ready", seconds)
    assert seconds > 9  # of 10, which begin with the whole second of the deletion
    row = fleet.json("status", "fleet")["slices"][index]
    assert (row["ready"], row["missing"], row["lost"]) == (HOSTS, 0, 1)
