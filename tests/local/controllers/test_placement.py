"""Exclusive placement: leaders, followers, and the deadlock of JobSet v0.12.0 (kubernetes-sigs/jobset#1276)."""

import copy

from fakes.cluster import on_virtual_time, reference_jobset

NAME = "demo-elastic"


async def start(bed, jobset=None, pods=13):
    await bed.kube.create("jobsets", jobset or reference_jobset(), "default")

    async def all_run():
        return await bed.running() == pods

    await bed.until(all_run)
    await bed.advance(3)


def pools_of(pods):
    """The node pools of each slice's hosts."""
    found = {}
    for name, pod in pods.items():
        if "-worker-" in name:
            slice_name = name.rpartition("-")[0]
            found.setdefault(slice_name, set()).add(pod["spec"]["nodeName"].rpartition("-")[0])
    return found


def test_every_slice_has_a_pool_of_its_own_and_every_host_a_node():
    async def test(bed):
        await start(bed)
        pods = await bed.pods()
        pools = list(pools_of(pods).values())
        assert sorted(pool for each in pools for pool in each) == ["tpu-0", "tpu-1", "tpu-2"]
        assert len({pod["spec"]["nodeName"] for pod in pods.values()}) == 13

    on_virtual_time(test, pools=3)


def test_followers_are_refused_until_the_leader_has_a_node():
    async def test(bed):
        await start(bed)
        refused = [message for _, reason, message in await bed.events(f"{NAME}-worker-0") if reason == "FailedCreate"]
        why = (
            "follower pod node selector for topology domain not found. missing selector: cloud.google.com/gke-nodepool"
        )
        assert refused == [f'Error creating: admission webhook "vpod.kb.io" denied the request: {why}']

    on_virtual_time(test, pools=3)


def test_a_slice_without_a_pool_waits_with_the_schedulers_reason():
    async def test(bed):
        await bed.kube.create("jobsets", reference_jobset(), "default")
        await bed.advance(10)
        assert await bed.running() == 9
        waiting = [pod for pod in (await bed.pods()).values() if "nodeName" not in pod["spec"]]
        assert len(waiting) == 1
        message = next(each for each in waiting[0]["status"]["conditions"] if each["type"] == "PodScheduled")["message"]
        # Taints and selectors come first, ports before affinities
        assert message.startswith(
            "0/9 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 8 node(s)"
        )
        assert ("Warning", "FailedScheduling", message) in await bed.events(waiting[0]["metadata"]["name"])

    on_virtual_time(test, pools=2)


def test_a_lost_leader_comes_back_to_its_pool_and_followers_stay():
    async def test(bed):
        await start(bed)
        before = await bed.pods()
        await bed.kube.delete("pods", before[f"{NAME}-worker-1-0"]["metadata"]["name"], "default")
        await bed.advance(13)
        after = await bed.pods()
        assert pools_of(after) == pools_of(before)
        changed = {name for name in after if after[name]["metadata"]["uid"] != before[name]["metadata"]["uid"]}
        assert changed == {f"{NAME}-worker-1-0"}

    on_virtual_time(test, pools=3)


def test_a_failed_leader_blocks_its_followers_until_it_is_deleted():
    async def test(bed):
        await start(bed)
        pods = await bed.pods()
        failed = pods[f"{NAME}-worker-1-0"]["metadata"]["name"]
        await bed.finish(pods[f"{NAME}-worker-1-0"], 1)
        await bed.advance(13)
        assert await bed.running() == 13
        await bed.kube.delete("pods", pods[f"{NAME}-worker-1-2"]["metadata"]["name"], "default")
        await bed.advance(90)
        assert await bed.running() == 12
        refused = [message for _, reason, message in await bed.events(f"{NAME}-worker-1") if reason == "FailedCreate"]
        assert "follower pod node selector for topology domain not found" in refused[-1]
        await bed.kube.delete("pods", failed, "default")

        async def back():
            return await bed.running() == 13

        assert await bed.until(back) < 3

    on_virtual_time(test, pools=3)


def test_two_heads_do_not_share_a_machine():
    async def test(bed):
        await start(bed)
        second = copy.deepcopy(reference_jobset())
        second["metadata"]["name"] = "second"
        await bed.kube.create("jobsets", second, "default")
        await bed.advance(6)
        heads = await bed.pods("jobset.sigs.k8s.io/replicatedjob-name=pathways-head")
        assert sorted(pod["spec"]["nodeName"] for pod in heads.values()) == ["cpu-0", "cpu-1"]

    on_virtual_time(test, pools=3, cpu=2)
