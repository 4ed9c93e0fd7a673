"""Lost pods: what counts, how long the replacement waits (compared with runs on Kubernetes 1.35 and 1.37)."""

import logging

import pytest
from fakes.cluster import on_virtual_time, reference_jobset

WORKER = "demo-elastic-worker-"


async def start(bed, **spec):
    await bed.kube.create("jobsets", reference_jobset(**spec), "default")
    await bed.until(lambda: running(bed, 13))
    await bed.advance(3)


async def running(bed, count):
    return await bed.running() == count


def with_backoff_limit(limit):
    jobset = reference_jobset()
    jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["backoffLimit"] = limit
    return {"replicatedJobs": jobset["spec"]["replicatedJobs"]}


async def kill(bed, *names, grace=None):
    pods = await bed.pods()
    for name in names:
        pod = pods[WORKER + name]["metadata"]
        await bed.kube.delete("pods", pod["name"], "default", grace=grace)


async def replaced_after(bed, *names):
    await kill(bed, *names)
    await bed.advance(0.05)
    return await bed.until(lambda: running(bed, 13), limit=700, step=0.5)


def test_single_losses_wait_10_20_40_seconds():
    async def test(bed):
        await start(bed)
        for expected in (10, 20, 40):
            assert expected - 1 <= await replaced_after(bed, "1-2") <= expected + 1.2
        assert not bed.reports

    on_virtual_time(test, pools=3)


def test_the_log_has_the_wait_once(caplog):
    """Also for whoever looks too late: stamps are whole seconds, and a fast cluster makes ten of them out of one."""
    caplog.set_level(logging.INFO, "xlaunch")

    async def test(bed):
        await start(bed)
        await replaced_after(bed, "1-2")
        await replaced_after(bed, "1-0", "1-3")

    on_virtual_time(test, pools=3)
    said = "Job default/demo-elastic-worker-1 has lost {} pods and waits {} s for others"
    assert caplog.messages == [said.format(1, 10), said.format(3, 40)]


def test_a_whole_slice_counts_its_hosts_at_once_and_the_second_time_waits_the_longest():
    async def test(bed):
        await start(bed)
        hosts = [f"1-{host}" for host in range(4)]
        # The leader comes first, its followers a second later
        assert 79 <= await replaced_after(bed, *hosts) <= 83
        job = await bed.get("jobs", "demo-elastic-worker-1")
        assert job["status"]["failed"] == 4
        assert 599 <= await replaced_after(bed, *hosts) <= 603

    on_virtual_time(test, pools=3)


def test_a_partial_loss_shows_at_once():
    async def test(bed):
        await start(bed)
        await kill(bed, "1-2")
        await bed.advance(3)
        status = (await bed.get("jobs", "demo-elastic-worker-1"))["status"]
        assert (status["failed"], status["active"], status["ready"]) == (1, 3, 3)
        worker = (await bed.get("jobsets", "demo-elastic"))["status"]["replicatedJobsStatus"][0]
        assert (worker["name"], worker["ready"]) == ("worker", 2)
        assert len(await bed.pods()) == 12

    on_virtual_time(test, pools=3)


def test_nothing_active_is_left_out_of_the_status():
    async def test(bed):
        await start(bed)
        await kill(bed, *[f"1-{host}" for host in range(4)])
        await bed.advance(3)
        status = (await bed.get("jobs", "demo-elastic-worker-1"))["status"]
        assert (status["failed"], status.get("active"), status["ready"]) == (4, None, 0)

    on_virtual_time(test, pools=3)


def test_the_wait_scales_with_time():
    async def test(bed):
        await start(bed)
        # Real seconds pass ten times as fast; cluster seconds are what is measured
        assert 9 <= await replaced_after(bed, "1-2") <= 11.2

    on_virtual_time(test, pools=3, scale=0.1)


def test_suspending_does_not_reset_the_wait():
    async def test(bed):
        await start(bed)
        await replaced_after(bed, "1-2")
        for suspend in (True, False):
            await bed.kube.patch("jobsets", "demo-elastic", {"spec": {"suspend": suspend}}, "default")
            await bed.advance(6)
        await bed.until(lambda: running(bed, 13))
        await bed.advance(2)
        assert 19 <= await replaced_after(bed, "1-2") <= 21.2

    on_virtual_time(test, pools=3)


@pytest.mark.parametrize(("limit", "deletions", "fails"), [(2, 2, False), (2, 3, True), (0, 1, True)])
def test_more_deletions_than_the_limit_fail_the_job(limit, deletions, fails):
    async def test(bed):
        await start(bed, **with_backoff_limit(limit))
        await kill(bed, *[f"1-{host}" for host in range(deletions)])
        await bed.advance(2.5)
        events = {reason for _, reason, _ in await bed.events("demo-elastic-worker-1")}
        assert ("BackoffLimitExceeded" in events) == fails

    on_virtual_time(test, pools=3)


@pytest.mark.parametrize(
    ("limit", "main", "sidecar", "fails"),
    [(4, 3, 0, False), (4, 4, 0, True), (4, 1, 2, False), (4, 2, 2, True), (0, 0, 0, False), (0, 1, 0, True)],
)
def test_restarts_in_place_fail_the_job_at_the_limit(limit, main, sidecar, fails):
    async def test(bed):
        await start(bed, **with_backoff_limit(limit))
        pods = await bed.pods()
        await bed.restarts(pods[WORKER + "1-1"], main)
        await bed.restarts(pods[WORKER + "1-3"], sidecar, init=True)
        await bed.advance(2.5)
        events = {reason for _, reason, _ in await bed.events("demo-elastic-worker-1")}
        assert ("BackoffLimitExceeded" in events) == fails

    on_virtual_time(test, pools=3)


def test_deletions_and_restarts_are_not_added():
    async def test(bed):
        await start(bed, **with_backoff_limit(4))
        leader = (await bed.pods())[WORKER + "1-0"]
        await kill(bed, "1-1", "1-2", "1-3")
        await bed.advance(2)
        deleted = ("Normal", "SuccessfulDelete", f"Deleted pod: {leader['metadata']['name']}")
        for restarts, fails in ((3, False), (4, True)):
            await bed.restarts(leader, restarts)
            await bed.advance(1.2)
            assert (deleted in await bed.events("demo-elastic-worker-1")) == fails

    on_virtual_time(test, pools=3)


def test_a_host_that_exits_0_is_never_replaced():
    async def test(bed):
        await start(bed)
        await bed.finish((await bed.pods())[WORKER + "1-2"], 0)
        await bed.advance(60)
        status = (await bed.get("jobs", "demo-elastic-worker-1"))["status"]
        assert (status["succeeded"], status["completedIndexes"], status["active"]) == (1, "2", 3)
        worker = (await bed.get("jobsets", "demo-elastic"))["status"]["replicatedJobsStatus"][0]
        assert worker["ready"] == 3
        assert await bed.running() == 12

    on_virtual_time(test, pools=3)


def test_a_slice_whose_hosts_all_exit_0_completes_without_a_word_on_the_jobset():
    async def test(bed):
        await start(bed)
        before = len(await bed.events("demo-elastic"))
        for host in range(4):
            await bed.finish((await bed.pods())[f"{WORKER}1-{host}"], 0)
        await bed.advance(5)
        job = await bed.get("jobs", "demo-elastic-worker-1")
        assert [(each["type"], each["reason"], each["message"]) for each in job["status"]["conditions"]] == [
            ("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"),
            ("Complete", "CompletionsReached", "Reached expected number of succeeded pods"),
        ]
        assert ("Normal", "Completed", "Job completed") in await bed.events("demo-elastic-worker-1")
        assert job["status"]["completedIndexes"] == "0-3"
        jobset = await bed.get("jobsets", "demo-elastic")
        worker = jobset["status"]["replicatedJobsStatus"][0]
        assert (worker["ready"], worker["succeeded"]) == (2, 1)
        assert len(await bed.events("demo-elastic")) == before

    on_virtual_time(test, pools=3)


def test_a_deleted_host_that_exits_0_at_once_is_complete_and_never_replaced():
    async def test(bed):
        await start(bed)
        pod = (await bed.pods())[WORKER + "1-2"]
        await kill(bed, "1-2")
        await bed.advance(0.15)
        await bed.finish(pod, 0)
        await bed.advance(60)
        status = (await bed.get("jobs", "demo-elastic-worker-1"))["status"]
        assert (status.get("failed"), status["succeeded"], status["completedIndexes"]) == (None, 1, "2")
        assert await bed.running() == 12

    on_virtual_time(test, pools=3)


def test_a_deleted_host_that_exits_0_late_has_been_counted_as_lost():
    async def test(bed):
        await start(bed)
        pod = (await bed.pods())[WORKER + "1-2"]
        await kill(bed, "1-2", grace=5)
        bed.dead.add(pod["spec"]["nodeName"])  # it ends when this test says so
        await bed.advance(3)
        await bed.finish(pod, 0)
        bed.dead.clear()
        await bed.kube.delete("pods", pod["metadata"]["name"], "default", grace=0)
        await bed.advance(10)
        assert await bed.running() == 13
        status = (await bed.get("jobs", "demo-elastic-worker-1"))["status"]
        assert (status["failed"], status.get("succeeded")) == (1, None)

    on_virtual_time(test, pools=3)
