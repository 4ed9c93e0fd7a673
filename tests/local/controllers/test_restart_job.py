"""RestartJob in time: how long a slice is away, what stays, and what is told (compared with JobSet 0.12.0)."""

from fakes.cluster import on_virtual_time, reference_jobset

NAME = "demo-elastic"
RULES = (
    {"name": "slice_only", "action": "RestartJob", "targetReplicatedJobs": ["worker"]},
    {"name": "head_or_other", "action": "RestartJobSet"},
)
GATED = {"pools": 3, "gates": ("RestartJob",)}
RESTARTED = "RestartJobFailurePolicyAction"


def sliced(most=9):
    """What --restart-scope=slice renders: any loss of a host fails the slice's Job, and that alone is made anew."""
    made = reference_jobset(failurePolicy={"maxRestarts": most, "restartStrategy": "Recreate", "rules": list(RULES)})
    worker = made["spec"]["replicatedJobs"][1]["template"]["spec"]
    worker["backoffLimit"] = 0
    worker["template"]["spec"]["restartPolicy"] = "Never"
    return made


async def start(bed, **options):
    await bed.kube.create("jobsets", sliced(**options), "default")
    await bed.until(lambda: all_run(bed))
    await bed.advance(3)


async def all_run(bed):
    return await bed.running() == 13


async def lose(bed, *hosts):
    """Deletes these pods, each "slice-host"."""
    pods = await bed.pods()
    for host in hosts:
        await bed.kube.delete("pods", pods[f"{NAME}-worker-{host}"]["metadata"]["name"], "default")
    await bed.clock.settle()


async def uids(bed, *, but=()):
    pods = (await bed.pods()).items()
    return {pod["metadata"]["uid"] for name, pod in pods if not any(f"worker-{index}-" in name for index in but)}


async def workers(bed):
    status = (await bed.get("jobsets", NAME))["status"]
    return next(each for each in status["replicatedJobsStatus"] if each["name"] == "worker")


async def told(bed, reason=RESTARTED):
    return [message for _, found, message in await bed.events(NAME) if found == reason]


def test_a_slice_comes_back_in_a_flat_time_and_nothing_else_is_touched():
    async def test(bed):
        await start(bed)
        assert "jobRestarts" not in await workers(bed)
        others, job = await uids(bed, but=[1]), await bed.get("jobs", f"{NAME}-worker-1")
        for count in (1, 2, 3):
            await lose(bed, "1-2")
            assert await bed.until(lambda: all_run(bed)) < 5, "the wait does not grow"
            await bed.advance(2)
            entry = await workers(bed)
            assert entry["jobRestarts"] == entry["jobRestartsCountTowardsMax"] == [0, count, 0]
        assert await uids(bed, but=[1]) == others
        remade = await bed.get("jobs", f"{NAME}-worker-1")
        assert remade["metadata"]["uid"] != job["metadata"]["uid"]
        assert remade["metadata"]["labels"]["jobset.sigs.k8s.io/job-restart-attempt"] == "3"
        assert "failed" not in remade["status"]
        assert await told(bed) == [f"applying RestartJob failure policy action (first failed job: {NAME}-worker-1)"] * 3
        status = (await bed.get("jobsets", NAME))["status"]
        assert status["restarts"] == 0
        assert "RestartingJobSet" not in {each["type"] for each in status["conditions"]}
        assert not bed.reports

    on_virtual_time(test, **GATED)


def test_two_slices_at_once():
    async def test(bed):
        await start(bed)
        await lose(bed, "0-1", "2-3")
        assert await bed.until(lambda: all_run(bed)) < 5
        await bed.advance(2)
        assert (await workers(bed))["jobRestarts"] == [1, 0, 1]
        assert len(await told(bed)) == 2

    on_virtual_time(test, **GATED)


def test_a_slice_whose_hosts_have_all_failed_comes_back_with_its_leader():
    async def test(bed):
        await start(bed)
        pods = await bed.pods()
        for host in range(4):
            await bed.finish(pods[f"{NAME}-worker-1-{host}"], 1)
        assert await bed.until(lambda: all_run(bed)) < 5
        assert (await workers(bed))["jobRestarts"] == [0, 1, 0]

    on_virtual_time(test, **GATED)


def test_the_budget_ends_the_set():
    async def test(bed):
        await start(bed, most=2)
        for index in range(2):
            await lose(bed, f"{index}-0")
            await bed.until(lambda: all_run(bed))
            await bed.advance(2)
        await lose(bed, "2-0")
        await bed.advance(6)
        status = (await bed.get("jobsets", NAME))["status"]
        failed = next(each for each in status["conditions"] if each["type"] == "Failed")
        assert failed["reason"] == "ReachedMaxRestarts"
        assert failed["message"].endswith(f"(first failed job: {NAME}-worker-2)")
        assert (await workers(bed))["jobRestarts"] == [1, 1, 0]
        assert not await bed.pods(), "the head goes too, and its log with it"

    on_virtual_time(test, **GATED)


def test_a_lost_head_restarts_all_and_keeps_what_was_counted():
    async def test(bed):
        await start(bed)
        await lose(bed, "1-0")
        await bed.until(lambda: all_run(bed))
        await bed.advance(2)
        before = await uids(bed)
        head = (await bed.pods())[f"{NAME}-pathways-head-0-0"]["metadata"]["name"]
        await bed.kube.delete("pods", head, "default")
        await bed.advance(2)
        assert await bed.until(lambda: all_run(bed)) < 6
        assert before.isdisjoint(await uids(bed))
        await bed.advance(2)
        assert (await bed.get("jobsets", NAME))["status"]["restarts"] == 1
        assert (await workers(bed))["jobRestarts"] == [0, 1, 0]
        labels = (await bed.get("jobs", f"{NAME}-worker-1"))["metadata"]["labels"]
        attempts = ("jobset.sigs.k8s.io/restart-attempt", "jobset.sigs.k8s.io/job-restart-attempt")
        assert [labels[each] for each in attempts] == ["1", "1"]

    on_virtual_time(test, **GATED)


def test_one_restarted_container_restarts_the_slice_where_the_kubelet_restarts_it():
    async def test(bed):
        made = sliced()
        made["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
        await bed.kube.create("jobsets", made, "default")
        await bed.until(lambda: all_run(bed))
        await bed.advance(3)
        await bed.restarts((await bed.pods())[f"{NAME}-worker-1-2"], 1)
        await bed.advance(4)
        assert (await workers(bed))["jobRestarts"] == [0, 1, 0]

    on_virtual_time(test, **GATED)


def test_a_dead_node_holds_the_slice_until_its_pod_is_deleted_by_force():
    async def test(bed):
        await start(bed)
        pod = (await bed.pods())[f"{NAME}-worker-1-2"]
        bed.dead.add(pod["spec"]["nodeName"])
        await bed.advance(400)
        job = (await bed.get("jobs", f"{NAME}-worker-1"))["status"]
        assert [each["type"] for each in job["conditions"]] == ["FailureTarget"]
        assert job["terminating"] == 1
        assert await bed.running() == 9, "the other hosts of the slice are gone"
        assert "jobRestarts" not in await workers(bed)
        await bed.kube.delete("pods", pod["metadata"]["name"], "default", grace=0)
        await bed.advance(4)
        assert (await workers(bed))["jobRestarts"] == [0, 1, 0]

    on_virtual_time(test, **GATED)
