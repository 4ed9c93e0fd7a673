"""One pod's life with fake processes and time that tests move."""

import asyncio
import signal

import pytest

from xlaunch.local.kube import StatusError
from xlaunch.local.node.env import Addresses
from xlaunch.local.node.pod import PodRunner, address_of

from .fakes import World, container, pod, settle, sidecar

WHERE = Addresses("127.77.0.1", "127.77.0.1")


class Running:
    """A world in which one pod is run, its changes fed to the runner as the agent would."""

    def __init__(self, directory, body):
        self.world = World(directory)
        self.body = body

    async def __aenter__(self):
        world = self.world
        self.object = await world.kube.create("pods", self.body, "default")
        self.runner = PodRunner(self.object, WHERE, world.machine)
        self.task = asyncio.ensure_future(self.runner.run())
        self.watch = asyncio.ensure_future(self._feed())
        await settle()
        return self

    async def _feed(self):
        since = self.object["metadata"]["resourceVersion"]
        async for event in self.world.kube.watch("pods", since=since):
            if event.type == "DELETED":
                self.runner.removed()
            else:
                self.runner.update(event.object)

    async def __aexit__(self, *_):
        self.watch.cancel()
        self.task.cancel()
        await asyncio.gather(self.watch, self.task, return_exceptions=True)

    def process(self, name="main"):
        return self.world.spawner.of(name)[-1]

    async def exit(self, name="main", code=0):
        self.process(name).exit(code)
        await settle()

    async def delete(self, **options):
        await self.world.kube.delete("pods", "p", "default", **options)
        await settle()

    async def states(self):
        """container -> (state, restartCount)"""
        status = await self.world.status()
        found = [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]
        return {each["name"]: (next(iter(each["state"])), each["restartCount"]) for each in found}

    async def container(self, name="main"):
        status = await self.world.status()
        found = [*status.get("initContainerStatuses", ()), *status["containerStatuses"]]
        return next(each for each in found if each["name"] == name)


def scenario(directory, body, story):
    async def run():
        async with Running(directory, body) as running:
            await story(running)
            assert running.world.errors == []

    asyncio.run(run())


def test_a_pod_that_runs(tmp_path):
    async def story(running):
        assert await running.world.phase() == "Running"
        status = await running.world.status()
        assert status["podIP"] == status["hostIP"] == "127.77.0.1"
        assert status["startTime"] == "2026-11-29T12:00:00Z"
        conditions = {each["type"]: each["status"] for each in status["conditions"]}
        assert conditions == dict.fromkeys(
            ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"), "True"
        )
        main = await running.container()
        assert main["ready"] is main["started"] is True
        assert main["containerID"].startswith("xlaunch://")
        assert ("Started", "Started container main as process 100") in await running.world.events()

    scenario(tmp_path, pod(), story)


@pytest.mark.parametrize(
    ("policy", "code", "phase", "state", "restarts"),
    [
        ("Never", 0, "Succeeded", "terminated", 0),
        ("Never", 3, "Failed", "terminated", 0),
        ("Never", 137, "Failed", "terminated", 0),
        ("OnFailure", 0, "Succeeded", "terminated", 0),
        ("OnFailure", 3, "Running", "running", 1),
        ("Always", 0, "Running", "running", 1),
        ("Always", 3, "Running", "running", 1),
    ],
)
def test_restart_policies(tmp_path, policy, code, phase, state, restarts):
    async def story(running):
        await running.exit(code=code)
        assert await running.world.phase() == phase
        assert await running.states() == {"main": (state, restarts)}
        main = await running.container()
        ended = main["state"].get("terminated") or main["lastState"]["terminated"]
        assert ended["exitCode"] == code
        assert ended["reason"] == ("Error" if code else "Completed")

    scenario(tmp_path, pod(policy=policy), story)


def test_crash_loop_waits_10_then_20_seconds(tmp_path):
    async def story(running):
        world = running.world
        await running.exit(code=1)  # the first restart is at once
        await running.exit(code=1)
        main = await running.container()
        uid = running.runner.uid
        message = f"back-off 10s restarting failed container=main pod=p_default({uid})"
        assert main["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        assert main["lastState"]["terminated"]["exitCode"] == 1
        assert main["restartCount"] == 1
        assert await world.phase() == "Running"
        await world.clock.advance(9.9)
        assert len(world.spawner.all) == 2
        await world.clock.advance(0.2)
        assert await running.states() == {"main": ("running", 2)}
        await running.exit(code=1)
        await world.clock.advance(19.9)
        assert len(world.spawner.all) == 3
        await world.clock.advance(0.2)
        assert len(world.spawner.all) == 4
        assert ("BackOff", f"Back-off restarting failed container main in pod p_default({uid})") in await world.events()

    scenario(tmp_path, pod(policy="OnFailure"), story)


def test_containers_start_in_order(tmp_path):
    body = pod(inits=[sidecar("rm"), container("setup"), sidecar("proxy")])

    async def story(running):
        waiting = {"setup": ("running", 0), "proxy": ("waiting", 0), "main": ("waiting", 0), "rm": ("running", 0)}
        assert await running.states() == waiting
        assert await running.world.phase() == "Pending"
        conditions = {each["type"]: each for each in (await running.world.status())["conditions"]}
        assert conditions["Initialized"]["message"] == "containers with incomplete status: [setup proxy]"
        assert conditions["Ready"]["message"] == "containers with unready status: [proxy main]"
        await running.exit("setup")
        assert [each for each, _ in (await running.states()).values()] == [
            "running",
            "terminated",
            "running",
            "running",
        ]
        assert await running.world.phase() == "Running"

    scenario(tmp_path, body, story)


def test_sidecars_are_restarted_in_place_also_under_never(tmp_path):
    async def story(running):
        await running.exit("side", 1)
        assert await running.states() == {"side": ("running", 1), "main": ("running", 0)}
        await running.exit("side", 0)
        await running.world.clock.advance(5)
        assert await running.states() == {"side": ("waiting", 1), "main": ("running", 0)}
        assert await running.world.phase() == "Running"
        ready = {each["type"]: each["status"] for each in (await running.world.status())["conditions"]}
        assert ready["Ready"] == "False"
        assert ready["Initialized"] == "True"

    scenario(tmp_path, pod(inits=[sidecar()]), story)


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (1, "Failed")])
def test_sidecars_end_in_reverse_order_after_the_main_container(tmp_path, code, phase):
    async def story(running):
        await running.exit(code=code)
        rm, proxy = running.process("rm"), running.process("proxy")
        assert proxy.signals == [signal.SIGTERM]
        assert rm.signals == []
        assert await running.world.phase() == "Running"
        proxy.exit(0)
        await settle()
        assert rm.signals == [signal.SIGTERM]
        rm.exit(1)
        await settle()
        assert await running.world.phase() == phase

    scenario(tmp_path, pod(inits=[sidecar("rm", "stubborn"), sidecar("proxy", "stubborn")]), story)


def test_an_init_container_that_fails_ends_a_never_pod(tmp_path):
    async def story(running):
        await running.exit("setup", 1)
        assert await running.world.phase() == "Failed"
        assert len(running.world.spawner.all) == 1

    scenario(tmp_path, pod(inits=[container("setup")]), story)


def test_an_init_container_that_fails_is_tried_again(tmp_path):
    async def story(running):
        await running.exit("setup", 1)
        assert (await running.states())["setup"] == ("running", 1)
        assert await running.world.phase() == "Pending"
        await running.exit("setup", 0)
        assert await running.world.phase() == "Running"

    scenario(tmp_path, pod(inits=[container("setup")], policy="OnFailure"), story)


def test_deletion_gives_the_containers_their_grace(tmp_path):
    async def story(running):
        process, clock = running.process(), running.world.clock
        await running.delete(grace=30)
        assert process.signals == [signal.SIGTERM]
        await clock.advance(29.9)
        assert not process.killed
        await clock.advance(0.2)
        assert process.killed
        await settle()
        assert running.task.done()
        with pytest.raises(StatusError):
            await running.world.kube.get("pods", "p", "default")

    scenario(tmp_path, pod(container(command="stubborn")), story)


def test_a_second_deletion_shortens_the_grace_and_two_seconds_are_the_least(tmp_path):
    async def story(running):
        process, clock = running.process(), running.world.clock
        await running.delete(grace=30)
        await clock.advance(10)
        await running.delete(grace=1)
        await clock.advance(1.1)
        assert process.killed

    scenario(tmp_path, pod(container(command="stubborn")), story)


@pytest.mark.parametrize(
    ("command", "phase", "code"), [("run", "Failed", 143), ("polite", "Succeeded", 0)], ids=["143", "exit 0"]
)
def test_a_deleted_pod_ends_by_its_exit_codes(tmp_path, command, phase, code):
    """verified: a worker that exits 0 on SIGTERM counts as succeeded."""
    body = pod(container(command=command))
    body["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]

    async def story(running):
        await running.delete(grace=30)
        status = await running.world.status()
        assert status["phase"] == phase
        assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code
        held = await running.world.kube.get("pods", "p", "default")
        assert held["metadata"]["deletionGracePeriodSeconds"] == 0
        assert not running.task.done()  # its logs may still be asked for
        await running.world.kube.patch("pods", "p", {"metadata": {"finalizers": None}}, "default")
        await settle()
        assert running.task.done()

    scenario(tmp_path, body, story)


def test_a_forced_deletion_still_ends_the_processes(tmp_path):
    async def story(running):
        process = running.process()
        await running.delete(grace=0)
        await settle()
        assert process.signals == [signal.SIGTERM]
        await running.world.clock.advance(30.1)
        assert process.killed
        await settle()
        assert running.task.done()

    scenario(tmp_path, pod(container(command="stubborn")), story)


def test_a_pod_deleted_before_it_started_runs_nothing(tmp_path):
    async def run():
        world = World(tmp_path)
        body = pod()
        body["metadata"]["finalizers"] = ["example.com/hold"]
        await world.kube.create("pods", body, "default")
        deleted = await world.kube.delete("pods", "p", "default", grace=30)
        runner = PodRunner(deleted, WHERE, world.machine)
        runner.update(deleted)
        task = asyncio.ensure_future(runner.run())
        await settle()
        status = await world.status()
        runner.removed()
        await task
        assert world.spawner.all == []
        assert status["phase"] == "Failed"
        ended = status["containerStatuses"][0]["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (137, "ContainerStatusUnknown")

    asyncio.run(run())


def test_active_deadline(tmp_path):
    async def story(running):
        await running.world.clock.advance(60)
        status = await running.world.status()
        assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
        assert status["message"] == "Pod was active on the node longer than the specified deadline"

    scenario(tmp_path, pod(activeDeadlineSeconds=60), story)


def test_an_active_deadline_may_be_set_while_the_pod_runs(tmp_path):
    async def story(running):
        world = running.world
        await world.clock.advance(30)
        running.runner.update(await world.kube.patch("pods", "p", {"spec": {"activeDeadlineSeconds": 100}}, "default"))
        await world.clock.advance(30)
        assert await world.phase() == "Running"
        running.runner.update(await world.kube.patch("pods", "p", {"spec": {"activeDeadlineSeconds": 1}}, "default"))
        await settle()
        assert [await world.phase(), (await world.status())["reason"]] == ["Failed", "DeadlineExceeded"]

    scenario(tmp_path, pod(), story)


def test_a_command_that_does_not_exist_is_a_start_error(tmp_path):
    async def story(running):
        ended = (await running.container())["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
        assert ended["message"] == 'exec: "missing": executable file not found in $PATH'
        assert ended["startedAt"] == "1970-01-01T00:00:00Z"
        assert await running.world.phase() == "Failed"

    scenario(tmp_path, pod(container(command="missing")), story)


def test_a_start_error_goes_into_the_crash_loop(tmp_path):
    async def story(running):
        assert await running.states() == {"main": ("waiting", 1)}
        await running.world.clock.advance(10)
        assert await running.states() == {"main": ("waiting", 2)}

    scenario(tmp_path, pod(container(command="missing"), policy="OnFailure"), story)


def test_an_image_without_a_command_is_not_run(tmp_path):
    body = pod()
    del body["spec"]["containers"][0]["command"]

    async def story(running):
        waiting = (await running.container())["state"]["waiting"]
        assert waiting["reason"] == "CreateContainerError"
        assert waiting["message"].startswith('image "example.com/image" is not run here')
        assert await running.world.phase() == "Pending"

    scenario(tmp_path, body, story)


def test_a_missing_secret_is_waited_for(tmp_path):
    reference = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}

    async def story(running):
        kube = running.world.kube
        waiting = (await running.container())["state"]["waiting"]
        assert waiting == {"reason": "CreateContainerConfigError", "message": 'secret "s" not found'}
        await kube.create("secrets", {"metadata": {"name": "s"}, "data": {"k": "dmFsdWU="}}, "default")
        await running.world.clock.advance(10)
        assert await running.states() == {"main": ("running", 0)}
        assert running.process().invocation.env["KEY"] == "value"

    scenario(tmp_path, pod(container(env=[reference])), story)


def test_what_is_not_emulated_is_said(tmp_path):
    probe = {"exec": {"command": ["true"]}}

    async def story(running):
        said = [message for reason, message in await running.world.events() if reason == "NotEmulated"]
        assert len(said) == 1
        assert "readinessProbe is not run" in said[0]

    scenario(tmp_path, pod(container(readinessProbe=probe)), story)


def test_the_hosts_file_knows_the_pod_while_it_runs(tmp_path):
    async def story(running):
        file = tmp_path / "hosts" / "default"
        assert file.read_text().startswith("127.77.0.1 js-worker-0-1.js js-worker-0-1 p ")
        await running.exit()
        assert file.read_text() == ""

    scenario(tmp_path, pod(hostname="js-worker-0-1", subdomain="js"), story)


def test_nothing_of_a_deleted_pod_stays_on_disk(tmp_path):
    async def story(running):
        assert (tmp_path / "pods" / running.runner.uid).exists()
        await running.exit()
        assert (tmp_path / "logs" / running.runner.uid / "main" / "0.log").exists()
        await running.delete()
        await running.task
        assert list((tmp_path / "pods").iterdir()) == list((tmp_path / "logs").iterdir()) == []

    scenario(tmp_path, pod(), story)


class Refusing:
    """A Kube that refuses the first writes of a kind, as a busy API server does."""

    def __init__(self, kube, verb, code, times):
        self._kube, self._verb, self._code, self.left = kube, verb, code, times

    def __getattr__(self, name):
        method = getattr(self._kube, name)
        if name != self._verb:
            return method

        async def refusing(resource, *args, **options):
            if resource == "pods" and self.left:
                self.left -= 1
                raise StatusError(self._code, "Refused", "not now")
            return await method(resource, *args, **options)

        return refusing


@pytest.mark.parametrize("verb", ["patch", "delete"])
def test_a_write_that_fails_is_tried_again(tmp_path, verb):
    async def run():
        world = World(tmp_path)
        await world.kube.create("pods", pod(), "default")
        refusing = Refusing(world.kube, verb, 503, 3)
        refused = World(tmp_path, refusing)
        deleted = await world.kube.delete("pods", "p", "default", grace=30)
        runner = PodRunner(deleted, WHERE, refused.machine)
        runner.update(deleted)
        task = asyncio.ensure_future(runner.run())
        await refused.clock.advance(5)
        runner.removed()
        await task
        assert refusing.left == 0
        with pytest.raises(StatusError, match="not found"):
            await world.kube.get("pods", "p", "default")

    asyncio.run(run())


def test_another_pod_of_the_same_name_is_left_alone(tmp_path):
    async def run():
        world = World(tmp_path)
        old = await world.kube.create("pods", pod(), "default")
        await world.kube.delete("pods", "p", "default", grace=0)
        new = await world.kube.create("pods", pod(name="p", node="tpu-0-0"), "default")
        runner = PodRunner(old, WHERE, world.machine)
        runner.removed()
        await runner.run()
        found = await world.kube.get("pods", "p", "default")
        assert found["metadata"]["uid"] == new["metadata"]["uid"]
        assert "podIP" not in found["status"]

    asyncio.run(run())


def test_a_pod_of_an_agent_with_another_network_gets_its_addresses(tmp_path):
    async def run():
        world = World(tmp_path)
        await world.kube.create("pods", pod(), "default")
        before = {"hostIP": "127.9.0.1", "podIP": "127.9.128.1"}
        lists = {"hostIPs": [{"ip": "127.9.0.1"}], "podIPs": [{"ip": "127.9.128.1"}]}
        old = await world.kube.patch("pods", "p", {"status": before | lists}, "default", subresource="status")
        runner = PodRunner(old, WHERE, world.machine)
        task = asyncio.ensure_future(runner.run())
        await settle()
        task.cancel()
        return await world.status()

    status = asyncio.run(run())
    assert status["hostIPs"] == [{"ip": status["hostIP"]}] == [{"ip": WHERE.host}]
    assert status["podIPs"] == [{"ip": status["podIP"]}] == [{"ip": WHERE.pod}]


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"hostNetwork": True}, {"podIP": "x"}, Addresses("127.77.0.9", "127.77.0.9")),
        ({}, {"podIP": "127.77.128.5"}, Addresses("fresh", "127.77.0.9")),  # which another one may have meanwhile
        ({}, {}, Addresses("fresh", "127.77.0.9")),
    ],
)
def test_addresses(spec, status, expected):
    assert address_of({"spec": spec, "status": status}, "127.77.0.9", lambda: "fresh") == expected
