import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from xlaunch.core.tpu import lookup
from xlaunch.local.kube import StatusError
from xlaunch.local.logs import LogOptions
from xlaunch.local.node import nodes
from xlaunch.local.node.agent import Agent
from xlaunch.local.node.logsource import PodLogs, since

from .fakes import World, container, pod, settle

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (LogOptions(), b""),
        (LogOptions(since_seconds=60), b"2026-11-29T11:59:00.000000000Z"),
        (LogOptions(since_time=NOW + timedelta(microseconds=5)), b"2026-11-29T12:00:00.000005000Z"),
    ],
)
def test_since(options, expected):
    assert since(options, NOW) == expected


class Cluster:
    """One pod on an agent, and its logs."""

    def __init__(self, world, logs):
        self.world = world
        self.logs = logs

    async def write(self, text):
        self.world.spawner.all[-1].log.write(b"stdout", [(False, text)])
        await settle()

    async def exit(self, code):
        self.world.spawner.all[-1].exit(code)
        await settle()

    async def get(self, pod="p", container="main", **options):
        return b"".join([block async for block in self.logs.open("default", pod, container, LogOptions(**options))])

    async def refusal(self, **options):
        with pytest.raises(StatusError) as error:
            await self.get(**options)
        assert error.value.code in (400, 500)
        return error.value.message


def scenario(directory, story, body=None):
    async def run():
        world = World(directory)
        agent = Agent(world.machine, nodes.plan(lookup("v5litepod-16"), 1, 1, 77))
        await agent.register()
        task = asyncio.ensure_future(agent.run())
        await world.kube.create("pods", body or pod(policy="OnFailure"), "default")
        await settle()
        await story(Cluster(world, PodLogs(agent)))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())


def test_current_and_previous_instance(tmp_path):
    async def story(cluster):
        await cluster.write(b"one")
        assert await cluster.get() == b"one\n"
        assert await cluster.refusal(previous=True) == 'previous terminated container "main" in pod "p" not found'
        await cluster.exit(1)
        await cluster.write(b"two")
        assert await cluster.get() == b"two\n"
        assert await cluster.get(previous=True) == b"one\n"

    scenario(tmp_path, story)


def test_in_the_crash_loop_both_mean_the_last_instance(tmp_path):
    async def story(cluster):
        await cluster.exit(1)
        await cluster.write(b"two")
        await cluster.exit(1)
        assert await cluster.get() == b"two\n"
        assert await cluster.get(previous=True) == b"two\n"

    scenario(tmp_path, story)


def test_only_two_instances_are_kept(tmp_path):
    async def story(cluster):
        for number in range(4):
            await cluster.write(b"%d" % number)
            await cluster.exit(1)
            await cluster.world.clock.advance(301)
        assert sorted(path.name for path in tmp_path.glob("logs/*/main/*")) == ["3.log", "4.log"]
        assert await cluster.get(previous=True) == b"3\n"

    scenario(tmp_path, story)


def test_follow_ends_with_the_instance(tmp_path):
    async def story(cluster):
        await cluster.write(b"one")
        task = asyncio.ensure_future(cluster.get(follow=True))
        await settle()
        await cluster.write(b"two")
        await cluster.exit(1)
        assert await task == b"one\ntwo\n"

    scenario(tmp_path, story)


def test_the_first_block_comes_at_once(tmp_path):
    async def story(cluster):
        stream = cluster.logs.open("default", "p", "main", LogOptions(follow=True))
        assert await anext(stream) == b""
        await stream.aclose()

    scenario(tmp_path, story)


def test_logs_of_an_ended_pod_stay(tmp_path):
    async def story(cluster):
        await cluster.write(b"last words")
        await cluster.exit(0)
        assert await cluster.world.phase() == "Succeeded"
        assert await cluster.get(follow=True) == b"last words\n"

    scenario(tmp_path, story)


def test_waiting_and_unknown_containers(tmp_path):
    async def story(cluster):
        assert await cluster.refusal(container="none") == 'container "none" in pod "p" is not available'
        assert await cluster.refusal() == 'container "main" in pod "p" is waiting to start: PodInitializing'
        assert await cluster.refusal(pod="other") == "dial tcp its node:10250: connect: no route to host"

    scenario(tmp_path, story, pod(inits=[container("setup")]))


def test_a_lost_node_serves_nothing_and_the_old_instance_once_it_is_back(tmp_path):
    async def story(cluster):
        kube = cluster.world.kube
        await cluster.write(b"before")
        await kube.patch("nodes", "cpu-np-0", {"metadata": {"annotations": {nodes.LOST: "true"}}})
        await settle()
        assert await cluster.refusal() == "dial tcp 127.77.0.1:10250: connect: no route to host"
        await kube.patch("nodes", "cpu-np-0", {"metadata": {"annotations": {nodes.LOST: None}}})
        await settle()
        await cluster.write(b"after")
        assert await cluster.get() == b"after\n"
        assert await cluster.get(previous=True) == b"before\n"

    scenario(tmp_path, story)
