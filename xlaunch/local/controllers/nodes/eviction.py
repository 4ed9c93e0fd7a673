"""Evicting pods from tainted nodes once their toleration ends (Kubernetes 1.37, pkg/controller/tainteviction)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.queue import WorkQueue, work
from xlaunch.local.controllers.scheduler.selectors import tolerates, untolerated
from xlaunch.local.controllers.writes import delete, disrupt
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, find
from xlaunch.local.objects import Key, is_deleting, is_terminal, key_of, node_of, taints_of, uid_of
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock

REASON, MESSAGE = "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"


def tolerated_seconds(tolerations: Sequence[Mapping[str, Any]], taints: Sequence[Mapping[str, Any]]) -> float | None:
    """How long a pod may stay on a node with these NoExecute taints; None for ever."""
    if untolerated(taints, tolerations, ("NoExecute",)):
        return 0.0
    used = [toleration for toleration in tolerations if any(tolerates(toleration, taint) for taint in taints)]
    limits = [each["tolerationSeconds"] for each in used if each.get("tolerationSeconds") is not None]
    return float(max(min(limits), 0)) if limits else None


class TaintEviction:
    """Deletes pods whose node has a NoExecute taint that they do not tolerate, or not for so long."""

    def __init__(self, kube: Kube, clock: ScaledClock, pods: Informer, nodes: Informer, report: Report) -> None:
        self._kube = kube
        self._clock = clock
        self._pods = pods
        self._report = report
        self._recorder = Recorder(kube, clock, "taint-eviction-controller", report)
        self._queue: WorkQueue[Key] = WorkQueue(clock)
        self._since: dict[str, float] = {}
        pods.subscribe(self._on_pod)
        nodes.subscribe(self._on_node)

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.sync, self._report, "taint eviction")

    def _on_pod(self, kind: Change, pod: Object, before: Object | None) -> None:
        if kind == "DELETED":
            self._since.pop(uid_of(pod), None)
        elif node_of(pod) and (before is None or not node_of(before)):
            self._queue.add(key_of(pod))

    def _on_node(self, kind: Change, node: Object, before: Object | None) -> None:
        if kind == "DELETED" or (before is not None and _no_execute(node) == _no_execute(before)):
            return
        for pod in self._pods.objects.values():
            if node_of(pod) == node["metadata"]["name"]:
                self._queue.add(key_of(pod))

    async def sync(self, key: Key) -> None:
        """Evicts the pod, waits for its toleration to end, or forgets that it was to go."""
        namespace, name = key
        pod = await find(self._kube, "pods", name, namespace)
        node = await find(self._kube, "nodes", node_of(pod)) if pod else None
        if pod is None or node is None:
            return
        taints = _no_execute(node)
        if not taints or is_deleting(pod) or is_terminal(pod):
            if self._since.pop(uid_of(pod), None) is not None and not is_deleting(pod):
                await self._note(pod, f"Cancelling deletion of Pod {namespace}/{name}")
            return
        allowed = tolerated_seconds(pod["spec"].get("tolerations") or (), taints)
        if allowed is None:
            self._since.pop(uid_of(pod), None)
            return
        now = self._clock.monotonic()
        left = self._since.setdefault(uid_of(pod), now) + allowed - now
        if left > 0:
            self._queue.add_after(key, left)
            return
        await self._note(pod, f"Marking for deletion Pod {namespace}/{name}")
        await disrupt(self._kube, pod, REASON, MESSAGE, stamp(self._clock.now()))
        await delete(self._kube, "pods", pod)

    async def _note(self, pod: Object, message: str) -> None:
        await self._recorder.record(pod, Note("Normal", "TaintManagerEviction", message))


def _no_execute(node: Object) -> list[Mapping[str, Any]]:
    return [taint for taint in taints_of(node) if taint["effect"] == "NoExecute"]
