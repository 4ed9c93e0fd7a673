"""Any order of births, deaths, deletions, lost nodes and passing time: what must hold whatever happens."""

import asyncio
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from xlaunch.core.tpu import lookup
from xlaunch.local.kube import StatusError
from xlaunch.local.node import nodes
from xlaunch.local.node.agent import Agent

from .fakes import World, container, pod, settle, sidecar

NODES = ("cpu-np-0", "tpu-0-0")
NAMES = ("a", "b")
SHAPES = {
    "never": lambda: pod(policy="Never"),
    "on failure": lambda: pod(policy="OnFailure"),
    "sidecars": lambda: pod(policy="Never", inits=[sidecar("rm"), container("setup"), sidecar("proxy", "stubborn")]),
    "stubborn": lambda: pod(container(command="stubborn"), policy="Always", grace=5),
    "held": lambda: pod(policy="OnFailure"),
}
ACTIONS = st.one_of(
    st.tuples(st.just("create"), st.sampled_from(NAMES), st.sampled_from(NODES), st.sampled_from(sorted(SHAPES))),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.sampled_from([0, 1, 30])),
    st.tuples(st.just("exit"), st.integers(0, 5), st.sampled_from([0, 1, 137])),
    st.tuples(st.just("lose"), st.sampled_from(NODES)),
    st.tuples(st.just("find"), st.sampled_from(NODES)),
    st.tuples(st.just("advance"), st.sampled_from([1, 11, 40])),
    st.tuples(st.just("settle")),
)


@contextmanager
def allowed(reason):
    """Lets one refusal pass."""
    try:
        yield
    except StatusError as error:
        if error.reason != reason:
            raise


class Story:
    """Does what it is told, as far as it is possible, and checks what must hold."""

    def __init__(self, world):
        self.world = world

    async def create(self, name, node, shape):
        body = SHAPES[shape]()
        body["metadata"]["name"] = name
        body["spec"]["nodeName"] = node
        if shape == "held":
            body["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
        with allowed("AlreadyExists"):
            await self.world.kube.create("pods", body, "default")

    async def delete(self, name, grace):
        with allowed("NotFound"):
            await self.world.kube.delete("pods", name, "default", grace=grace)

    async def exit(self, index, code):
        running = self.world.spawner.running()
        if running:
            running[index % len(running)].exit(code)

    async def lose(self, node):
        await self._annotate(node, "true")

    async def find(self, node):
        await self._annotate(node, None)

    async def _annotate(self, node, value):
        await self.world.kube.patch("nodes", node, {"metadata": {"annotations": {nodes.LOST: value}}})

    async def advance(self, seconds):
        await self.world.clock.advance(seconds)

    async def settle(self):
        await settle()

    def check(self):
        """No container runs twice, and nothing went wrong inside."""
        homes = Counter(process.invocation.env["HOME"] for process in self.world.spawner.running())
        assert all(count == 1 for count in homes.values()), homes
        assert self.world.errors == []

    async def clean_up(self):
        """All nodes come back, all pods are deleted, and time passes: nothing may be left."""
        for node in NODES:
            await self.find(node)
        await settle()
        for name in NAMES:
            await self.delete(name, 1)
        await self.world.clock.advance(60)
        found, _ = await self.world.kube.list("pods", "default")
        for each in found:
            assert each["metadata"]["finalizers"], "only a finalizer may keep a pod"
            assert each["status"]["phase"] in ("Succeeded", "Failed")
            assert each["metadata"]["deletionGracePeriodSeconds"] == 0
            await self.world.kube.patch("pods", each["metadata"]["name"], {"metadata": {"finalizers": None}}, "default")
        await settle()
        found, _ = await self.world.kube.list("pods", "default")
        assert found == []
        assert self.world.spawner.running() == []
        for directory in ("pods", "logs"):
            assert list((self.world.site.directory / directory).glob("*")) == []
        assert all(path.read_text() == "" for path in (self.world.site.directory / "hosts").glob("*"))


@example([("create", "a", "cpu-np-0", "never"), ("settle",), ("delete", "a", 0), ("lose", "cpu-np-0")])
@example([("create", "a", "cpu-np-0", "never"), ("lose", "cpu-np-0"), ("settle",), ("delete", "a", 0)])
@settings(max_examples=60, deadline=None)
@given(st.lists(ACTIONS, max_size=25))
def test_whatever_happens(actions):
    async def run(directory):
        world = World(directory)
        agent = Agent(world.machine, nodes.plan(lookup("v5litepod-8"), 1, 1, 77))
        await agent.register()
        task = asyncio.ensure_future(agent.run())
        await settle()
        story = Story(world)
        for name, *arguments in actions:
            await getattr(story, name)(*arguments)
            story.check()
        await settle()
        story.check()
        await story.clean_up()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(run(Path(directory)))
