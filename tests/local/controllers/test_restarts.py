"""Restarts and ends of JobSets: conditions, counters, events (compared with JobSet 0.12.0 on a real control plane)."""

import pytest
from fakes.cluster import on_virtual_time, reference_jobset

NAME = "demo-elastic"
HEAD = f"{NAME}-pathways-head-0"


def jobset_of(limit=40, **spec):
    made = reference_jobset(**spec)
    made["spec"]["replicatedJobs"][1]["template"]["spec"]["backoffLimit"] = limit
    return made


async def start(bed, jobset):
    await bed.kube.create("jobsets", jobset, "default")
    await bed.until(lambda: all_run(bed))
    await bed.advance(3)


async def all_run(bed):
    return await bed.running() == 13


async def fail_slice(bed, index):
    """Deletes three hosts of the slice; with a backoffLimit of 2 that fails its Job."""
    pods = await bed.pods()
    for host in range(3):
        await bed.kube.delete("pods", pods[f"{NAME}-worker-{index}-{host}"]["metadata"]["name"], "default")


async def conditions(bed):
    """(status, reason, message) by type."""
    status = (await bed.get("jobsets", NAME))["status"]
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]}


async def status(bed):
    return (await bed.get("jobsets", NAME))["status"]


def test_a_start_in_order_ends_with_all_ready():
    async def test(bed):
        await bed.kube.create("jobsets", reference_jobset(), "default")
        await bed.clock.settle()
        assert not await bed.exists("jobs", f"{NAME}-worker-0"), "workers come after the head"
        await bed.until(lambda: all_run(bed))
        await bed.advance(2)
        assert await conditions(bed) == {
            "StartupPolicyInProgress": (
                "False", "InOrderStartupPolicyInProgress", "in order startup policy is in progress",
            ),
            "StartupPolicyCompleted": (
                "True", "InOrderStartupPolicyCompleted", "in order startup policy has completed",
            ),
        }  # fmt: skip
        assert (await status(bed))["restarts"] == 0
        service = await bed.get("services", NAME)
        assert service["spec"]["selector"] == {"jobset.sigs.k8s.io/jobset-name": NAME}
        assert not bed.reports

    on_virtual_time(test, pools=3)


@pytest.mark.parametrize("strategy", ["Recreate", "BlockingRecreate"])
def test_a_failed_slice_restarts_the_set(strategy):
    async def test(bed):
        await start(bed, jobset_of(2, failurePolicy={"maxRestarts": 1, "restartStrategy": strategy}))
        before = {pod["metadata"]["uid"] for pod in (await bed.pods()).values()}
        await fail_slice(bed, 1)
        await bed.advance(3)
        reason = f"applying RestartJobSet failure policy action (first failed job: {NAME}-worker-1)"
        assert (await conditions(bed))["RestartingJobSet"] == ("True", "DefaultFailurePolicy", reason)
        assert await bed.until(lambda: all_run(bed)) < 6
        await bed.advance(2)
        pods = await bed.pods()
        assert before.isdisjoint(pod["metadata"]["uid"] for pod in pods.values())
        assert {pod["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] for pod in pods.values()} == {"1"}
        now = await status(bed)
        assert (now["restarts"], now["restartsCountTowardsMax"]) == (1, 1)
        assert (await conditions(bed))["RestartingJobSet"] == ("False", "JobsReady", "all jobs are ready")
        events = await bed.events(NAME)
        assert ("Warning", "DefaultFailurePolicy", reason) in events
        assert ("Warning", "RestartJobSetFailurePolicyAction", reason) in events
        assert ("Normal", "JobsReady", "all jobs are ready") in events

    on_virtual_time(test, pools=3)


def test_no_restart_left_fails_the_set_and_keeps_the_failed_job():
    async def test(bed):
        await start(bed, jobset_of(2, failurePolicy={"maxRestarts": 0}))
        await fail_slice(bed, 1)
        await bed.advance(6)
        message = f"jobset failed due to reaching max number of restarts (first failed job: {NAME}-worker-1)"
        assert (await conditions(bed))["Failed"] == ("True", "ReachedMaxRestarts", message)
        assert (await conditions(bed))["StartupPolicyInProgress"][0] == "True"
        assert (await status(bed))["terminalState"] == "Failed"
        assert not await bed.pods()
        jobs, _ = await bed.kube.list("jobs", "default")
        assert [job["metadata"]["name"] for job in jobs] == [f"{NAME}-worker-1"]
        failed = {each["type"]: each["reason"] for each in jobs[0]["status"]["conditions"]}
        assert failed == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
        assert jobs[0]["status"]["failed"] == 4, "on failure all hosts count"
        assert ("Warning", "ReachedMaxRestarts", message) in await bed.events(NAME)

    on_virtual_time(test, pools=3)


def test_the_second_failure_after_a_restart_tells_that_the_restart_is_over():
    async def test(bed):
        await start(bed, jobset_of(2, failurePolicy={"maxRestarts": 1}))
        for _ in range(2):
            await fail_slice(bed, 1)
            await bed.advance(10)
        assert (await conditions(bed))["RestartingJobSet"] == ("False", "JobSetFailed", "jobset failed")
        assert ("Normal", "JobSetFailed", "jobset failed") in await bed.events(NAME)

    on_virtual_time(test, pools=3)


def test_a_named_rule_gives_the_condition_its_reason():
    async def test(bed):
        rule = {"name": "head_or_other", "action": "RestartJobSetAndIgnoreMaxRestarts"}
        await start(bed, jobset_of(failurePolicy={"maxRestarts": 0, "rules": [rule]}))
        await bed.kube.delete("pods", (await bed.pods())[HEAD + "-0"]["metadata"]["name"], "default")
        await bed.advance(2.5)
        assert (await conditions(bed))["RestartingJobSet"][1] == "FailurePolicy_head_or_other"
        now = await status(bed)
        assert (now["restarts"], now.get("restartsCountTowardsMax")) == (1, None)

    on_virtual_time(test, pools=3)


def test_a_deleted_head_restarts_the_set():
    async def test(bed):
        await start(bed, jobset_of())
        await bed.kube.delete("pods", (await bed.pods())[HEAD + "-0"]["metadata"]["name"], "default")
        await bed.advance(3)
        assert (await status(bed))["restarts"] == 1
        assert await bed.until(lambda: all_run(bed)) < 6
        events = await bed.events(NAME)
        assert any(message.endswith(f"(first failed job: {HEAD})") for _, _, message in events)

    on_virtual_time(test, pools=3)


def test_a_head_that_fails_without_restarts_left_keeps_its_pod():
    async def test(bed):
        await start(bed, jobset_of(failurePolicy={"maxRestarts": 0}))
        await bed.finish((await bed.pods())[HEAD + "-0"], 1)
        await bed.advance(6)
        assert (await status(bed))["terminalState"] == "Failed"
        assert list(await bed.pods()) == [HEAD + "-0"]

    on_virtual_time(test, pools=3)


def test_a_head_that_succeeds_completes_the_set_and_removes_the_workers():
    async def test(bed):
        await start(bed, jobset_of())
        await bed.finish((await bed.pods())[HEAD + "-0"], 0)
        await bed.advance(6)
        assert (await conditions(bed))["Completed"] == (
            "True", "AllJobsCompleted", "jobset completed successfully",
        )  # fmt: skip
        assert (await status(bed))["terminalState"] == "Completed"
        pods = await bed.pods()
        assert [(name, pod["status"]["phase"]) for name, pod in pods.items()] == [(HEAD + "-0", "Succeeded")]
        jobs, _ = await bed.kube.list("jobs", "default")
        assert [job["metadata"]["name"] for job in jobs] == [HEAD]

    on_virtual_time(test, pools=3)


def test_the_ttl_removes_everything():
    async def test(bed):
        await start(bed, jobset_of(ttlSecondsAfterFinished=120))
        await bed.finish((await bed.pods())[HEAD + "-0"], 0)
        await bed.advance(119)
        assert await bed.exists("jobsets", NAME)
        await bed.advance(10)
        assert not await bed.exists("jobsets", NAME)
        assert not await bed.exists("jobs", HEAD)
        assert not await bed.exists("services", NAME)
        assert not await bed.pods()

    on_virtual_time(test, pools=3)


def test_a_whole_slice_loss_is_bracketed_by_events():
    async def test(bed):
        await start(bed, jobset_of())
        pods = await bed.pods()
        for host in range(4):
            await bed.kube.delete("pods", pods[f"{NAME}-worker-1-{host}"]["metadata"]["name"], "default")
        await bed.advance(2.5)
        assert (await conditions(bed))["StartupPolicyInProgress"][0] == "True"
        await bed.until(lambda: all_run(bed), limit=90)
        await bed.advance(2)
        reasons = [reason for _, reason, _ in await bed.events(NAME)]
        assert reasons == ["InOrderStartupPolicyInProgress", "InOrderStartupPolicyCompleted"] * 2

    on_virtual_time(test, pools=3)


def test_suspend_removes_all_pods_and_resume_brings_them_back_in_order():
    async def test(bed):
        await start(bed, jobset_of())
        uids = {job["metadata"]["name"]: job["metadata"]["uid"] for job in (await bed.kube.list("jobs", "default"))[0]}
        await bed.kube.patch("jobsets", NAME, {"spec": {"suspend": True}}, "default")
        await bed.advance(3)
        assert not await bed.pods()
        assert (await conditions(bed))["Suspended"] == ("True", "SuspendedJobs", "jobset is suspended")
        jobs, _ = await bed.kube.list("jobs", "default")
        for job in jobs:
            suspended = {each["type"]: each["reason"] for each in job["status"]["conditions"]}
            assert suspended == {"Suspended": "JobSuspended"}
            assert "failed" not in job["status"]
        await bed.kube.patch("jobsets", NAME, {"spec": {"suspend": False}}, "default")
        await bed.until(lambda: all_run(bed), limit=6)
        await bed.advance(3)
        assert (await conditions(bed))["Suspended"] == ("False", "ResumeJobs", "jobset is resumed")
        jobs, _ = await bed.kube.list("jobs", "default")
        assert {job["metadata"]["name"]: job["metadata"]["uid"] for job in jobs} == uids
        assert (await status(bed))["restarts"] == 0

    on_virtual_time(test, pools=3)


def test_what_kueue_changes_while_suspended_reaches_the_pods():
    async def test(bed):
        await bed.kube.create("jobsets", reference_jobset(suspend=True), "default")
        await bed.advance(2)
        assert not await bed.pods()
        jobset = await bed.get("jobsets", NAME)
        jobs = jobset["spec"]["replicatedJobs"]
        pod = jobs[1]["template"]["spec"]["template"]
        pod["spec"]["nodeSelector"]["cloud.google.com/gke-nodepool"] = "tpu-1"
        pod.setdefault("metadata", {})["labels"] = {"kueue.x-k8s.io/podset": "worker"}
        patch = {"spec": {"suspend": False, "replicatedJobs": jobs}}
        await bed.kube.patch("jobsets", NAME, patch, "default")
        await bed.advance(6)
        workers = await bed.pods("jobset.sigs.k8s.io/replicatedjob-name=worker,kueue.x-k8s.io/podset=worker")
        bound = {pod["spec"]["nodeName"] for pod in workers.values() if pod["spec"].get("nodeName")}
        assert bound == {"tpu-1-0", "tpu-1-1", "tpu-1-2", "tpu-1-3"}

    on_virtual_time(test, pools=3)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_deleting_the_set_deletes_all_it_made(propagation):
    async def test(bed):
        await start(bed, jobset_of())
        await bed.kube.delete("jobsets", NAME, "default", propagation=propagation)
        await bed.clock.settle()
        assert await bed.exists("jobsets", NAME) == (propagation == "Foreground")
        await bed.advance(5)
        for resource in ("jobsets", "jobs", "pods", "services"):
            assert (await bed.kube.list(resource, "default"))[0] == []

    on_virtual_time(test, pools=3)


def test_a_set_of_the_same_name_may_follow_at_once():
    async def test(bed):
        await start(bed, jobset_of())
        await bed.kube.delete("jobsets", NAME, "default", propagation="Background")
        new = await bed.kube.create("jobsets", jobset_of(), "default")
        await bed.advance(10)
        pods = await bed.pods()
        assert await bed.running() == 13
        uids = {pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-uid"] for pod in pods.values()}
        assert uids == {new["metadata"]["uid"]}
        assert (await bed.get("services", NAME))["metadata"]["ownerReferences"][0]["uid"] == new["metadata"]["uid"]

    on_virtual_time(test, pools=3)


def test_a_job_that_cannot_be_created_is_told_on_the_jobset():
    async def test(bed):
        jobset = reference_jobset()
        mounts = [{"name": "missing", "mountPath": "/x"}]
        container = jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]
        container["volumeMounts"] = mounts
        await bed.kube.create("jobsets", jobset, "default")
        await bed.advance(5)
        told = [message for _, reason, message in await bed.events(NAME) if reason == "JobCreationFailed"]
        assert told[0].startswith(f'job "{NAME}-worker-0" creation failed with error: ')
        assert 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "missing"' in told[0]
        assert await bed.running() == 1

    on_virtual_time(test, pools=3)
