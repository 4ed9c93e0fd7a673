"""What a pod's runner writes to the API server: its status, whenever that changes, and the deletion at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from xlaunch.local.kube import STRATEGIC, Kube, Object, StatusError
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

# Seconds of cluster time after which a write that the API server refused is tried again
RETRY = 1.0
# The pod is gone, or another one has its name: there is nothing to write to any more, and its event follows
GONE = (404, 409)
# Lists that a strategic merge patch would add to; their first entries must be `hostIP` and `podIP`
ADDRESSES = ("hostIPs", "podIPs")
REPLACE = {"$patch": "replace"}


class PodWriter:
    """Writes for one pod. `pod` is its newest known version, `removed` says that its object is gone.

    `report` hears of each refusal, once for those that follow each other in the same words.
    """

    def __init__(self, kube: Kube, clock: ScaledClock, pod: Object, report: Report) -> None:
        self.pod = pod
        self.removed = False
        self._kube = kube
        self._clock = clock
        self._report = report
        self._refusal = ""
        self._meta = pod["metadata"]
        self._changed = asyncio.Event()
        self._finishing = False
        self._written: Object = {}

    def observe(self, pod: Object) -> None:
        """Another version of the pod, from a watch that may lag behind our own writes.

        What somebody else has made of its readiness, who took the node for dead, is set right (status_manager.go,
        `needsReconcile`).
        """
        if _version(pod) < _version(self.pod):
            return
        self.pod = pod
        if self._written and _readiness(pod["status"]) != _readiness(self._written):
            self._written = {}
            self._changed.set()

    def changed(self) -> None:
        """There is a new status; `run` writes it soon, several changes at once."""
        self._changed.set()

    def finish(self) -> None:
        """There is a last status: `run` writes it and returns, so that no earlier write can come after it."""
        self._finishing = True
        self._changed.set()

    async def run(self, status: Callable[[], Object]) -> None:
        """Writes each new status up to the last one."""
        while not self._finishing or self._changed.is_set():  # it may have been set while a write was on its way
            await self._changed.wait()
            self._changed.clear()
            await self._write(status)

    async def _write(self, status: Callable[[], Object]) -> None:
        """Writes the status unless it is what was written last; tries until the API server takes it."""
        name, namespace, uid = self._meta["name"], self._meta["namespace"], self._meta["uid"]
        while not self.removed:
            new = status()
            if new == self._written:
                return
            # With the UID, as the kubelet does it: a pod that has replaced this one must not get its status
            whole = {name: [REPLACE, *new[name]] for name in ADDRESSES if name in new}
            body = {"metadata": {"uid": uid}, "status": {**new, **whole}}
            try:
                patched = await self._kube.patch("pods", name, body, namespace, kind=STRATEGIC, subresource="status")
            except StatusError as error:
                if error.code in GONE:
                    return
                await self._try_later(error)
            else:
                self.pod = patched
                self._written = new
                return

    async def delete(self) -> None:
        """Nothing runs any more, so the object may go: the deletion with grace 0 that a kubelet ends with."""
        name, namespace, uid = self._meta["name"], self._meta["namespace"], self._meta["uid"]
        while not self.removed:
            try:
                await self._kube.delete("pods", name, namespace, grace=0, uid=uid)
            except StatusError as error:
                if error.code in GONE:
                    return
                await self._try_later(error)
            else:
                return

    async def _try_later(self, error: StatusError) -> None:
        if error.message != self._refusal:
            self._refusal = error.message
            self._report(f"pod {self._meta['name']}", error)
        await self._clock.sleep(RETRY)


def _version(pod: Object) -> int:
    """Resource versions can be compared as numbers (KEP-5504)."""
    return int(pod["metadata"]["resourceVersion"])


def _readiness(status: Object) -> list[str]:
    return [each["status"] for each in status.get("conditions") or () if each["type"] == "Ready"]
