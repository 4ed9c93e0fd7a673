"""What the differential test (tests/differential) has found in the controllers, as Kubernetes 1.37.2 does it."""

from fakes.cluster import on_virtual_time, reference_jobset

NAME = "demo-elastic"
HEAD = f"{NAME}-pathways-head-0-0"


async def start(bed, **spec):
    await bed.kube.create("jobsets", reference_jobset(**spec), "default")

    async def all_run():
        return await bed.running() == 13

    await bed.until(all_run)
    await bed.advance(3)


def test_a_deleted_service_is_made_again():
    async def test(bed):
        await start(bed)
        before = await bed.get("services", NAME)
        await bed.kube.delete("services", NAME, "default")
        await bed.advance(1)
        assert (await bed.get("services", NAME))["metadata"]["uid"] != before["metadata"]["uid"]

    on_virtual_time(test, pools=3)


def test_a_job_that_must_end_takes_the_start_in_order_back():
    async def test(bed):
        await start(bed, failurePolicy={"maxRestarts": 0})
        await bed.finish((await bed.pods())[HEAD], 1)
        await bed.advance(6)
        status = (await bed.get("jobsets", NAME))["status"]
        assert status["terminalState"] == "Failed"
        holds = {each["type"]: each["status"] for each in status["conditions"]}
        assert (holds["StartupPolicyInProgress"], holds["StartupPolicyCompleted"]) == ("True", "False")

    on_virtual_time(test, pools=3)


def test_a_deleted_pod_that_has_no_node_ends_as_failed_and_is_replaced():
    async def test(bed):
        spec = {"restartPolicy": "Never", "nodeSelector": {"no": "where"}, "containers": [{"name": "a", "image": "b"}]}
        job = {"podReplacementPolicy": "Failed", "template": {"spec": spec}}
        await bed.kube.create("jobs", {"metadata": {"name": "waits"}, "spec": job}, "default")
        await bed.advance(3)
        (pod,), _ = await bed.kube.list("pods", "default")
        await bed.kube.delete("pods", pod["metadata"]["name"], "default")
        await bed.advance(5)
        assert await bed.exists("pods", pod["metadata"]["name"]), "nobody ends it, and the Job holds it"
        await bed.advance(40)
        assert not await bed.exists("pods", pod["metadata"]["name"])
        status = (await bed.get("jobs", "waits"))["status"]
        assert (status["failed"], status["active"]) == (1, 1)

    on_virtual_time(test, pools=3)


def test_empty_metadata_that_is_left_out_is_no_change():
    async def test(bed):
        await start(bed)
        jobs = (await bed.get("jobsets", NAME))["spec"]["replicatedJobs"]
        templates = [each for job in jobs for each in (job["template"], job["template"]["spec"]["template"])]
        empty = [each for each in templates if each["metadata"] == {}]
        assert empty
        for each in empty:
            del each["metadata"]
        await bed.kube.patch("jobsets", NAME, {"spec": {"replicatedJobs": jobs}}, "default")

    on_virtual_time(test, pools=3)


def test_a_pod_that_is_bound_is_of_its_first_generation():
    async def test(bed):
        await start(bed)
        assert {each["metadata"]["generation"] for each in (await bed.pods()).values()} == {1}

    on_virtual_time(test, pools=3)
