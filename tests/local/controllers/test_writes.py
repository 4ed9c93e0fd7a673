"""Writes against others' writes: conflicts, vanished objects, replaced ones."""

import asyncio

import pytest
from fakes.cluster import VirtualClock

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.writes import ATTEMPTS, change, delete, remove_finalizer, write_status
from xlaunch.local.kube import StatusError


class Rival(EmbeddedKube):
    """Another writer changes the object between our read and our write, so many times."""

    def __init__(self, times):
        super().__init__(VirtualClock())
        self.times = times

    async def get(self, resource, name, namespace=None):
        found = await super().get(resource, name, namespace)
        if self.times:
            self.times -= 1
            data = {"data": {"rival": str(self.times)}}
            await self.patch(resource, name, data, namespace)
        return found


async def config_map(kube, name="c", **metadata):
    return await kube.create("configmaps", {"metadata": {"name": name, **metadata}, "data": {"a": "1"}}, "default")


def test_a_conflict_is_met_by_trying_with_the_latest():
    async def go():
        kube = Rival(2)
        mine = await config_map(kube)
        result = await change(kube, "configmaps", mine, lambda latest: {"data": {"b": latest["data"].get("rival")}})
        assert result["data"] == {"a": "1", "rival": "0", "b": "0"}

    asyncio.run(go())


def test_an_endless_rival_is_an_error():
    async def go():
        kube = Rival(ATTEMPTS)
        mine = await config_map(kube)
        with pytest.raises(StatusError, match="kept changing") as caught:
            await change(kube, "configmaps", mine, lambda _: {"data": {"b": "2"}})
        assert caught.value.code == 409

    asyncio.run(go())


def test_a_vanished_or_replaced_object_is_left_alone():
    async def go():
        kube = EmbeddedKube(VirtualClock())
        old = await config_map(kube)
        await kube.delete("configmaps", "c", "default")
        assert await change(kube, "configmaps", old, lambda _: {"data": {}}) is None
        await delete(kube, "configmaps", old)
        new = await config_map(kube)
        assert await change(kube, "configmaps", old, lambda _: {"data": {"b": "2"}}) is None
        await delete(kube, "configmaps", old)
        assert await kube.get("configmaps", "c", "default") == new

    asyncio.run(go())


def test_other_refusals_are_not_hidden():
    async def go():
        kube = EmbeddedKube(VirtualClock())
        mine = await config_map(kube)
        with pytest.raises(StatusError):
            await change(kube, "configmaps", mine, lambda _: {"metadata": {"labels": {"bad label": "x"}}})

    asyncio.run(go())


def test_a_finalizer_is_taken_off_once():
    async def go():
        kube = EmbeddedKube(VirtualClock())
        mine = await config_map(kube, finalizers=["x.y/a", "x.y/b"])
        for _ in range(2):
            await remove_finalizer(kube, "configmaps", mine, "x.y/a")
        assert (await kube.get("configmaps", "c", "default"))["metadata"]["finalizers"] == ["x.y/b"]

    asyncio.run(go())


def test_a_status_made_from_an_old_version_is_refused_and_an_equal_one_not_written():
    async def go():
        kube = EmbeddedKube(VirtualClock())
        node = await kube.create("nodes", {"metadata": {"name": "n"}, "status": {"phase": "a"}})
        assert await write_status(kube, "nodes", node, {"phase": "a"}) == node
        await kube.patch("nodes", "n", {"metadata": {"labels": {"l": "1"}}})
        with pytest.raises(StatusError) as caught:
            await write_status(kube, "nodes", node, {"phase": "b"})
        assert caught.value.code == 409

    asyncio.run(go())
