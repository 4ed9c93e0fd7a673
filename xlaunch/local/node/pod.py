"""One pod on its node, from its binding to its deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from xlaunch.local.kube import Kube, Object, StatusError, find
from xlaunch.local.node.container import Container, Spawn
from xlaunch.local.node.env import Addresses, ConfigError
from xlaunch.local.node.hosts import Hosts
from xlaunch.local.node.launch import Site, invocation
from xlaunch.local.node.podwriter import PodWriter
from xlaunch.local.node.process import Invocation
from xlaunch.local.node.records import records
from xlaunch.local.node.status import Ending, close_records, pod_status
from xlaunch.local.node.volumes import make_volumes, not_emulated
from xlaunch.local.objects import containers_of, is_deleting, is_terminal
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock

DEFAULT_GRACE = 30


@dataclass(frozen=True)
class Machine:
    """What the pods of all nodes share."""

    kube: Kube
    clock: ScaledClock
    site: Site
    hosts: Hosts
    recorder: Recorder
    spawn: Spawn
    report: Report


class PodRunner:
    """Runs one pod. Feed it each new version of the object with `update`, and its disappearance with `removed`."""

    def __init__(self, pod: Object, addresses: Addresses, machine: Machine) -> None:
        self.pod = pod
        self.records = records(pod)
        for record in self.records:
            if record.is_running:  # the node was lost meanwhile, and its processes with it
                record.vanish(machine.clock.now(), machine.clock.monotonic())
        self._addresses = addresses
        self._machine = machine
        self._clock = machine.clock
        self._meta = pod["metadata"]
        self._stopping = asyncio.Event()
        self._to_delete = asyncio.Event()
        self._gone = asyncio.Event()
        self._moved = asyncio.Event()
        self._updated = asyncio.Event()
        self._deadline = inf
        self._ended = Ending()
        self._writer = PodWriter(machine.kube, machine.clock, pod, machine.report)
        self._notes: set[asyncio.Task[None]] = set()
        volumes = make_volumes(pod, machine.site.pod(self.uid) / "volumes")
        self._volumes = volumes
        self.containers = [
            Container(
                record,
                machine.clock,
                pod=f"{self._meta['name']}_{self._meta['namespace']}({self.uid})",
                prepare=partial(self._prepare, spec),
                log_path=partial(self._log_path, record.name),
                spawn=machine.spawn,
                changed=self._writer.changed,
                note=self._note,
            )
            for record, spec in zip(self.records, containers_of(pod["spec"]), strict=True)
        ]

    @property
    def uid(self) -> str:
        """The pod's UID."""
        return str(self._meta["uid"])

    def update(self, pod: Object) -> None:
        """A new version of the pod: its status as others see it, and perhaps the wish to delete it."""
        self.pod = pod
        self._writer.observe(pod)
        self._updated.set()
        self._updated = asyncio.Event()
        if is_deleting(pod):
            self._stop_within(pod["metadata"].get("deletionGracePeriodSeconds", DEFAULT_GRACE))
            self._to_delete.set()

    def removed(self) -> None:
        """The object is gone: the processes still get the pod's own grace period, as after a forced deletion."""
        self._writer.removed = True
        self._stop_within(self.pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE))
        self._to_delete.set()
        self._gone.set()

    def _stop_within(self, grace: float) -> None:
        """Sets or shortens the time until SIGKILL; it never grows."""
        deadline = self._clock.monotonic() + grace
        if deadline < self._deadline:
            self._deadline = deadline
            self._moved.set()
            self._moved = asyncio.Event()
        self._stopping.set()

    async def run(self) -> None:
        """Returns when the object is gone. Cancelled, it leaves processes to `vanish`."""
        if not is_terminal(self.pod):
            self._machine.hosts.add(self.pod, self._addresses.pod)
            writer = asyncio.ensure_future(self._writer.run(self._status))
            try:
                await self._live()
                self._ended = replace(self._ended, terminal=True)
                self._writer.finish()
                await writer
            finally:
                writer.cancel()
                self._machine.hosts.remove(self.pod)
        await self._to_delete.wait()
        await self._writer.delete()
        await self._gone.wait()  # a finalizer may hold it, and then its logs are still asked for
        self._machine.site.forget(self.uid)

    async def vanish(self) -> None:
        """The node is lost: everything is killed and nothing is written. `run` must have been cancelled."""
        await asyncio.gather(*(each.vanish() for each in self.containers))
        if self._gone.is_set():
            self._machine.site.forget(self.uid)

    async def _live(self) -> None:
        """Runs the containers until they have ended, by themselves or because the pod is to be deleted."""
        for sentence in not_emulated(self.pod, self._volumes):
            self._note(Note("Warning", "NotEmulated", sentence))
        self._writer.changed()
        if not self._stopping.is_set():
            await self._until_ended()
        self._stop_within(self.pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE))
        await self._stop_containers()
        close_records(self.records)

    async def _until_ended(self) -> None:
        sidecars: list[asyncio.Task[None]] = []
        tasks = [
            asyncio.ensure_future(each) for each in (self._run_all(sidecars), self._stopping.wait(), self._limit())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*tasks, *sidecars):
                task.cancel()
            for outcome in await asyncio.gather(*tasks, *sidecars, return_exceptions=True):
                if isinstance(outcome, Exception):
                    self._machine.report(f"pod {self._meta['name']}", outcome)

    async def _run_all(self, sidecars: list[asyncio.Task[None]]) -> None:
        """Init containers one after the other, each sidecar once it runs; then the main ones side by side (KEP-753)."""
        for each in self.containers:
            if each.record.kind == "sidecar":
                sidecars.append(asyncio.ensure_future(each.run()))
                await each.started.wait()
            elif each.record.kind == "init":
                await each.run()
                if each.record.exit_code != 0:
                    return
        async with asyncio.TaskGroup() as mains:
            for each in self.containers:
                if each.record.kind == "main":
                    mains.create_task(each.run())

    async def _limit(self) -> None:
        """Returns when the pod's activeDeadlineSeconds are over, which may be set or shortened while it runs."""
        began = self._clock.monotonic()
        while (left := began + self.pod["spec"].get("activeDeadlineSeconds", inf) - self._clock.monotonic()) > 0:
            ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._updated.wait())]
            if left < inf:
                ends.append(asyncio.ensure_future(self._clock.sleep(left)))
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in ends:
                    each.cancel()
        message = "Pod was active on the node longer than the specified deadline"
        self._ended = Ending(reason="DeadlineExceeded", message=message)
        self._note(Note("Normal", "DeadlineExceeded", message))

    async def _stop_containers(self) -> None:
        """The main containers at once, then the sidecars in the reverse of the order in which they came."""
        others = [each for each in self.containers if each.record.kind != "sidecar"]
        sidecars = [each for each in self.containers if each.record.kind == "sidecar"]
        await asyncio.gather(*(each.stop(lambda: self._deadline, self._shortened) for each in others))
        for each in reversed(sidecars):
            await each.stop(lambda: self._deadline, self._shortened)

    def _shortened(self) -> Awaitable[object]:
        """Ends when the deadline is moved after this call: each move has an event of its own, so none is missed."""
        return self._moved.wait()

    async def _prepare(self, container: Mapping[str, Any]) -> Invocation:
        site, meta = self._machine.site, self._meta
        return await invocation(
            container,
            self.pod,
            self._addresses,
            self._read,
            site,
            hosts=self._machine.hosts.path(meta["namespace"]),
            volumes=self._volumes,
        )

    async def _read(self, resource: str, name: str) -> Object | None:
        try:
            return await find(self._machine.kube, resource, name, self._meta["namespace"])
        except StatusError as error:
            raise ConfigError(error.message) from error

    def _status(self) -> Object:
        told = replace(self._addresses, pod=self._machine.site.reported(self._addresses.pod))
        return pod_status(self._writer.pod, self.records, told, self._clock.now(), self._ended)

    def _log_path(self, container: str, instance: int) -> Path:
        return self._machine.site.logs(self.uid) / container / f"{instance}.log"

    def _note(self, note: Note) -> None:
        task = asyncio.ensure_future(self._machine.recorder.record(self.pod, note))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)


def address_of(pod: Mapping[str, Any], node_address: str, take: Callable[[], str]) -> Addresses:
    """A pod's addresses: on the host network its node's, else a new one, as after a reboot.

    One that it had before its node was lost may be from an agent with another network, or be the next pod's.
    """
    if pod["spec"].get("hostNetwork"):
        return Addresses(node_address, node_address)
    return Addresses(take(), node_address)
