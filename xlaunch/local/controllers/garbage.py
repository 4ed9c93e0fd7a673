"""Garbage collection: what has lost its owners goes (Kubernetes 1.37, pkg/controller/garbagecollector).

Background: the owner is gone, its dependents follow. Foreground: the owner waits, by a finalizer, until the dependents
that block it are gone. Orphan: the dependents lose their reference first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xlaunch.local.controllers.queue import WorkQueue, work
from xlaunch.local.controllers.writes import change, delete, remove_finalizer
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, find
from xlaunch.local.objects import FOREGROUND, ORPHAN, finalizers_of, is_deleting, key_of, uid_of
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

KINDS = {
    ("v1", "Pod"): "pods",
    ("v1", "Service"): "services",
    ("v1", "ConfigMap"): "configmaps",
    ("v1", "Secret"): "secrets",
    ("v1", "Node"): "nodes",
    ("batch/v1", "Job"): "jobs",
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): "jobsets",
    ("coordination.k8s.io/v1", "Lease"): "leases",
}
RESOURCES = tuple(KINDS.values())


@dataclass(frozen=True)
class Verdict:
    """What becomes of an object with owners: `delete` it by that policy, or take the references to `drop` off it."""

    delete: str = ""
    drop: Sequence[str] = ()


def judge(obj: Object, absent: Sequence[str], waiting: Sequence[str], *, has_dependents: bool) -> Verdict:
    """Decides on an object that nobody is deleting yet.

    `absent` are the UIDs of owners that do not exist any more, `waiting` those that wait for their dependents.
    """
    references = owner_references(obj)
    solid = [reference for reference in references if reference["uid"] not in (*absent, *waiting)]
    if not references or not (absent or waiting):
        return Verdict()
    if solid:
        return Verdict(drop=[*absent, *waiting])
    if waiting and has_dependents:
        return Verdict(delete="Foreground")
    if ORPHAN in finalizers_of(obj):
        return Verdict(delete="Orphan")
    return Verdict(delete="Foreground" if FOREGROUND in finalizers_of(obj) else "Background")


def owner_references(obj: Object) -> Sequence[Mapping[str, Any]]:
    """All owners of an object."""
    references: Sequence[Mapping[str, Any]] = obj["metadata"].get("ownerReferences") or ()
    return references


def blocks(obj: Object, owner: str) -> bool:
    """Whether the object keeps the owner of that UID from going, in a foreground deletion."""
    return any(each["uid"] == owner and each.get("blockOwnerDeletion") for each in owner_references(obj))


class GarbageCollector:
    """Follows all resources that own or are owned."""

    def __init__(self, kube: Kube, clock: ScaledClock, informers: Mapping[str, Informer], report: Report) -> None:
        self._kube = kube
        self._report = report
        self._queue: WorkQueue[str] = WorkQueue(clock)
        self._known: dict[str, tuple[str, Object]] = {}
        self._dependents: dict[str, set[str]] = {}
        for resource in RESOURCES:
            informers[resource].subscribe(partial(self._on_change, resource))

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.sync, self._report, "garbage")

    def _on_change(self, resource: str, kind: Change, obj: Object, before: Object | None) -> None:
        uid = uid_of(obj)
        owners = {reference["uid"] for reference in owner_references(obj)}
        for former in {each["uid"] for each in owner_references(before or obj)} | owners:
            if kind == "DELETED" or former not in owners:
                self._dependents.get(former, set()).discard(uid)
                self._queue.add(former)  # a foreground deletion may have waited for this one
            else:
                self._dependents.setdefault(former, set()).add(uid)
        if kind == "DELETED":
            self._known.pop(uid, None)
            for dependent in self._dependents.pop(uid, set()):
                self._queue.add(dependent)
            return
        self._known[uid] = (resource, obj)
        if is_deleting(obj) or (owners and before is None):
            self._queue.add(uid)

    async def sync(self, uid: str) -> None:
        """Looks at one object again."""
        if uid not in self._known:
            return
        resource, cached = self._known[uid]
        obj = await self._live(resource, cached)
        if obj is None:
            return
        if not is_deleting(obj):
            await self._judge(resource, obj)
        elif FOREGROUND in finalizers_of(obj):
            await self._finish_foreground(resource, obj)
        elif ORPHAN in finalizers_of(obj):
            await self._orphan(resource, obj)

    async def _judge(self, resource: str, obj: Object) -> None:
        absent: list[str] = []
        waiting: list[str] = []
        for reference in owner_references(obj):
            kind = KINDS.get((reference["apiVersion"], reference["kind"]))
            if kind is None:
                continue  # of a kind that is not served here: nobody can say that it has gone
            namespace = "" if kind == "nodes" else obj["metadata"].get("namespace", "")
            owner = await self._live(kind, {"metadata": {**reference, "namespace": namespace}})
            if owner is None:
                absent.append(reference["uid"])
            elif is_deleting(owner) and FOREGROUND in finalizers_of(owner) and reference.get("blockOwnerDeletion"):
                waiting.append(reference["uid"])
        verdict = judge(obj, absent, waiting, has_dependents=bool(self._dependents.get(uid_of(obj))))
        if verdict.delete:
            await delete(self._kube, resource, obj, propagation=verdict.delete)
        elif verdict.drop:
            await self._drop_owners(resource, obj, verdict.drop)

    async def _finish_foreground(self, resource: str, obj: Object) -> None:
        left = [self._known[uid] for uid in self._dependents.get(uid_of(obj), ()) if uid in self._known]
        blocking = [dependent for _, dependent in left if blocks(dependent, uid_of(obj))]
        for dependent in blocking:
            if not is_deleting(dependent):
                self._queue.add(uid_of(dependent))
        if not blocking:
            await remove_finalizer(self._kube, resource, obj, FOREGROUND)

    async def _orphan(self, resource: str, obj: Object) -> None:
        for uid in list(self._dependents.get(uid_of(obj), ())):
            if uid in self._known:
                await self._drop_owners(*self._known[uid], [uid_of(obj)])
        await remove_finalizer(self._kube, resource, obj, ORPHAN)

    async def _drop_owners(self, resource: str, obj: Object, owners: Sequence[str]) -> None:
        def without(latest: Object) -> Object | None:
            kept = [reference for reference in owner_references(latest) if reference["uid"] not in owners]
            return None if len(kept) == len(owner_references(latest)) else {"metadata": {"ownerReferences": kept}}

        await change(self._kube, resource, obj, without)

    async def _live(self, resource: str, cached: Object) -> Object | None:
        """The object as it is now; None where it has gone or another has its name."""
        namespace, name = key_of(cached)
        latest = await find(self._kube, resource, name, namespace or None)
        return latest if latest and uid_of(latest) == uid_of(cached) else None
