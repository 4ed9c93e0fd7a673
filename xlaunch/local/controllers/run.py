"""All controllers of one embedded cluster, until cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

from xlaunch.local.controllers.garbage import RESOURCES, GarbageCollector
from xlaunch.local.controllers.job.loop import JobController
from xlaunch.local.controllers.jobset.loop import JobSetController
from xlaunch.local.controllers.namespaces import NamespaceController
from xlaunch.local.controllers.nodes.eviction import TaintEviction
from xlaunch.local.controllers.nodes.forgotten import ForgottenPods
from xlaunch.local.controllers.nodes.lifecycle import NodeLifecycle
from xlaunch.local.controllers.scheduler.loop import Scheduler
from xlaunch.local.controllers.ttl import TtlController
from xlaunch.local.informer import Informer
from xlaunch.local.kube import Kube
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock

RESTART_PAUSE = 1.0


async def run(kube: Kube, clock: ScaledClock, report: Report, gates: Collection[str] = ()) -> None:
    """Runs all controllers until cancelled. Nothing that goes wrong with one object or one loop ends the others.

    `gates`: JobSet's feature gates that are on.
    """
    informers = {resource: Informer(kube, resource, clock) for resource in (*RESOURCES, "namespaces")}
    jobsets, jobs, pods = informers["jobsets"], informers["jobs"], informers["pods"]
    nodes, leases, services = informers["nodes"], informers["leases"], informers["services"]
    loops: dict[str, Callable[[], Awaitable[None]]] = {
        "jobset controller": JobSetController(kube, clock, jobsets, jobs, services, report, gates).run,
        "job controller": JobController(kube, clock, jobs, pods, report).run,
        "scheduler": Scheduler(kube, clock, pods, nodes, report).run,
        "garbage collector": GarbageCollector(kube, clock, informers, report).run,
        "namespace controller": NamespaceController(kube, clock, informers["namespaces"], report).run,
        "job TTL controller": TtlController(kube, clock, jobs, report).run,
        "node lifecycle controller": NodeLifecycle(kube, clock, nodes, leases, pods, report).run,
        "taint eviction controller": TaintEviction(kube, clock, pods, nodes, report).run,
        "pod garbage collector": ForgottenPods(kube, clock, report).run,
        **{f"informer of {resource}": informer.run for resource, informer in informers.items()},
    }
    async with asyncio.TaskGroup() as group:
        for name, loop in loops.items():
            group.create_task(keep_running(name, loop, clock, report), name=name)


async def keep_running(name: str, loop: Callable[[], Awaitable[None]], clock: ScaledClock, report: Report) -> None:
    """Runs a loop that has no end; one that falls over is reported and started again."""
    while True:
        try:
            await loop()
        except Exception as error:  # noqa: BLE001 - a bug in one controller must not take the cluster down
            report(name, error)
        await clock.sleep(RESTART_PAUSE)
