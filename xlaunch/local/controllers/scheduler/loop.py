"""The scheduler's loop: one pass over all waiting pods whenever pods or nodes change."""

from __future__ import annotations

from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.queue import WorkQueue, work
from xlaunch.local.controllers.scheduler.fit import choose
from xlaunch.local.controllers.scheduler.nodes import Nodes
from xlaunch.local.controllers.writes import change
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import is_deleting, is_terminal, key_of, node_of, status_of, uid_of, with_condition
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock

NAME = "default-scheduler"
PASS = "pass"


class Scheduler:
    """Binds pods to nodes, and says of each pod that fits nowhere why it waits."""

    def __init__(self, kube: Kube, clock: ScaledClock, pods: Informer, nodes: Informer, report: Report) -> None:
        self._kube = kube
        self._clock = clock
        self._report = report
        self._recorder = Recorder(kube, clock, NAME, report, action="Binding")
        self._failures = Recorder(kube, clock, NAME, report, action="Scheduling")
        self._queue: WorkQueue[str] = WorkQueue(clock)
        pods.subscribe(self._on_pod)
        nodes.subscribe(self._on_node)

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.schedule, self._report, "scheduling")

    def _on_pod(self, kind: Change, pod: Object, _before: Object | None) -> None:
        if kind == "DELETED" or is_terminal(pod) or is_waiting(pod):
            self._queue.add(PASS)

    def _on_node(self, kind: Change, node: Object, before: Object | None) -> None:
        if before is None or kind == "DELETED" or _placement(node) != _placement(before):
            self._queue.add(PASS)

    async def schedule(self, _key: str) -> None:
        """One pass: the waiting pods by priority and age, each on what the ones before it leave."""
        pods, _ = await self._kube.list("pods")
        waiting = [pod for pod in pods if is_waiting(pod)]
        if not waiting:
            return
        nodes, _ = await self._kube.list("nodes")
        placed = Nodes(nodes, pods)
        for pod in sorted(waiting, key=_turn):
            chosen = choose(pod, placed)
            if isinstance(chosen, str):
                await self._refuse(pod, chosen)
            elif await self._bind(pod, chosen.name):
                placed.place(pod, chosen)

    async def _bind(self, pod: Object, node: str) -> bool:
        """Binds the pod; False where it has gone or was bound meanwhile."""
        namespace, name = key_of(pod)
        body = {"metadata": {"uid": uid_of(pod)}, "target": {"name": node}}
        try:
            await self._kube.patch("pods", name, body, namespace, subresource="binding")
        except StatusError as error:
            if error.code in (404, 409):
                return False
            raise
        note = Note("Normal", "Scheduled", f"Successfully assigned {namespace}/{name} to {node}")
        await self._recorder.record(pod, note)
        return True

    async def _refuse(self, pod: Object, message: str) -> None:
        if condition(status_of(pod), "PodScheduled").get("message") == message:
            return
        new = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": stamp(self._clock.now()),
            "observedGeneration": pod["metadata"].get("generation"),
        }
        await self._failures.record(pod, Note("Warning", "FailedScheduling", message))

        def unscheduled(latest: Object) -> Object | None:
            if node_of(latest):
                return None
            return {"status": {"conditions": with_condition(status_of(latest).get("conditions") or [], new)}}

        await change(self._kube, "pods", pod, unscheduled, subresource="status")


def is_waiting(pod: Object) -> bool:
    """Whether the pod is the scheduler's to place now."""
    spec = pod["spec"]
    mine = spec.get("schedulerName", NAME) == NAME and not spec.get("schedulingGates")
    return mine and not node_of(pod) and not is_terminal(pod) and not is_deleting(pod)


def _turn(pod: Object) -> tuple[int, str, int]:
    """Higher priorities first, then the longer wait; within one second the resourceVersion tells who came first."""
    meta = pod["metadata"]
    return -pod["spec"].get("priority", 0), meta["creationTimestamp"], int(meta["resourceVersion"])


def _placement(node: Object) -> tuple[object, ...]:
    """What of a node matters for placement; heartbeats change the rest."""
    return node["metadata"].get("labels"), node.get("spec"), status_of(node).get("allocatable")
