"""An embedded API server with its controllers, fake nodes, and a clock that tests move: no process, no waiting."""

import asyncio
import copy
import heapq
import itertools
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import yaml

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.run import run
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError
from xlaunch.local.time import ScaledClock

DATA = Path(__file__).parent.parent / "data"
START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
TERMINATION = 0.5


class VirtualClock(ScaledClock):
    """Time stands still while code runs; `advance` moves it from one sleeper to the next."""

    def __init__(self, scale=1.0):
        super().__init__(scale)
        self.seconds = 0.0
        self._sleepers = []
        self._order = itertools.count()

    def now(self):
        return START + timedelta(seconds=self.seconds * self.scale)

    def monotonic(self):
        return self.seconds

    async def sleep(self, seconds):
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.seconds + seconds, next(self._order), woken))
        await woken

    async def settle(self):
        """Lets everything run that need not wait for time; nothing here waits for anything else."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(0)
        while loop._ready:  # noqa: ASYNC110 - there is no event for "nothing left to run"
            await asyncio.sleep(0)

    async def advance(self, seconds):
        """Moves on by so many seconds of cluster time, stopping at every sleeper on the way."""
        end = self.seconds + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, woken = heapq.heappop(self._sleepers)
            self.seconds = max(self.seconds, due)
            if not woken.done():
                woken.set_result(None)
                await self.settle()
        self.seconds = end


def node(name, pool, **more):
    """A CPU node, or a TPU host with `tpu=4`."""
    tpu = more.get("tpu", 0)
    labels = {"kubernetes.io/hostname": name, "cloud.google.com/gke-nodepool": pool, **more.get("labels", {})}
    amounts = {"cpu": "64", "memory": "512G", "pods": "110", **({"google.com/tpu": str(tpu)} if tpu else {})}
    taints = [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}] if tpu else []
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": "2026-11-29T12:00:00Z",
             "lastTransitionTime": "2026-11-29T12:00:00Z"}  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]},
    }


class Bed:
    """What a test of controllers works with. `dead` nodes neither renew their lease nor touch their pods."""

    def __init__(self, kube, clock):
        self.kube = kube
        self.clock = clock
        self.dead = set()
        self.started = set()
        self.reports = []

    def report(self, doing, error):
        self.reports.append((doing, error))

    async def advance(self, seconds):
        await self.clock.advance(seconds)

    async def until(self, condition, limit=60.0, step=0.25):
        """Moves time until the async condition holds; returns how long that took."""
        begin = self.clock.seconds
        while not await condition():
            assert self.clock.seconds - begin < limit, "did not come true in time"
            await self.advance(step)
        return self.clock.seconds - begin

    async def pods(self, labels="", namespace="default"):
        """The pods of indexed Jobs by name, without the random end."""
        pods, _ = await self.kube.list("pods", namespace, labels=labels)
        return {pod["metadata"]["name"].rpartition("-")[0]: pod for pod in pods}

    async def running(self):
        """How many pods run and are not being deleted; asked often, so without a copy of them all."""
        pods = self.kube.store.items("pods").values()
        return sum(pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"] for pod in pods)

    async def get(self, resource, name):
        return await self.kube.get(resource, name, "default")

    async def exists(self, resource, name):
        try:
            await self.get(resource, name)
        except StatusError as error:
            if error.code == 404:
                return False
            raise
        return True

    async def events(self, name):
        """(type, reason, message) of all events about objects of that name, in order."""
        events, _ = await self.kube.list("events", "default")
        mine = [event for event in events if event["involvedObject"]["name"] == name]
        mine.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [(event["type"], event["reason"], event["message"]) for event in mine]

    async def finish(self, pod, code):
        """All main containers of the pod exit with that code, under restartPolicy Never."""
        ended = {"exitCode": code, "finishedAt": self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")}
        statuses = [
            {"name": each["name"], "restartCount": 0, "ready": False, "state": {"terminated": ended}}
            for each in pod["spec"]["containers"]
        ]
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": statuses,
                  "conditions": [{"type": "Ready", "status": "False"}]}  # fmt: skip
        await self.kube.patch("pods", pod["metadata"]["name"], {"status": status}, "default", subresource="status")

    async def restarts(self, pod, count, *, init=False):
        """Sets the restart count of the pod's first container, or of its first sidecar."""
        place = "initContainerStatuses" if init else "containerStatuses"
        entry = {"name": "x", "restartCount": count, "ready": True, "state": {"running": {}}}
        name = pod["metadata"]["name"]
        await self.kube.patch("pods", name, {"status": {place: [entry]}}, "default", subresource="status")

    async def _act(self):
        """The nodes: pods run as soon as they are bound, and end half a second after they are told to."""
        _, since = await self.kube.list("pods")
        async for event in self.kube.watch("pods", since=since):
            pod = event.object
            if event.type == "DELETED" or pod["spec"].get("nodeName") in (*self.dead, None):
                continue
            if pod["metadata"].get("deletionTimestamp"):
                asyncio.ensure_future(self._end(pod))  # noqa: RUF006 - ends with the test's loop
            elif pod["metadata"]["uid"] not in self.started:
                self.started.add(pod["metadata"]["uid"])
                await self._start(pod)

    async def _start(self, pod):
        statuses = [
            {"name": each["name"], "restartCount": 0, "ready": True, "state": {"running": {}}}
            for each in pod["spec"]["containers"]
        ]
        conditions = [*pod["status"].get("conditions", []), {"type": "Ready", "status": "True"}]
        status = {"phase": "Running", "containerStatuses": statuses, "conditions": conditions}
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        await self.kube.patch("pods", name, {"status": status}, namespace, subresource="status")

    async def _end(self, pod):
        await self.clock.sleep(TERMINATION)
        if pod["spec"]["nodeName"] in self.dead:
            return
        meta = pod["metadata"]
        try:
            await self.kube.delete("pods", meta["name"], meta["namespace"], grace=0, uid=meta["uid"])
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    async def _beat(self):
        """Leases are renewed every 10 s."""
        while True:
            nodes, _ = await self.kube.list("nodes")
            for each in nodes:
                name = each["metadata"]["name"]
                if name not in self.dead:
                    await self._renew(name)
            await self.clock.sleep(10.0)

    async def _renew(self, name):
        spec = {"spec": {"renewTime": self.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "holderIdentity": name}}
        try:
            await self.kube.patch("leases", name, spec, "kube-node-lease")
        except StatusError:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, **spec}
            await self.kube.create("leases", lease, "kube-node-lease")


@asynccontextmanager
async def bed(*, cpu=1, pools=0, hosts=4, scale=1.0, gates=()):
    """A running bed with `cpu` CPU nodes and `pools` TPU node pools of `hosts` hosts with 4 chips each.

    `gates`: JobSet's feature gates that are on.
    """
    clock = VirtualClock(scale)
    kube = EmbeddedKube(clock, hooks(gates))
    made = Bed(kube, clock)
    for index in range(cpu):
        await kube.create("nodes", node(f"cpu-{index}", "cpu-np"))
    tpu = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "4x4"}
    for pool, host in itertools.product(range(pools), range(hosts)):
        await kube.create("nodes", node(f"tpu-{pool}-{host}", f"tpu-{pool}", tpu=4, labels=tpu))
    tasks = [asyncio.ensure_future(each) for each in (run(kube, clock, made.report, gates), made._act(), made._beat())]
    try:
        await clock.settle()
        yield made
    finally:
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    broken = [each for each in outcomes if isinstance(each, Exception)]
    assert not broken, broken


def reference_jobset(**spec):
    """The reference manifest: a head and three slices of four hosts; `spec` replaces fields of the spec."""
    jobset = copy.deepcopy(manifest())
    jobset["spec"].update(spec)
    return jobset


@cache
def manifest():
    return yaml.safe_load((DATA / "jobset-elastic-v5e16x3.yaml").read_text())


def on_virtual_time(test, **options):
    """Runs an async function with a bed."""

    async def go():
        async with bed(**options) as made:
            await test(made)

    asyncio.run(go())
