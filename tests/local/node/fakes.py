"""A clock that tests move, processes that tests end, and a node agent between them and an API server in memory."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.node.hosts import Hosts
from xlaunch.local.node.launch import Site
from xlaunch.local.node.pod import Machine
from xlaunch.local.node.process import StartError
from xlaunch.local.recorder import Recorder

START = datetime(2026, 11, 29, 12, tzinfo=UTC)


class FakeClock:
    def __init__(self):
        self.time = 1000.0
        self._sleepers = []

    def now(self):
        return START + timedelta(seconds=self.time - 1000.0)

    def monotonic(self):
        return self.time

    async def sleep(self, seconds):
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.time + seconds, future))
        await future

    async def advance(self, seconds):
        """Moves the time on, waking who is due in the order in which they are due."""
        await settle()
        end = self.time + seconds
        while due := sorted(((at, future) for at, future in self._sleepers if at <= end), key=lambda each: each[0]):
            self.time, future = due[0]
            self._sleepers.remove(due[0])
            if not future.done():
                future.set_result(None)
            await settle()
        self.time = end


async def settle():
    """Lets everything run that can run without time passing."""
    for _ in range(120):
        await asyncio.sleep(0)


class FakeProcess:
    """A process that ends when a test says so; `on_term` is its exit code after SIGTERM, None if it ignores it."""

    def __init__(self, pid, invocation, log, on_term):
        self.pid = pid
        self.invocation = invocation
        self.log = log
        self.on_term = on_term
        self.signals = []
        self.killed = False
        self._end = asyncio.get_running_loop().create_future()

    async def wait(self):
        return await asyncio.shield(self._end)

    def exit(self, code):
        self.log.close()
        self._end.set_result(code)

    @property
    def running(self):
        return not self._end.done()

    def signal(self, number):
        self.signals.append(number)
        if self.on_term is not None and self.running:
            self.exit(self.on_term)

    def kill(self):
        self.killed = True
        if self.running:
            self.exit(137)


class Spawner:
    """Starts fake processes; the first word of the command chooses what becomes of one."""

    def __init__(self):
        self.all = []

    def __call__(self, invocation, container_id, log):
        command = invocation.argv[0]
        if command == "missing":
            log.close()
            raise StartError('exec: "missing": executable file not found in $PATH')
        on_term = {"stubborn": None, "polite": 0}.get(command, 143)
        process = FakeProcess(100 + len(self.all), invocation, log, on_term)
        self.all.append(process)
        return process

    def of(self, container, tmp=None):
        """All processes of a container, oldest first (its scratch directory bears its name)."""
        return [each for each in self.all if Path(each.invocation.env["HOME"]).name == container]

    def running(self):
        return [each for each in self.all if each.running]


class World:
    """One machine with an API server in memory."""

    def __init__(self, directory, kube=None):
        self.clock = FakeClock()
        self.kube = kube or EmbeddedKube(self.clock)
        self.spawner = Spawner()
        self.errors = []
        self.site = Site(Path(directory), 77, 1.0, lambda container: None, Path("/shims"), {"PATH": "/bin"})
        recorder = Recorder(self.kube, self.clock, "kubelet", self.report)
        hosts = Hosts(Path(directory) / "hosts")
        self.machine = Machine(self.kube, self.clock, self.site, hosts, recorder, self.spawner, self.report)

    def report(self, what, error):
        self.errors.append((what, error))

    async def status(self, name="p"):
        return (await self.kube.get("pods", name, "default"))["status"]

    async def phase(self, name="p"):
        return (await self.status(name))["phase"]

    async def events(self):
        found, _ = await self.kube.list("events", "default")
        return [(each["reason"], each["message"]) for each in found]


def container(name="main", command="run", **fields):
    return {"name": name, "image": "example.com/image", "command": [command], **fields}


def pod(*mains, inits=(), name="p", node="cpu-np-0", policy="Never", grace=30, **spec):
    body = {
        "nodeName": node,
        "restartPolicy": policy,
        "terminationGracePeriodSeconds": grace,
        "initContainers": list(inits),
        "containers": list(mains) or [container()],
        **spec,
    }
    if not inits:
        del body["initContainers"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": body}


def sidecar(name="side", command="run"):
    return container(name, command, restartPolicy="Always")
