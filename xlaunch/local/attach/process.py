"""The process that is the attached node agent, started by `__main__`: `… GUARDIAN_PID DIRECTORY OPTIONS…`.

One line on stdout says that its nodes are there; what goes wrong later is said on stderr, and the agent goes on.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from aiohttp import web

from xlaunch.core.errors import NetworkError, UsageError, XlaunchError
from xlaunch.local import procs
from xlaunch.local.attach import certificate, kubelet, options
from xlaunch.local.attach.options import Options
from xlaunch.local.kube import Kube, StatusError
from xlaunch.local.node import nodes
from xlaunch.local.node.agent import Agent
from xlaunch.local.node.launch import Site
from xlaunch.local.node.logsource import PodLogs
from xlaunch.local.node.nodes import NodeSpec
from xlaunch.local.node.process import watch_for_strangers
from xlaunch.local.rehearsal.images import SHIMS, stand_in
from xlaunch.local.remote import access
from xlaunch.local.remote.access import Access
from xlaunch.local.remote.kube import RemoteKube
from xlaunch.local.server import claim_subnet, make_agent, subnet_of
from xlaunch.local.service import raise_file_limit
from xlaunch.local.time import ScaledClock

# The first byte of the pod addresses that the control plane is told, in a network that is nobody's on the internet
REPORTED_NETWORK = 10
# How often, and how far apart in seconds, an API server that does not answer is asked at the start
ATTEMPTS, PAUSE = 30, 1.0


def main(argv: list[str]) -> int:
    """Runs until SIGTERM; returns the exit code."""
    guardian, directory = int(argv[0]), Path(argv[1])
    # Should the guardian be killed, its orphans become ours, and we end them in its place
    procs.become_subreaper()
    alive = procs.die_with_parent(guardian)
    raise_file_limit()
    code = 0
    if alive:
        try:
            with claim_subnet() as claim:
                asyncio.run(run(options.parse(argv[2:]), directory, subnet_of(claim), say))
        except XlaunchError as error:
            sys.stderr.write(". ".join(part for part in (error.message, error.why, error.next) if part) + "\n")
            code = error.code
    if os.getppid() != guardian:
        procs.end_descendants()
        shutil.rmtree(directory, ignore_errors=True)
    return code


def say(line: str) -> None:
    """Tells whoever started the agent, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def run(wanted: Options, directory: Path, subnet: int, attached: Callable[[str], None]) -> None:
    """Registers the nodes, reports that and runs their pods until SIGTERM, with all files in `directory`.

    The addresses 127.`subnet`.0.0/16 are claimed until nothing listens there any more, pods included. Raises UsageError
    and NetworkError before the report.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    watch_for_strangers(loop)
    login, clock = access.load(wanted.kubeconfig, wanted.context), ScaledClock()
    connector = aiohttp.TCPConnector(ssl=login.tls(), limit=0)
    plan = nodes.plan(wanted.tpu, wanted.slices, wanted.heads, subnet)
    site = Site(directory, subnet, clock.scale, stand_in, SHIMS, os.environ, REPORTED_NETWORK)
    async with aiohttp.ClientSession(connector=connector) as session:
        kube = RemoteKube(session, login, clock)
        agent = make_agent(kube, clock, site, plan, wanted.lease_seconds)
        await answering(kube, clock)
        async with logs_served(agent, plan, directory, authority_of(wanted, login)):
            await agent.register()
            work = asyncio.create_task(agent.run())
            attached(f"Attached {len(plan)} nodes to {login.server}")
            waiting = asyncio.create_task(stopped.wait())
            await asyncio.wait([waiting, work], return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()  # it has ended by itself: a bug


async def answering(kube: Kube, clock: ScaledClock) -> None:
    """Returns when the API server lets us see its nodes; NetworkError when it does not in time, or refuses."""
    for attempt in range(ATTEMPTS):
        try:
            await kube.list("nodes")
        except StatusError as error:
            if error.code < 500 or attempt == ATTEMPTS - 1:
                raise NetworkError("The API server does not take the node agent", why=error.message) from error
            await clock.sleep(PAUSE)
        else:
            return


def authority_of(wanted: Options, login: Access) -> bytes:
    """Who signs the API server's client certificate; UsageError where nobody is known who does."""
    try:
        found = wanted.client_ca.read_bytes() if wanted.client_ca else login.authority
    except OSError as error:
        raise UsageError(f"--client-ca cannot be read: {error.strerror}") from error
    if not found:
        raise UsageError("The kubeconfig names no certificate authority", next="Add --client-ca FILE")
    return found


def logs_served(
    agent: Agent, plan: Sequence[NodeSpec], directory: Path, client_authority: bytes
) -> AbstractAsyncContextManager[web.AppRunner]:
    """The logs of every node are served at its address."""
    addresses = [spec.address for spec in plan]
    own = certificate.self_signed(directory / "kubelet.pem", addresses, datetime.now(UTC))
    tls = kubelet.server_tls(own, client_authority)
    return kubelet.serving(kubelet.make_app(PodLogs(agent)), addresses, nodes.KUBELET_PORT, tls)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
