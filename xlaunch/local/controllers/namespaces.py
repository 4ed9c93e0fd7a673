"""Deleting a namespace: all that is in it first (Kubernetes 1.37, pkg/controller/namespace/deletion)."""

from __future__ import annotations

from xlaunch.local.controllers.queue import WorkQueue, work
from xlaunch.local.controllers.writes import delete
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import is_deleting
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

CONTENT = ("jobsets", "jobs", "pods", "services", "configmaps", "secrets", "serviceaccounts", "leases", "events")
RECHECK_SECONDS = 1.0


class NamespaceController:
    """Empties namespaces that are being deleted, and lets them go when nothing is left."""

    def __init__(self, kube: Kube, clock: ScaledClock, namespaces: Informer, report: Report) -> None:
        self._kube = kube
        self._report = report
        self._queue: WorkQueue[str] = WorkQueue(clock)
        namespaces.subscribe(self._on_namespace)

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.sync, self._report, "namespace")

    def _on_namespace(self, kind: Change, namespace: Object, _before: Object | None) -> None:
        if kind != "DELETED" and is_deleting(namespace):
            self._queue.add(namespace["metadata"]["name"])

    async def sync(self, name: str) -> None:
        """Deletes what is left in the namespace; looks again until nothing is."""
        left = False
        for resource in CONTENT:
            items, _ = await self._kube.list(resource, name)
            for item in items:
                if not is_deleting(item):
                    await delete(self._kube, resource, item, propagation="Background")
            if items:
                remaining, _ = await self._kube.list(resource, name)
                left = left or bool(remaining)
        if left:
            self._queue.add_after(name, RECHECK_SECONDS)
            return
        try:
            await self._kube.patch("namespaces", name, {"spec": {"finalizers": []}}, subresource="finalize")
        except StatusError as error:
            if error.code != 404:
                raise
