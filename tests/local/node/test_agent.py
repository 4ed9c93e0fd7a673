"""The agent of a whole cluster in a world of fake processes: nodes that come, go and come back."""

import asyncio

import pytest

from xlaunch.core.conditions import is_true
from xlaunch.core.tpu import lookup
from xlaunch.local.kube import STRATEGIC, StatusError
from xlaunch.local.node import nodes
from xlaunch.local.node.agent import Agent
from xlaunch.local.objects import LEASE_NAMESPACE

from .fakes import World, container, pod, settle, sidecar

LOST = {"metadata": {"annotations": {nodes.LOST: "true"}}}
FOUND = {"metadata": {"annotations": {nodes.LOST: None}}}


def scenario(directory, story, kube=None):
    async def run():
        world = World(directory, kube)
        agent = Agent(world.machine, nodes.plan(lookup("v5litepod-16"), 1, 1, 77))
        await agent.register()
        task = asyncio.ensure_future(agent.run())
        await settle()
        try:
            await story(world, agent)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert world.errors == []
        return world

    return asyncio.run(run())


async def start(world, body=None):
    await world.kube.create("pods", body or pod(), "default")
    await settle()


async def mark(world, node, patch):
    await world.kube.patch("nodes", node, patch)
    await settle()


async def lease(world, node):
    return (await world.kube.get("leases", node, LEASE_NAMESPACE))["spec"]["renewTime"]


def test_nodes_are_registered_once(tmp_path):
    async def story(world, agent):
        found, _ = await world.kube.list("nodes")
        assert [each["metadata"]["name"] for each in found] == ["cpu-np-0", *(f"tpu-0-{host}" for host in range(4))]
        await agent.register()
        again, _ = await world.kube.list("nodes")
        assert [each["metadata"]["uid"] for each in again] == [each["metadata"]["uid"] for each in found]

    scenario(tmp_path, story)


def test_an_agent_that_comes_back_elsewhere_says_where_its_nodes_are(tmp_path):
    async def story(world, agent):
        moved = Agent(world.machine, nodes.plan(lookup("v5litepod-16"), 1, 1, 78))
        await moved.register()
        node = await world.kube.get("nodes", "tpu-0-0")
        assert {each["type"]: each["address"] for each in node["status"]["addresses"]}["InternalIP"] == "127.78.0.2"

    scenario(tmp_path, story)


def test_pods_of_our_nodes_are_run_and_others_are_not(tmp_path):
    async def story(world, agent):
        await start(world)
        await start(world, pod(name="elsewhere", node="not-ours"))
        unbound = pod(name="unbound")
        del unbound["spec"]["nodeName"]
        await start(world, unbound)
        assert len(world.spawner.all) == 1
        await world.kube.patch("pods", "unbound", {"target": {"name": "tpu-0-0"}}, "default", subresource="binding")
        await settle()
        assert len(world.spawner.all) == 2
        assert (await world.status("unbound"))["hostIP"] == "127.77.0.2"
        assert (await world.status())["podIP"] == "127.77.128.1"

    scenario(tmp_path, story)


def test_leases_are_renewed_every_ten_seconds(tmp_path):
    async def story(world, agent):
        assert await lease(world, "tpu-0-3") == "2026-11-29T12:00:00.000000Z"
        await world.clock.advance(10)
        assert await lease(world, "tpu-0-3") == "2026-11-29T12:00:10.000000Z"
        await world.kube.delete("leases", "tpu-0-3", LEASE_NAMESPACE)
        await world.clock.advance(10)
        assert await lease(world, "tpu-0-3") == "2026-11-29T12:00:20.000000Z"

    scenario(tmp_path, story)


def test_a_lease_of_another_length_is_renewed_every_quarter_of_it(tmp_path):
    async def story(world, agent):
        other = Agent(world.machine, nodes.plan(lookup("v5litepod-16"), 1, 1, 77), lease_seconds=8)
        task = asyncio.ensure_future(other.run())
        await world.clock.advance(2)
        assert await lease(world, "tpu-0-3") == "2026-11-29T12:00:02.000000Z"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    scenario(tmp_path, story)


def test_a_lost_node_falls_silent(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1", policy="OnFailure"))
        before = await world.kube.get("pods", "p", "default")
        await mark(world, "tpu-0-1", LOST)
        assert world.spawner.running() == []
        assert world.spawner.all[0].signals == []  # no time to say goodbye
        await world.clock.advance(30)
        assert await world.kube.get("pods", "p", "default") == before
        assert await lease(world, "tpu-0-1") == "2026-11-29T12:00:00.000000Z"
        assert await lease(world, "tpu-0-0") == "2026-11-29T12:00:30.000000Z"

    scenario(tmp_path, story)


def test_nothing_starts_on_a_lost_node(tmp_path):
    async def story(world, agent):
        await mark(world, "tpu-0-1", LOST)
        await start(world, pod(node="tpu-0-1"))
        assert world.spawner.all == []
        await mark(world, "tpu-0-1", FOUND)
        assert await world.phase() == "Running"

    scenario(tmp_path, story)


def test_a_node_comes_back_as_after_a_reboot(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1", policy="OnFailure", inits=[sidecar()]))
        await mark(world, "tpu-0-1", LOST)
        await mark(world, "tpu-0-1", FOUND)
        status = await world.status()
        main = status["containerStatuses"][0]
        assert status["phase"] == "Running"
        assert main["restartCount"] == 1
        assert main["lastState"]["terminated"]["exitCode"] == 255
        assert main["lastState"]["terminated"]["reason"] == "Unknown"
        assert len(world.spawner.running()) == 2

    scenario(tmp_path, story)


def test_a_never_pod_has_failed_when_its_node_comes_back(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1"))
        await mark(world, "tpu-0-1", LOST)
        await mark(world, "tpu-0-1", FOUND)
        assert await world.phase() == "Failed"

    scenario(tmp_path, story)


def test_a_node_that_comes_back_says_that_it_is_ready(tmp_path):
    async def story(world, agent):
        await mark(world, "tpu-0-1", LOST)
        unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        await world.kube.patch("nodes", "tpu-0-1", {"status": {"conditions": [unknown]}}, subresource="status")
        await mark(world, "tpu-0-1", FOUND)
        assert is_true((await world.kube.get("nodes", "tpu-0-1"))["status"], "Ready")

    scenario(tmp_path, story)


def test_a_node_called_unknown_by_mistake_is_ready_at_the_next_heartbeat(tmp_path):
    async def story(world, agent):
        unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        await world.kube.patch("nodes", "tpu-0-1", {"status": {"conditions": [unknown]}}, subresource="status")
        await world.clock.advance(10)
        assert is_true((await world.kube.get("nodes", "tpu-0-1"))["status"], "Ready")

    scenario(tmp_path, story)


def test_a_pod_called_unready_by_mistake_is_set_right(tmp_path):
    async def story(world, agent):
        await start(world)
        unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
        await world.kube.patch("pods", "p", unready, "default", kind=STRATEGIC, subresource="status")
        await settle()
        ready = next(each for each in (await world.status())["conditions"] if each["type"] == "Ready")
        assert ready["status"] == "True"

    scenario(tmp_path, story)


def test_conditions_of_others_are_left_alone(tmp_path):
    async def story(world, agent):
        await start(world)
        disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}
        patch = {"status": {"conditions": [disrupted]}}
        await world.kube.patch("pods", "p", patch, "default", kind=STRATEGIC, subresource="status")
        world.spawner.all[0].exit(1)
        await settle()
        found = {each["type"]: each for each in (await world.status())["conditions"]}
        assert found["DisruptionTarget"]["reason"] == "DeletionByTaintManager"
        assert found["Ready"]["reason"] == "PodFailed"

    scenario(tmp_path, story)


def test_a_pod_deleted_while_its_node_was_lost_ends_when_it_comes_back(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1"))
        await mark(world, "tpu-0-1", LOST)
        await world.kube.delete("pods", "p", "default", grace=30)
        await world.clock.advance(60)
        assert (await world.kube.get("pods", "p", "default"))["metadata"]["deletionTimestamp"]
        await mark(world, "tpu-0-1", FOUND)
        with pytest.raises(StatusError, match="not found"):
            await world.kube.get("pods", "p", "default")

    scenario(tmp_path, story)


def test_a_deleted_node_is_gone_with_its_processes_and_may_be_created_again(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1", policy="OnFailure"))
        node = await world.kube.get("nodes", "tpu-0-1")
        await world.kube.delete("nodes", "tpu-0-1")
        await settle()
        assert world.spawner.running() == []
        node["metadata"] = {key: node["metadata"][key] for key in ("name", "labels")}
        await world.kube.create("nodes", node)
        await settle()
        assert len(world.spawner.running()) == 1

    scenario(tmp_path, story)


def test_a_node_made_again_by_its_bare_name_is_the_machine_that_it_was(tmp_path):
    async def story(world, agent):
        before = await world.kube.get("nodes", "tpu-0-1")
        await world.kube.delete("nodes", "tpu-0-1")
        await settle()
        condemned = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}  # as a real API server begins
        await world.kube.create("nodes", {"metadata": {"name": "tpu-0-1"}, "spec": {"taints": [condemned]}})
        await settle()
        again = await world.kube.get("nodes", "tpu-0-1")
        assert again["metadata"]["labels"] == before["metadata"]["labels"]
        assert condemned in again["spec"]["taints"]
        assert before["spec"]["taints"][0] in again["spec"]["taints"]
        assert again["status"] == before["status"]

    scenario(tmp_path, story)


def test_a_node_that_flaps_never_runs_a_container_twice(tmp_path):
    async def story(world, agent):
        await start(world, pod(node="tpu-0-1", policy="OnFailure"))
        for _ in range(5):
            await world.kube.patch("nodes", "tpu-0-1", LOST)
            await world.kube.patch("nodes", "tpu-0-1", FOUND)
        await settle()
        assert len(world.spawner.running()) == 1

    scenario(tmp_path, story)


def test_no_process_is_left_when_the_agent_ends(tmp_path):
    async def story(world, agent):
        for index in range(3):
            await start(world, pod(container(command="stubborn"), name=f"p{index}"))
        assert len(world.spawner.running()) == 3

    assert scenario(tmp_path, story).spawner.running() == []


def test_a_pod_that_was_missed_in_a_broken_watch_still_ends(tmp_path):
    """The watch is too old (410): the list that follows tells of the deletion."""

    class Forgetful:
        """A Kube whose first watch of pods ends with an ERROR event at the first deletion, which it hides."""

        def __init__(self, world):
            self._kube = world.kube
            self.broken = False

        def __getattr__(self, name):
            return getattr(self._kube, name)

        async def watch(self, resource, *, since):
            async for event in self._kube.watch(resource, since=since):
                if resource == "pods" and event.type == "DELETED" and not self.broken:
                    self.broken = True
                    return
                yield event

    forgetful = Forgetful(World(tmp_path))

    async def story(world, agent):
        await start(world)
        await world.kube.delete("pods", "p", "default", grace=0)
        await settle()
        assert len(world.spawner.running()) == 1
        await world.clock.advance(1)
        assert world.spawner.running() == []

    scenario(tmp_path, story, forgetful)
    assert forgetful.broken


def test_an_api_server_that_refuses_is_reported_and_survived(tmp_path):
    class Refusing:
        """A Kube that refuses leases."""

        def __init__(self, world):
            self._kube = world.kube

        def __getattr__(self, name):
            return getattr(self._kube, name)

        async def patch(self, resource, *args, **options):
            if resource == "leases":
                raise StatusError(500, "InternalError", "no leases today")
            return await self._kube.patch(resource, *args, **options)

    async def run():
        world = World(tmp_path, Refusing(World(tmp_path)))
        agent = Agent(world.machine, nodes.plan(lookup("v5litepod-16"), 1, 1, 77))
        await agent.register()
        task = asyncio.ensure_future(agent.run())
        await start(world)
        await world.clock.advance(20)
        assert await world.phase() == "Running"
        assert {what for what, _ in world.errors} == {"lease cpu-np-0", *(f"lease tpu-0-{host}" for host in range(4))}
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
