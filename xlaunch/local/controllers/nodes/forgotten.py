"""Pods that no node will end: they have none, or it is gone or out of service (Kubernetes 1.37, controller/podgc)."""

from __future__ import annotations

from collections.abc import Iterable

from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.nodes.health import ready_status
from xlaunch.local.controllers.writes import delete, disrupt, end
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import is_deleting, node_of, taints_of
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

CHECK_SECONDS = 20.0
QUARANTINE_SECONDS = 40.0
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
REASON, MESSAGE = "DeletionByPodGC", "PodGC: node no longer exists"


class ForgottenPods:
    """Looks every 20 s. A node must have been missing for 40 s before its pods are given up."""

    def __init__(self, kube: Kube, clock: ScaledClock, report: Report) -> None:
        self._kube = kube
        self._clock = clock
        self._report = report
        self._missing: dict[str, float] = {}

    async def run(self) -> None:
        """Works until cancelled."""
        while True:
            await self._clock.sleep(CHECK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """One round over all pods."""
        pods, _ = await self._kube.list("pods")
        items, _ = await self._kube.list("nodes")
        nodes = {node["metadata"]["name"]: node for node in items}
        gone = self._gone({node_of(pod) for pod in pods if node_of(pod) and node_of(pod) not in nodes})
        for pod in pods:
            try:
                if node_of(pod) in gone:
                    await disrupt(self._kube, pod, REASON, MESSAGE, stamp(self._clock.now()))
                    await self._give_up(pod)
                elif is_deleting(pod) and (not node_of(pod) or _is_out_of_service(nodes.get(node_of(pod)))):
                    await self._give_up(pod)
            except StatusError as error:
                self._report(f"pod {pod['metadata']['name']}", error)

    def _gone(self, missing: Iterable[str]) -> set[str]:
        """The nodes that have been missing for long enough."""
        now = self._clock.monotonic()
        self._missing = {name: self._missing.get(name, now) for name in missing}
        return {name for name, since in self._missing.items() if now - since >= QUARANTINE_SECONDS}

    async def _give_up(self, pod: Object) -> None:
        await end(self._kube, pod, "Failed")
        await delete(self._kube, "pods", pod, grace=0)


def _is_out_of_service(node: Object | None) -> bool:
    if node is None:
        return False
    return ready_status(node) != "True" and any(taint["key"] == OUT_OF_SERVICE for taint in taints_of(node))
