"""The process that is a local cluster with a real control plane: its components below it, and the node agent within it.

Started by the guardian in place of `xlaunch.local.server`; how, and what it reports: `xlaunch/local/service.py`. The
components are killed by the kernel when this process dies; when one of them dies, the cluster ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from testbed import binaries, pki
from testbed.build import BuildError, build
from testbed.control_plane import ControlPlane
from testbed.instance import ADMIN_GROUP, Instance
from testbed.processes import StartError
from testbed.upstreams import find
from xlaunch.cluster.versions import kubernetes_version
from xlaunch.core.errors import XlaunchError
from xlaunch.local import service
from xlaunch.local.attach import process
from xlaunch.local.attach.options import Options
from xlaunch.local.leftovers import remember_process
from xlaunch.local.plane import Plane
from xlaunch.local.server import claim_subnet, subnet_of
from xlaunch.local.service import Starter
from xlaunch.local.size import tpu_of
from xlaunch.local.state import LocalCluster


def main(argv: list[str]) -> int:
    """Serves until SIGTERM; returns the exit code."""
    # Before the event loop has a handler of its own, SIGTERM is for the components as well
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return service.run(argv, until_the_end)


def until_the_end(cluster: LocalCluster, starter: Starter) -> int:
    """Starts the control plane and serves until SIGTERM; 1 if it does not start, or a component ends."""
    directory = cluster.path / "control-plane"
    directory.mkdir(mode=0o700)
    ready = Path(cluster.plane.binaries) if cluster.plane.binaries else None
    try:
        with wanted(cluster).running(directory, binaries=ready) as instance, claim_subnet() as claim:
            for pid in instance.processes().values():
                remember_process(cluster.path, pid)
            asyncio.run(attend(cluster, instance, subnet_of(claim), starter))
    except KeyboardInterrupt:
        return 0
    except (BuildError, StartError, XlaunchError, OSError) as error:
        traceback.print_exc()
        starter.failed(sentence(error))
        return 1
    return 0


def wanted(cluster: LocalCluster) -> ControlPlane:
    """The control plane that a record asks for, in the usual versions where it names none."""
    return replace(ControlPlane(**cluster.plane.versions), gates=dict.fromkeys(cluster.feature_gates, True))


async def attend(cluster: LocalCluster, instance: Instance, subnet: int, starter: Starter) -> None:
    """Runs the node agent until SIGTERM. StartError when a component ends: what is left is no control plane."""
    ended = asyncio.create_task(first_to_end(instance.processes()))
    options = Options(instance.kubeconfig, "", tpu_of(cluster), cluster.slices, cluster.heads, None)
    attached = partial(announce, cluster, instance, starter)
    agent = asyncio.create_task(process.run(options, cluster.path, subnet, attached))
    await asyncio.wait([ended, agent], return_when=asyncio.FIRST_COMPLETED)
    if agent.done():
        ended.cancel()
        return agent.result()
    agent.cancel()
    with suppress(asyncio.CancelledError):
        await agent
    raise StartError(f"{ended.result()} has ended, and the cluster with it")


async def first_to_end(components: Mapping[str, int]) -> str:
    """The name of the component whose process ends first."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Queue[str] = asyncio.Queue()
    handles = {os.pidfd_open(pid): name for name, pid in components.items()}
    try:
        for handle, name in handles.items():
            loop.add_reader(handle, ended.put_nowait, name)
        return await ended.get()
    finally:
        for handle in handles:
            loop.remove_reader(handle)
            os.close(handle)


def announce(cluster: LocalCluster, instance: Instance, starter: Starter, attached: str) -> None:
    """Reports a cluster whose nodes are there, with the versions that really run."""
    process.say(attached)
    administrator = instance.authority.user("xlaunch", [ADMIN_GROUP])
    text = pki.kubeconfig(instance.url, instance.authority.certificate, administrator, name=cluster.context)
    starter.serving(cluster, instance.url, text, running_plane(cluster, instance))


def running_plane(cluster: LocalCluster, instance: Instance) -> Plane:
    """What the API server says that it is, and what JobSet's program was built from."""
    upstream = find("jobset", cluster.plane.jobset)
    if cluster.plane.binaries:
        program = Path(cluster.plane.binaries) / "bin" / "jobset"
    else:
        program = build(upstream, os.environ).binary("jobset")
    return replace(
        cluster.plane,
        kubernetes=kubernetes_version(instance.api).removeprefix("v"),
        jobset=binaries.version_of(program, upstream.module),
    )


def sentence(error: Exception) -> str:
    """What went wrong in one line, with the last line of a component's log, which goes with the cluster."""
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return f"{first.partition(';')[0]}: {rest[-1].strip()}" if rest else first


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
