"""The process that is an embedded cluster: API server, controllers and node agent in one event loop.

How it is started and what it reports: service.py.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import secrets
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime

from aiohttp import web

from xlaunch.core.timestamps import stamp
from xlaunch.local import service
from xlaunch.local.apiserver.http import make_app
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.run import run as run_controllers
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import Kube
from xlaunch.local.leftovers import remember_process
from xlaunch.local.node import nodes
from xlaunch.local.node.agent import Agent
from xlaunch.local.node.hosts import Hosts
from xlaunch.local.node.launch import Site
from xlaunch.local.node.logs import ContainerLog
from xlaunch.local.node.logsource import PodLogs
from xlaunch.local.node.nodes import NodeSpec
from xlaunch.local.node.pod import Machine
from xlaunch.local.node.process import ContainerProcess, Invocation, watch_for_strangers
from xlaunch.local.recorder import Recorder
from xlaunch.local.rehearsal.images import SHIMS, stand_in
from xlaunch.local.service import Starter
from xlaunch.local.size import tpu_of
from xlaunch.local.state import LocalCluster
from xlaunch.local.time import ScaledClock

LOOPBACK = "127.0.0.1"


def main(argv: list[str]) -> int:
    """Serves until SIGTERM; returns the exit code."""
    logging.basicConfig(format="%(asctime)s %(message)s", stream=sys.stderr)
    logging.getLogger("xlaunch").setLevel(logging.INFO)
    return service.run(argv, until_the_end)


def until_the_end(cluster: LocalCluster, starter: Starter) -> int:
    """Serves until SIGTERM; 1 if it cannot listen."""
    try:
        # Until the last pod has ended: it may listen at an address of its node
        with claim_subnet() as claim:
            asyncio.run(serve(cluster, starter, subnet_of(claim)))
    except OSError as error:
        traceback.print_exc()
        starter.failed(f"Its server cannot listen: {error.strerror}")
        return 1
    return 0


async def serve(cluster: LocalCluster, starter: Starter, subnet: int) -> None:
    """Runs the cluster and reports when it listens; returns on SIGTERM. OSError if it cannot listen.

    The addresses of its nodes and pods are in 127.`subnet`.0.0/16.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    watch_for_strangers(loop)
    clock = ScaledClock(cluster.time_scale)
    kube = EmbeddedKube(clock, hooks(cluster.feature_gates))
    site = Site(cluster.path, subnet, cluster.time_scale, stand_in, SHIMS, os.environ)
    agent = make_agent(kube, clock, site, nodes.plan(tpu_of(cluster), cluster.slices, cluster.heads, subnet))
    await agent.register()
    # Before the API listens, so that nothing waits for them
    controllers = run_controllers(kube, clock, report, cluster.feature_gates)
    work = [asyncio.create_task(controllers), asyncio.create_task(agent.run())]
    url = await listen(kube, agent)
    starter.serving(cluster, url, kubeconfig(cluster.context, url))
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait([waiting, *work], return_when=asyncio.FIRST_COMPLETED)
    for task in work:
        if task.done():
            task.result()  # a controller or the agent has ended: a bug, and the cluster with it


async def listen(kube: EmbeddedKube, agent: Agent) -> str:
    """Serves the API on a free port of the loopback address, below a secret path; returns its URL."""
    secret = secrets.token_urlsafe(24)
    app = make_app(kube, secret=secret, logs=PodLogs(agent))
    runner = web.AppRunner(app, access_log=None, handle_signals=False, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0).start()
    return f"http://{LOOPBACK}:{runner.addresses[0][1]}/{secret}"


def claim_subnet() -> socket.socket:
    """Claims addresses 127.x.0.0/16 for this cluster's nodes and pods, by a socket that must stay open.

    A port that only one process can bind is the one claim that all users of this machine, and clusters with another
    XDG_STATE_HOME, respect. OSError when all are taken.
    """
    # 127.0 is everybody's, 127.1 often a resolver's
    for number in range(16, 255):
        claim = socket.socket()
        try:
            claim.bind((f"127.{number}.255.254", nodes.KUBELET_PORT))  # an address that no node has
        except OSError as error:
            claim.close()
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return claim
    raise OSError(errno.EADDRNOTAVAIL, "no loopback addresses are left")


def subnet_of(claim: socket.socket) -> int:
    """The second byte of the addresses that a claim stands for."""
    return int(claim.getsockname()[0].split(".")[1])


def make_agent(
    kube: Kube, clock: ScaledClock, site: Site, plan: Sequence[NodeSpec], lease_seconds: int = nodes.LEASE_SECONDS
) -> Agent:
    """The node agent on this machine, all of whose files lie in the site's directory."""
    site.buckets.mkdir(mode=0o700, exist_ok=True)
    recorder = Recorder(kube, clock, "kubelet", report)

    def spawn(invocation: Invocation, container_id: str, log: ContainerLog) -> ContainerProcess:
        started = ContainerProcess(invocation, container_id, log)
        remember_process(site.directory, started.pid)
        return started

    machine = Machine(kube, clock, site, Hosts(site.directory / "hosts"), recorder, spawn, report)
    return Agent(machine, plan, lease_seconds)


def kubeconfig(name: str, url: str) -> str:
    """A kubeconfig with one context; JSON, which is YAML. The secret in the URL is all the authentication there is."""
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }
    return json.dumps(body, indent=2) + "\n"


def report(what: str, error: BaseException) -> None:
    """Writes what went wrong inside the cluster into its log."""
    print(f"{stamp(datetime.now(UTC))} {what}: {error!r}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is the server's log


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
