"""The scheduler's passes."""

from fakes.cluster import node, on_virtual_time


def pod(name, **spec):
    main = {"name": "main", "image": "x", "command": ["true"], "resources": {"requests": {"cpu": "40"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [main], **spec}}


async def nodes_of(bed):
    pods, _ = await bed.kube.list("pods", "default")
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName") for pod in pods}


def test_a_pod_waits_for_a_node_and_gets_it():
    async def test(bed):
        await bed.kube.create("pods", pod("a", nodeSelector={"cloud.google.com/gke-nodepool": "new"}), "default")
        await bed.clock.settle()
        waiting = await bed.get("pods", "a")
        (scheduled,) = waiting["status"]["conditions"]
        assert (scheduled["type"], scheduled["status"], scheduled["reason"]) == (
            "PodScheduled",
            "False",
            "Unschedulable",
        )
        await bed.kube.create("nodes", node("fresh", "new"))
        await bed.clock.settle()
        assert await nodes_of(bed) == {"a": "fresh"}
        reasons = [reason for _, reason, _ in await bed.events("a")]
        assert reasons == ["FailedScheduling", "Scheduled"]
        assert (await bed.events("a"))[-1][2] == "Successfully assigned default/a to fresh"

    on_virtual_time(test)


def test_a_place_that_becomes_free_is_taken():
    async def test(bed):
        for name in ("a", "b"):
            await bed.kube.create("pods", pod(name), "default")
        await bed.clock.settle()
        assert await nodes_of(bed) == {"a": "cpu-0", "b": None}
        await bed.kube.delete("pods", "a", "default")
        await bed.advance(1)
        assert await nodes_of(bed) == {"b": "cpu-0"}

    on_virtual_time(test)


def test_a_node_that_is_uncordoned_is_used():
    async def test(bed):
        await bed.kube.patch("nodes", "cpu-0", {"spec": {"unschedulable": True}})
        await bed.kube.create("pods", pod("a"), "default")
        await bed.clock.settle()
        assert await nodes_of(bed) == {"a": None}
        await bed.kube.patch("nodes", "cpu-0", {"spec": {"unschedulable": None}})
        await bed.clock.settle()
        assert await nodes_of(bed) == {"a": "cpu-0"}

    on_virtual_time(test)


def test_other_schedulers_and_gated_pods_are_left_alone():
    async def test(bed):
        await bed.kube.create("pods", pod("other", schedulerName="mine"), "default")
        await bed.kube.create("pods", pod("gated", schedulingGates=[{"name": "x.y/z"}]), "default")
        await bed.clock.settle()
        assert await nodes_of(bed) == {"other": None, "gated": None}
        assert await bed.events("other") == []

    on_virtual_time(test)


def test_the_same_reason_is_told_once():
    async def test(bed):
        await bed.kube.create("pods", pod("a", nodeSelector={"no": "such"}), "default")
        await bed.clock.settle()
        await bed.kube.create("pods", pod("b"), "default")
        await bed.clock.settle()
        assert len(await bed.events("a")) == 1

    on_virtual_time(test)
