"""The node agent of a whole cluster: registers its nodes, keeps them alive, and runs the pods bound to them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from xlaunch.core.conditions import is_true
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import STRATEGIC, Object, StatusError, find
from xlaunch.local.node import nodes
from xlaunch.local.node.nodes import LEASE_SECONDS, NodeSpec
from xlaunch.local.node.pod import Machine, PodRunner, address_of
from xlaunch.local.objects import LEASE_NAMESPACE, node_of, status_of, uid_of


class Agent:
    """One agent serves all nodes; a node is lost by the annotation `xlaunch.dev/lost: "true"`, or with its object.

    A lost node's processes are killed in silence and nothing is written about it or its pods any more, as when a
    machine loses power. Without the annotation it comes back as after a reboot. An object of its name that somebody
    makes again is a new machine, which gives itself labels, taints and status.

    `lease_seconds` is the kubelet's nodeLeaseDurationSeconds: a lease is renewed when a quarter of it has passed.
    """

    def __init__(self, machine: Machine, plan: Sequence[NodeSpec], lease_seconds: int = LEASE_SECONDS) -> None:
        self._machine = machine
        self._kube = machine.kube
        self._clock = machine.clock
        self._specs = {spec.name: spec for spec in plan}
        self._lease_seconds = lease_seconds
        self._alive: set[str] = set()
        self._runners: dict[str, PodRunner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # Whether each node should be up, and the last change of that: a node comes back after it has gone down
        self._wanted: dict[str, bool] = {}
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._addresses_given = 0
        self._pods = Informer(self._kube, "pods", self._clock)
        self._nodes = Informer(self._kube, "nodes", self._clock)
        self._pods.subscribe(self._on_pod)
        self._nodes.subscribe(self._on_node)

    async def register(self) -> None:
        """Creates the Node objects and their leases; nodes that exist already are ours again, where we are now."""
        for spec in self._specs.values():
            if await self._create("nodes", nodes.node(spec, self._clock.now()), None):
                await self._renew(spec.name)
            else:
                await self._report_ready(spec.name)

    async def run(self) -> None:
        """Runs until cancelled; leaves no process behind then."""
        try:
            await asyncio.gather(self._nodes.run(), self._pods.run(), self._heartbeat())
        finally:
            for turn in self._turns.values():
                turn.cancel()
            await asyncio.gather(*(self._lose(each) for each in list(self._runners.values())))

    def runner(self, namespace: str, name: str) -> PodRunner:
        """The runner of a pod by name; StatusError in the API server's words if its node does not answer."""
        known = self._pods.objects.get((namespace, name))
        runner = self._runners.get(uid_of(known)) if known else None
        if runner is None:
            spec = self._specs.get(node_of(known)) if known else None
            where = f"{spec.address if spec else 'its node'}:{nodes.KUBELET_PORT}"
            raise StatusError(500, "InternalError", f"dial tcp {where}: connect: no route to host")
        return runner

    def _on_node(self, kind: Change, node: Object, _before: Object | None) -> None:
        name = node["metadata"]["name"]
        wanted = kind != "DELETED" and not nodes.is_lost(node)
        if name in self._specs and wanted != self._wanted.get(name, False):
            self._wanted[name] = wanted
            self._turns[name] = asyncio.ensure_future(self._turn(name, wanted, self._turns.get(name)))

    async def _turn(self, name: str, up: bool, before: asyncio.Task[None] | None) -> None:
        if before:
            await asyncio.wait([before])
        await (self._come_up(name) if up else self._go_down(name))

    async def _come_up(self, name: str) -> None:
        self._alive.add(name)
        for pod in list(self._pods.objects.values()):
            if node_of(pod) == name:
                self._run(pod)
        known = self._nodes.objects.get(("", name))
        if known and not nodes.is_registered(known):
            await self._introduce(name)
        if known and not is_true(status_of(known), "Ready"):
            await self._report_ready(name)

    async def _go_down(self, name: str) -> None:
        self._alive.discard(name)
        await asyncio.gather(*(self._lose(each) for each in list(self._runners.values()) if node_of(each.pod) == name))

    def _on_pod(self, kind: Change, pod: Object, _before: Object | None) -> None:
        runner = self._runners.get(uid_of(pod))
        if kind == "DELETED":
            if runner:
                runner.removed()
            elif node_of(pod) in self._specs:  # while its node was lost
                self._machine.site.forget(uid_of(pod))
        elif runner:
            runner.update(pod)
        elif node_of(pod) in self._alive:
            self._run(pod)

    def _run(self, pod: Object) -> None:
        spec = self._specs[node_of(pod)]
        addresses = address_of(pod, spec.address, self._next_address)
        runner = PodRunner(pod, addresses, self._machine)
        self._runners[runner.uid] = runner
        runner.update(pod)
        task = asyncio.ensure_future(runner.run())
        self._tasks[runner.uid] = task
        task.add_done_callback(lambda done: self._finished(runner, done))

    def _finished(self, runner: PodRunner, task: asyncio.Task[None]) -> None:
        if self._runners.get(runner.uid) is runner:
            del self._runners[runner.uid], self._tasks[runner.uid]
        if not task.cancelled() and (error := task.exception()):
            self._machine.report(f"pod {runner.pod['metadata']['name']}", error)

    async def _lose(self, runner: PodRunner) -> None:
        """Ends a pod's runner and its processes without a word to the API server."""
        if self._runners.get(runner.uid) is not runner:
            return  # it has finished by itself meanwhile
        task = self._tasks.pop(runner.uid)
        del self._runners[runner.uid]
        task.cancel()
        await asyncio.wait([task])
        await runner.vanish()

    async def _report_ready(self, name: str) -> None:
        """Says that the node is ready again: the node lifecycle controller has called it Unknown meanwhile."""
        await self._renew(name)
        status = nodes.status(self._specs[name], self._clock.now())
        try:
            await self._kube.patch("nodes", name, {"status": status}, kind=STRATEGIC, subresource="status")
        except StatusError as error:
            self._machine.report(f"node {name}", error)

    async def _introduce(self, name: str) -> None:
        """Gives a node that somebody made by its bare name what others register with; again if it changes meanwhile."""
        while True:
            try:
                known = await find(self._kube, "nodes", name)
                if known is None or nodes.is_registered(known):
                    return
                await self._kube.patch("nodes", name, nodes.introduction(self._specs[name], known))
            except StatusError as error:
                if error.code != 409:
                    self._machine.report(f"node {name}", error)
                    return

    async def _heartbeat(self) -> None:
        while True:
            await self._clock.sleep(self._lease_seconds / 4)
            for name in sorted(self._alive):
                await self._renew(name)
                known = self._nodes.objects.get(("", name))
                if known and not is_true(status_of(known), "Ready"):
                    await self._report_ready(name)

    async def _renew(self, name: str) -> None:
        lease = nodes.lease(name, self._clock.now(), self._lease_seconds)
        try:
            await self._kube.patch("leases", name, {"spec": lease["spec"]}, LEASE_NAMESPACE)
        except StatusError as error:
            if error.code == 404:
                await self._create("leases", lease, LEASE_NAMESPACE)
            else:
                self._machine.report(f"lease {name}", error)

    async def _create(self, resource: str, body: Object, namespace: str | None) -> bool:
        """Whether there was none of that name before."""
        try:
            await self._kube.create(resource, body, namespace)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                self._machine.report(f"{resource} {body['metadata']['name']}", error)
            return False
        return True

    def _next_address(self) -> str:
        address = nodes.pod_address(self._machine.site.subnet, self._addresses_given)
        self._addresses_given += 1
        return address
