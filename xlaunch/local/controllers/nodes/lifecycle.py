"""The node lifecycle controller: notices silent nodes, marks them and their pods, and taints them one by one."""

from __future__ import annotations

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.timestamps import stamp
from xlaunch.local.controllers.nodes.health import (
    MONITOR_SECONDS,
    evictions_per_second,
    grace_of,
    is_evicting,
    ready_status,
    unknown_conditions,
    with_taints,
)
from xlaunch.local.controllers.writes import change
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import LEASE_NAMESPACE, node_of, status_of, taints_of, with_condition
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock


class NodeLifecycle:
    """Looks at all nodes every 5 s. A sign of life is a renewed Lease or a new heartbeat in the Ready condition."""

    def __init__(
        self, kube: Kube, clock: ScaledClock, nodes: Informer, leases: Informer, pods: Informer, report: Report
    ) -> None:
        self._kube = kube
        self._clock = clock
        self._nodes = nodes
        self._pods = pods
        self._report = report
        self._recorder = Recorder(kube, clock, "node-controller", report)
        self._alive: dict[str, float] = {}
        self._known: dict[str, Object] = {}
        self._were_ready: set[str] = set()
        self._to_taint: list[str] = []
        self._next_eviction = 0.0
        nodes.subscribe(self._on_node)
        leases.subscribe(self._on_lease)

    async def run(self) -> None:
        """Works until cancelled."""
        while True:
            await self.look()
            await self._clock.sleep(MONITOR_SECONDS)

    def _on_lease(self, kind: Change, lease: Object, before: Object | None) -> None:
        renewed = before is None or lease["spec"].get("renewTime") != before["spec"].get("renewTime")
        if kind != "DELETED" and renewed and lease["metadata"]["namespace"] == LEASE_NAMESPACE:
            self._alive[lease["metadata"]["name"]] = self._clock.monotonic()

    def _on_node(self, kind: Change, node: Object, before: Object | None) -> None:
        if kind != "DELETED" and (before is None or _heartbeat(node) != _heartbeat(before)):
            self._alive[node["metadata"]["name"]] = self._clock.monotonic()

    async def look(self) -> None:
        """One round over all nodes. One node's trouble is reported and does not keep the round from the others."""
        nodes, _ = await self._kube.list("nodes")
        await self._announce({node["metadata"]["name"]: node for node in nodes})
        judged = []
        for node in nodes:
            try:
                judged.append(await self._judge(node))
            except StatusError as error:
                self._report(f"node {node['metadata']['name']}", error)
                judged.append(node)
        await self._taint(judged)

    async def _announce(self, nodes: dict[str, Object]) -> None:
        """Says which nodes have come and gone, and forgets those that went."""
        for name in nodes.keys() - self._known.keys():
            await self._note(nodes[name], "RegisteredNode", f"Node {name} event: Registered Node {name} in Controller")
        for name in self._known.keys() - nodes.keys():
            note = f"Node {name} event: Removing Node {name} from Controller"
            await self._note(self._known[name], "RemovingNode", note)
            self._alive.pop(name, None)
            self._were_ready.discard(name)
        self._known = nodes

    async def _judge(self, node: Object) -> Object:
        """Marks a node that has been silent for too long, and its pods; returns the node as it is then."""
        name = node["metadata"]["name"]
        now = self._clock.monotonic()
        silent = now - self._alive.setdefault(name, now)
        if silent > grace_of(node) and ready_status(node) != "Unknown":
            moment = self._clock.now()

            def unknown(latest: Object) -> Object:
                return {"status": {"conditions": unknown_conditions(latest, moment)}}

            node = await change(self._kube, "nodes", node, unknown, subresource="status") or node
        if ready_status(node) == "True":
            self._were_ready.add(name)
        elif name in self._were_ready:
            await self._note(node, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
            await self._mark_pods(name)
            self._were_ready.discard(name)
        return node

    async def _mark_pods(self, node: str) -> None:
        """Nobody else tells that the pods of a silent node are not ready any more."""
        now = stamp(self._clock.now())

        def not_ready(latest: Object) -> Object | None:
            if not is_true(status_of(latest), "Ready"):
                return None
            ready = {**condition(status_of(latest), "Ready"), "status": "False", "lastTransitionTime": now}
            return {"status": {"conditions": with_condition(status_of(latest)["conditions"], ready)}}

        for pod in list(self._pods.objects.values()):
            if node_of(pod) == node and is_true(status_of(pod), "Ready"):
                await change(self._kube, "pods", pod, not_ready, subresource="status")
                await self._recorder.record(pod, Note("Warning", "NodeNotReady", "Node is not ready"))

    async def _taint(self, nodes: list[Object]) -> None:
        """Gives each node the taints of its condition; NoExecute ones in turn, at the rate of the cluster's state."""
        rate = evictions_per_second(nodes)
        waiting = [
            node["metadata"]["name"]
            for node in nodes
            if ready_status(node) in ("Unknown", "False") and not is_evicting(node)
        ]
        self._to_taint = [name for name in self._to_taint if name in waiting]
        self._to_taint += [name for name in waiting if name not in self._to_taint]
        now = self._clock.monotonic()
        evict = ""
        if rate and self._to_taint and now >= self._next_eviction:
            evict = self._to_taint.pop(0)
            self._next_eviction = now + 1 / rate
        for node in nodes:
            await self._write_taints(node, evict=node["metadata"]["name"] == evict)

    async def _write_taints(self, node: Object, *, evict: bool) -> None:
        now = self._clock.now()

        def taints(latest: Object) -> Object | None:
            wanted = with_taints(latest, now, evict=evict)
            return None if wanted == list(taints_of(latest)) else {"spec": {"taints": wanted}}

        if taints(node) is not None:
            await change(self._kube, "nodes", node, taints)

    async def _note(self, node: Object, reason: str, message: str) -> None:
        await self._recorder.record(node, Note("Normal", reason, message))


def _heartbeat(node: Object) -> tuple[str, str]:
    """What changes with every word that the kubelet itself says about the node."""
    ready = condition(status_of(node), "Ready")
    return ready.get("lastHeartbeatTime") or "", ready.get("lastTransitionTime") or ""
