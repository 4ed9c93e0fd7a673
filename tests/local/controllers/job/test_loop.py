"""The Job controller against faults: conflicts, refusals, pods and Jobs that vanish, foreign managers, restarts."""

import asyncio

import pytest
from fakes.cluster import Bed, VirtualClock, bed, node, on_virtual_time
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.local.apiserver.deletion import DeleteOptions
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.run import run
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError

POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["true"]}]}}


def job(name="j", **spec):
    indexed = {"completionMode": "Indexed", "completions": 4, "parallelism": 4}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": POD, **indexed, **spec},
    }


class Faulty(EmbeddedKube):
    """Fails the next calls that `faults` names: (verb, resource) -> how often."""

    def __init__(self, clock, faults):
        super().__init__(clock, hooks())
        self.faults = dict(faults)

    def _fail(self, verb, resource, code, reason):
        if self.faults.get((verb, resource)):
            self.faults[verb, resource] -= 1
            raise StatusError(code, reason, f"injected {verb} of {resource}")

    async def list(self, resource, namespace=None, *, labels=""):
        self._fail("list", resource, 500, "InternalError")
        return await super().list(resource, namespace, labels=labels)

    async def create(self, resource, body, namespace=None):
        self._fail("create", resource, 403, "Forbidden")
        return await super().create(resource, body, namespace)

    async def patch(self, resource, name, body, namespace=None, **options):
        verb = f"patch {options['subresource']}" if options.get("subresource") else "patch"
        self._fail(verb, resource, 409, "Conflict")
        return await super().patch(resource, name, body, namespace, **options)

    async def delete(self, resource, name, namespace=None, **options):
        self._fail("delete", resource, 500, "InternalError")
        return await super().delete(resource, name, namespace, **options)


@pytest.mark.parametrize(
    "faults",
    [
        {("list", "pods"): 2},
        {("list", "jobs"): 1, ("list", "nodes"): 1},
        {("create", "pods"): 3},
        {("patch status", "jobs"): 3},
        {("patch binding", "pods"): 2},
        {("patch", "pods"): 2},
        {("create", "events"): 5},
    ],
    ids=str,
)
def test_a_job_runs_and_completes_through_faults(faults):
    async def go():
        clock = VirtualClock()
        kube = Faulty(clock, faults)
        made = Bed(kube, clock)
        await kube.create("nodes", node("cpu-0", "cpu-np"))
        tasks = [asyncio.ensure_future(each) for each in (run(kube, clock, made.report), made._act())]
        await kube.create("jobs", job(), "default")
        await clock.advance(30)
        pods, _ = await kube.list("pods", "default")
        assert sorted(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] for pod in pods) == [
            "0", "1", "2", "3",
        ]  # fmt: skip
        for pod in pods:
            await made.finish(pod, 0)
        await clock.advance(30)
        status = (await made.get("jobs", "j"))["status"]
        assert (status["succeeded"], status["completedIndexes"]) == (4, "0-3")
        assert status["conditions"][-1]["type"] == "Complete"
        pods, _ = await kube.list("pods", "default")
        assert not any(pod["metadata"].get("finalizers") for pod in pods)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(go())


def test_a_refused_deletion_is_tried_again():
    async def test(made):
        await made.kube.create("jobs", job(), "default")
        await made.advance(3)
        refusals = [2]
        real = made.kube.delete

        async def delete(resource, *args, **options):
            if resource == "pods" and refusals[0]:
                refusals[0] -= 1
                raise StatusError(500, "InternalError", "injected")
            return await real(resource, *args, **options)

        made.kube.delete = delete
        await made.kube.patch("jobs", "j", {"spec": {"suspend": True}}, "default")
        await made.advance(10)
        assert not await made.pods()
        assert [doing for doing, _ in made.reports] == ["job ('default', 'j')"] * 2

    on_virtual_time(test)


def test_pods_of_a_job_that_vanished_lose_their_finalizer():
    async def test(made):
        await made.kube.create("jobs", job(), "default")
        await made.advance(3)
        await made.kube.delete("jobs", "j", "default", propagation="Orphan")
        await made.advance(3)
        pods = (await made.pods()).values()
        assert len(pods) == 4
        assert not any(pod["metadata"].get("finalizers") for pod in pods)

    on_virtual_time(test)


def test_a_pod_without_an_owner_loses_its_finalizer_whoever_took_the_owner_away():
    """The garbage collector takes it away before the Job goes, and either may be heard of first."""

    async def test(made):
        await made.kube.create("jobs", job(), "default")
        await made.advance(3)
        name = next(iter((await made.pods()).values()))["metadata"]["name"]
        await made.kube.patch("pods", name, {"metadata": {"ownerReferences": None}}, "default")
        await made.advance(0.5)
        assert not (await made.kube.get("pods", name, "default"))["metadata"].get("finalizers")

    on_virtual_time(test)


def test_a_job_of_another_manager_is_left_alone():
    async def test(made):
        await made.kube.create("jobs", job(managedBy="example.com/other"), "default")
        await made.advance(5)
        assert not await made.pods()

    on_virtual_time(test)


def test_a_job_of_the_same_name_starts_with_a_clean_record():
    async def test(made):
        for _ in range(2):
            await made.kube.create("jobs", job(), "default")
            await made.advance(3)
            (pod, *_) = (await made.pods()).values()
            await made.kube.delete("pods", pod["metadata"]["name"], "default")
            await made.advance(13)
            assert await made.running() == 4, "each time the first loss waits 10 s"
            await made.kube.delete("jobs", "j", "default", propagation="Background")
            await made.advance(3)

    on_virtual_time(test)


def test_controllers_that_start_late_find_what_is_there():
    async def go():
        clock = VirtualClock()
        kube = EmbeddedKube(clock, hooks())
        made = Bed(kube, clock)
        await kube.create("jobs", job(), "default")
        await kube.create("nodes", node("cpu-0", "cpu-np"))
        await clock.advance(60)
        tasks = [asyncio.ensure_future(each) for each in (run(kube, clock, made.report), made._act())]
        await clock.advance(2)
        assert await made.running() == 4
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(go())


def test_many_pods_need_no_time_of_the_clock():
    async def go():
        async with bed(cpu=2) as made:
            await made.kube.create("jobs", job(completions=64, parallelism=64), "default")
            await made.advance(0.01)
            assert await made.running() == 64

    asyncio.run(go())


LOSSES = st.lists(
    st.tuples(st.sampled_from(["delete", "force", "fail", "evict"]), st.integers(0, 3), st.floats(0.05, 30)),
    max_size=5,
)


@settings(max_examples=20, deadline=None)
@given(LOSSES)
def test_every_loss_counts_once_and_every_index_comes_back(losses):
    async def test(made):
        await made.kube.create("jobs", job(backoffLimit=40), "default")
        await made.advance(3)
        count = 0
        for how, index, pause in losses:
            pod = await live(made, index)
            if pod is not None:
                count += 1
                await lose(made, pod["metadata"]["name"], how, pod)
            await made.advance(pause)
        await made.advance(610)
        assert (await made.get("jobs", "j"))["status"].get("failed", 0) == count
        for index in range(4):
            assert await live(made, index) is not None
        assert not made.reports

    on_virtual_time(test)


async def live(made, index):
    """The pod of that index if it runs."""
    pods, _ = await made.kube.list("pods", "default", labels=f"batch.kubernetes.io/job-completion-index={index}")
    for pod in pods:
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
            return pod
    return None


async def lose(made, name, how, pod):
    if how == "fail":
        await made.finish(pod, 1)
    elif how == "evict":
        await made.kube.evict(("default", name), DeleteOptions())
    else:
        await made.kube.delete("pods", name, "default", grace=0 if how == "force" else None)
