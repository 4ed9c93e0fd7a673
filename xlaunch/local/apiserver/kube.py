"""The embedded cluster's API in this process: `EmbeddedKube` implements the protocol of xlaunch.local.kube."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any, TypeVar, cast

from xlaunch.local.apiserver import deletion, reads, seed
from xlaunch.local.apiserver.bodies import WriteOptions
from xlaunch.local.apiserver.deletion import DeleteOptions
from xlaunch.local.apiserver.pods_on_nodes import bound, evicted
from xlaunch.local.apiserver.resources import BY_NAME, Resource
from xlaunch.local.apiserver.store import Store
from xlaunch.local.apiserver.writes import WallClock, Writer
from xlaunch.local.kube import MERGE, Event, Hooks, Object, StatusError
from xlaunch.local.objects import Key

_Data = TypeVar("_Data")


def clone(value: _Data) -> _Data:
    """A copy of JSON-like data that shares nothing; several times faster than copy.deepcopy."""
    copied: Any = value
    if isinstance(value, dict):
        copied = {key: clone(each) for key, each in value.items()}
    elif isinstance(value, list):
        copied = [clone(each) for each in value]
    return cast(_Data, copied)


class EmbeddedKube:
    """One cluster in memory.

    `hooks` are the admission webhooks. `history` is the number of changes per resource that a watch may lag behind.
    """

    def __init__(self, clock: WallClock, hooks: Hooks | None = None, *, history: int = 10_000) -> None:
        self.store = Store(history)
        self.clock = clock
        self.writer = Writer(self.store, clock, hooks or {}, self, Random())
        seed.cluster(self.store, self.writer.now())

    async def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """One object; 404 NotFound."""
        return clone(self.writer.existing(BY_NAME[resource], (namespace or "", name)))

    async def list(self, resource: str, namespace: str | None = None, *, labels: str = "") -> tuple[list[Object], str]:
        """The objects that the label selector leaves, and the resourceVersion to watch from."""
        kind = BY_NAME[resource]
        found = reads.page(self.store, kind, reads.predicate(kind, namespace or "", labels))
        return clone(found.items), str(found.revision)

    async def create(self, resource: str, body: Object, namespace: str | None = None) -> Object:
        """The object as stored, with defaults; 409 AlreadyExists, 422 Invalid."""
        return clone(await self.create_as(BY_NAME[resource], clone(body), namespace or "", WriteOptions()))

    async def create_as(self, resource: Resource, body: Any, namespace: str, options: WriteOptions) -> Object:
        """`create` with the options of a request; the answer is the stored object itself."""
        new = await self.writer.create(resource, body, namespace, options)
        if resource.plural == "namespaces" and not options.dry_run:
            seed.furnish(self.store, self.writer.now(), new["metadata"]["name"])
        return new

    async def patch(
        self,
        resource: str,
        name: str,
        body: Any,
        namespace: str | None = None,
        *,
        kind: str = MERGE,
        subresource: str = "",
    ) -> Object:
        """The object after the patch, of one of the four kinds."""
        key = (namespace or "", name)
        if subresource == "binding":
            return clone(await self.bind(key, body, WriteOptions()))
        patched, _ = await self.writer.patch(BY_NAME[resource], key, clone(body), kind, WriteOptions(), subresource)
        return clone(patched)

    async def bind(self, key: Key, body: Any, options: WriteOptions) -> Object:
        """Assigns a pod to a node; 409 Conflict where it has one or is being deleted."""
        now = self.writer.now()
        return await self.writer.change(BY_NAME["pods"], key, lambda pod: bound(pod, body, now), options, "binding")

    async def evict(self, key: Key, options: DeleteOptions) -> None:
        """The Eviction API: marks a pod as disrupted, then deletes it. There are no PodDisruptionBudgets here."""
        if not options.dry_run:
            now = self.writer.now()
            await self.writer.change(BY_NAME["pods"], key, lambda pod: evicted(pod, now), WriteOptions(), "status")
        self.delete_as(BY_NAME["pods"], key, options)

    async def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace: int | None = None,
        propagation: str | None = None,
        uid: str | None = None,
    ) -> Object:
        """Deletes, or marks as being deleted; `uid` is a precondition (409 Conflict)."""
        options = DeleteOptions(grace, propagation, uid)
        kind = BY_NAME[resource]
        return clone(deletion.answer(kind, self.delete_as(kind, (namespace or "", name), options)))

    def delete_as(self, resource: Resource, key: Key, options: DeleteOptions) -> deletion.Deletion:
        """`delete` with the options of a request."""
        old = self.writer.existing(resource, key)
        deletion.check(resource, old, options)
        result = deletion.delete(resource, old, options, self.clock.now())
        if options.dry_run:
            return result
        if result.gone:
            stored = self.store.remove(resource.plural, key, result.object)
        else:
            stored = old if result.object == old else self.store.put(resource.plural, key, result.object)
        return deletion.Deletion(stored, result.gone, result.warning)

    async def watch(self, resource: str, *, since: str) -> AsyncIterator[Event]:
        """Events after `since` in all namespaces; ends only with an ERROR event or the cluster."""
        revision = int(since)
        while True:
            seen = self.store.revision
            try:
                changes = self.store.after(resource, revision)
            except StatusError as error:
                yield Event("ERROR", error.body())
                return
            for event in reads.events(changes, lambda _: True):
                yield Event(event.type, clone(event.object))
            revision = max(revision, seen)
            await self.store.wait(resource, revision)
