"""Machines that fall silent or vanish (compared with Kubernetes 1.35 under its default flags)."""

import itertools
from datetime import datetime

import pytest
from fakes.cluster import on_virtual_time, reference_jobset

from xlaunch.local.kube import StatusError

NAME = "demo-elastic"
UNREACHABLE = "node.kubernetes.io/unreachable"


async def start(bed, jobset=None):
    await bed.kube.create("jobsets", jobset or reference_jobset(), "default")
    await bed.until(lambda: all_run(bed))
    await bed.advance(3)


async def all_run(bed):
    return await bed.running() == 13


async def taints(bed, node):
    spec = (await bed.kube.get("nodes", node))["spec"]
    return {(each["key"], each["effect"]) for each in spec.get("taints") or ()}


async def is_evicting(bed, node):
    return (UNREACHABLE, "NoExecute") in await taints(bed, node)


async def worker(bed, name):
    job = f"{NAME}-worker-{name.partition('-')[0]}"
    return (await bed.pods(f"job-name={job}"))[f"{NAME}-worker-{name}"]


async def is_deleted(bed, name):
    return "deletionTimestamp" in (await worker(bed, name))["metadata"]


async def condition_of(pod, kind):
    return next(each for each in pod["status"]["conditions"] if each["type"] == kind)


def test_a_silent_node_is_noticed_tainted_and_its_pod_evicted():
    async def test(bed):
        await start(bed)
        pod = await worker(bed, "1-2")
        bed.dead.add("tpu-1-2")
        begin = bed.clock.seconds
        await bed.until(lambda: is_evicting(bed, "tpu-1-2"), limit=70, step=1)
        assert 40 <= bed.clock.seconds - begin <= 60
        node = await bed.kube.get("nodes", "tpu-1-2")
        ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
        assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
        assert (UNREACHABLE, "NoSchedule") in await taints(bed, "tpu-1-2")
        now = await worker(bed, "1-2")
        assert (await condition_of(now, "Ready"))["status"] == "False"
        assert now["status"]["phase"] == "Running"
        tainted = bed.clock.seconds
        # The bed has no free host, so the replacement waits; the lost pod's object stays until its node answers
        await bed.until(lambda: is_deleted(bed, "1-2"), limit=40, step=1)
        assert 29 <= bed.clock.seconds - tainted <= 31
        disrupted = await condition_of(await bed.get("pods", pod["metadata"]["name"]), "DisruptionTarget")
        assert (disrupted["reason"], disrupted["message"]) == (
            "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
        )  # fmt: skip
        events = [reason for _, reason, _ in await bed.events(pod["metadata"]["name"])]
        assert events == ["Scheduled", "NodeNotReady", "TaintManagerEviction"]
        # The wait of 10 s counts from the moment the pod was not ready: it has passed
        await bed.advance(2)
        pods, _ = await bed.kube.list("pods", "default", labels="batch.kubernetes.io/job-completion-index=2")
        replacement = next(each for each in pods if each["metadata"]["name"].startswith(f"{NAME}-worker-1-2-")
                           and each["metadata"]["uid"] != pod["metadata"]["uid"])  # fmt: skip
        unscheduled = await condition_of(replacement, "PodScheduled")
        assert unscheduled["reason"] == "Unschedulable"
        assert unscheduled["message"] == (
            "0/13 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't have free ports for the"
            " requested pod ports, 9 node(s) didn't match Pod's node affinity/selector. preemption: 0/13 nodes are"
            " available: 10 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod."
        )

    on_virtual_time(test, pools=3)


def test_dead_nodes_are_drained_one_in_ten_seconds():
    async def test(bed):
        await start(bed)
        bed.dead.update(f"tpu-1-{host}" for host in range(4))
        times = []
        for _ in range(4):

            async def one_more():
                return sum([await is_evicting(bed, f"tpu-1-{host}") for host in range(4)]) > len(times)

            await bed.until(one_more, limit=70, step=1)
            times.append(bed.clock.seconds)
        steps = [later - sooner for sooner, later in itertools.pairwise(times)]
        assert all(9 <= step <= 11 for step in steps), steps

    on_virtual_time(test, pools=3)


def test_nobody_is_evicted_when_all_nodes_are_silent():
    async def test(bed):
        await start(bed)
        nodes, _ = await bed.kube.list("nodes")
        bed.dead.update(node["metadata"]["name"] for node in nodes)
        await bed.advance(300)
        assert await bed.running() == 13
        assert (UNREACHABLE, "NoSchedule") in await taints(bed, "tpu-1-2")
        assert not await is_evicting(bed, "tpu-1-2")

    on_virtual_time(test, pools=3)


def test_a_node_that_comes_back_loses_its_taints_and_the_eviction_is_called_off():
    async def test(bed):
        await start(bed)
        name = (await worker(bed, "1-2"))["metadata"]["name"]
        bed.dead.add("tpu-1-2")
        await bed.until(lambda: is_evicting(bed, "tpu-1-2"), limit=70, step=1)
        await bed.advance(10)
        bed.dead.clear()
        ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-29T13:00:00Z"}
        await bed.kube.patch("nodes", "tpu-1-2", {"status": {"conditions": [ready]}}, subresource="status")
        await bed.advance(60)
        assert await taints(bed, "tpu-1-2") == {("google.com/tpu", "NoSchedule")}
        assert not await is_deleted(bed, "1-2")
        assert ("Normal", "TaintManagerEviction", f"Cancelling deletion of Pod default/{name}") in await bed.events(
            name
        )

    on_virtual_time(test, pools=3)


def test_pods_of_a_deleted_node_are_given_up_after_the_quarantine():
    async def test(bed):
        await start(bed)
        pod = await worker(bed, "1-2")
        bed.dead.add("tpu-1-2")
        await bed.kube.delete("nodes", "tpu-1-2")
        begin = bed.clock.seconds

        async def gone():
            try:
                latest = await bed.get("pods", pod["metadata"]["name"])
            except StatusError:
                return True
            return latest["status"]["phase"] == "Failed"

        await bed.until(gone, limit=70, step=1)
        assert 40 <= bed.clock.seconds - begin <= 62
        await bed.advance(2)
        assert (await bed.get("jobs", f"{NAME}-worker-1"))["status"]["failed"] == 1

    on_virtual_time(test, pools=3)


def test_a_job_that_must_end_stays_half_ended_until_the_dead_nodes_pod_is_forced_away():
    async def test(bed):
        jobset = reference_jobset(failurePolicy={"maxRestarts": 3})
        jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["backoffLimit"] = 0
        await start(bed, jobset)
        pod = await worker(bed, "1-2")
        bed.dead.add("tpu-1-2")
        await bed.until(lambda: is_deleted(bed, "1-2"), limit=100, step=1)
        await bed.advance(100)
        status = (await bed.get("jobs", f"{NAME}-worker-1"))["status"]
        assert [each["type"] for each in status["conditions"]] == ["FailureTarget"]
        assert status["terminating"] == 1
        assert (await bed.get("jobsets", NAME))["status"]["restarts"] == 0
        await bed.kube.delete("pods", pod["metadata"]["name"], "default", grace=0)
        await bed.advance(2.5)
        assert (await bed.get("jobsets", NAME))["status"]["restarts"] == 1

    on_virtual_time(test, pools=3)


def test_a_node_out_of_service_gives_up_its_terminating_pods():
    async def test(bed):
        await start(bed)
        pod = await worker(bed, "1-2")
        bed.dead.add("tpu-1-2")
        await bed.until(lambda: is_deleted(bed, "1-2"), limit=100, step=1)
        taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
        old = (await bed.kube.get("nodes", "tpu-1-2"))["spec"]["taints"]
        await bed.kube.patch("nodes", "tpu-1-2", {"spec": {"taints": [*old, taint]}})
        await bed.advance(25)
        assert not await bed.exists("pods", pod["metadata"]["name"])

    on_virtual_time(test, pools=3)


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_detection_scales_with_time(scale):
    async def test(bed):
        await bed.advance(20)
        bed.dead.add("cpu-1")
        await bed.advance(70)
        node = await bed.kube.get("nodes", "cpu-1")
        ready = next(each for each in node["status"]["conditions"] if each["type"] == "Ready")
        assert ready["status"] == "Unknown"
        begun, marked = map(datetime.fromisoformat, ("2026-11-29T12:00:00Z", ready["lastTransitionTime"]))
        wall = (marked - begun).total_seconds()
        assert wall <= 95 * scale

    on_virtual_time(test, cpu=2, scale=scale)


def test_a_refused_write_is_reported_and_made_in_the_next_round():
    async def test(bed):
        await bed.advance(20)
        real, refusals = bed.kube.patch, [1]

        async def patch(resource, name, body, namespace=None, **options):
            if (resource, name, options.get("subresource")) == ("nodes", "cpu-1", "status") and refusals[0]:
                refusals[0] -= 1
                raise StatusError(500, "InternalError", "injected")
            return await real(resource, name, body, namespace, **options)

        bed.kube.patch = patch
        bed.dead.add("cpu-1")
        await bed.advance(70)
        assert [doing for doing, _ in bed.reports] == ["node cpu-1"]
        assert await is_evicting(bed, "cpu-1")

    on_virtual_time(test, cpu=2)
