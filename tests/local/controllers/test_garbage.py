"""Owners and dependents: background, foreground, orphan; namespaces; TTL of Jobs."""

import pytest
from fakes.cluster import on_virtual_time

from xlaunch.local.controllers.garbage import Verdict, judge

POD = {
    "metadata": {},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["true"]}]},
}


def owned(owners, finalizers=()):
    references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid} for uid in owners]
    return {"metadata": {"ownerReferences": references, "finalizers": list(finalizers)}}


@pytest.mark.parametrize(
    ("owners", "absent", "waiting", "has_dependents", "finalizers", "verdict"),
    [
        ("", "", "", False, (), Verdict()),
        ("a", "", "", False, (), Verdict()),
        ("a", "a", "", False, (), Verdict(delete="Background")),
        ("ab", "a", "", False, (), Verdict(drop=["a"])),
        ("ab", "a", "b", False, (), Verdict(delete="Background")),
        ("abc", "a", "b", True, (), Verdict(drop=["a", "b"])),
        ("a", "", "a", False, (), Verdict(delete="Background")),
        ("a", "", "a", True, (), Verdict(delete="Foreground")),
        ("a", "a", "", True, ("orphan",), Verdict(delete="Orphan")),
        ("a", "a", "", True, ("foregroundDeletion",), Verdict(delete="Foreground")),
    ],
)
def test_what_becomes_of_an_object_with_owners(owners, absent, waiting, has_dependents, finalizers, verdict):
    obj = owned(list(owners), finalizers)
    assert judge(obj, list(absent), list(waiting), has_dependents=has_dependents) == verdict


def job(**spec):
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "plain"},
        "spec": {"template": POD, "parallelism": 2, "completions": 2, "completionMode": "Indexed", **spec},
    }


async def start(bed, **spec):
    await bed.kube.create("jobs", job(**spec), "default")
    await bed.advance(2)
    assert await bed.running() == 2


@pytest.mark.parametrize(("propagation", "pods_left"), [("Background", 0), ("Foreground", 0), ("Orphan", 2), (None, 2)])
def test_deleting_a_job(propagation, pods_left):
    async def test(bed):
        await start(bed)
        await bed.kube.delete("jobs", "plain", "default", propagation=propagation)
        await bed.advance(5)
        assert not await bed.exists("jobs", "plain")
        pods, _ = await bed.kube.list("pods", "default")
        assert len(pods) == pods_left
        assert not any(pod["metadata"].get("finalizers") or pod["metadata"].get("ownerReferences") for pod in pods)

    on_virtual_time(test)


def test_in_the_foreground_the_owner_goes_last():
    async def test(bed):
        await start(bed)
        await bed.kube.delete("jobs", "plain", "default", propagation="Foreground")
        await bed.advance(0.2)
        assert await bed.exists("jobs", "plain")
        assert all("deletionTimestamp" in pod["metadata"] for pod in (await bed.pods()).values())
        await bed.advance(3)
        assert not await bed.exists("jobs", "plain")

    on_virtual_time(test)


def test_an_object_made_for_an_owner_that_never_was_goes():
    async def test(bed):
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}
        body = {"metadata": {"name": "child", "ownerReferences": [reference]}}
        await bed.kube.create("configmaps", body, "default")
        stays = {"metadata": {"name": "other", "ownerReferences": [{**reference, "apiVersion": "x/v1", "kind": "X"}]}}
        await bed.kube.create("configmaps", stays, "default")
        await bed.advance(1)
        assert not await bed.exists("configmaps", "child")
        assert await bed.exists("configmaps", "other"), "nobody knows whether its owner is there"

    on_virtual_time(test)


def test_a_deleted_namespace_is_emptied_first():
    async def test(bed):
        await bed.kube.create("namespaces", {"metadata": {"name": "team"}})
        await bed.kube.create("jobs", job(), "team")
        await bed.kube.create("configmaps", {"metadata": {"name": "c"}}, "team")
        await bed.advance(2)
        assert len(await bed.pods(namespace="team")) == 2
        await bed.kube.delete("namespaces", "team")
        await bed.advance(6)
        namespaces, _ = await bed.kube.list("namespaces")
        assert "team" not in [each["metadata"]["name"] for each in namespaces]
        for resource in ("pods", "jobs", "configmaps", "events", "serviceaccounts"):
            assert (await bed.kube.list(resource, "team"))[0] == []

    on_virtual_time(test)


def test_a_finished_job_goes_after_its_ttl():
    async def test(bed):
        await start(bed, ttlSecondsAfterFinished=30)
        for pod in (await bed.kube.list("pods", "default"))[0]:
            await bed.finish(pod, 0)
        await bed.advance(25)
        assert await bed.exists("jobs", "plain")
        await bed.advance(10)
        assert not await bed.exists("jobs", "plain")
        assert not await bed.pods()

    on_virtual_time(test)
