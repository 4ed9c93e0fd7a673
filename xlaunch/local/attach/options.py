"""The command line of `python -m xlaunch.local.attach`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xlaunch.core.tpu import TpuType, lookup
from xlaunch.local.node.nodes import LEASE_SECONDS


@dataclass(frozen=True)
class Options:
    """Where to attach, and which nodes: `slices` pools of `tpu` and `heads` CPU nodes.

    `client_ca` is the authority that signs the certificate which the API server shows when it asks for logs; None for
    the kubeconfig's own. `lease_seconds` is the kubelet's nodeLeaseDurationSeconds, renewed every quarter of it.
    """

    kubeconfig: Path
    context: str
    tpu: TpuType
    slices: int
    heads: int
    client_ca: Path | None
    lease_seconds: int = LEASE_SECONDS


def parse(argv: Sequence[str]) -> Options:
    """Exits with 2 and a sentence for what is wrong; UsageError for a TPU type that there is not."""
    parser = argparse.ArgumentParser(
        prog="python -m xlaunch.local.attach",
        description="Registers nodes at a real control plane and runs their pods as processes of this machine.",
    )
    parser.add_argument("--kubeconfig", type=Path, required=True, metavar="FILE")
    parser.add_argument("--context", default="", help="of the kubeconfig; the current one by default")
    parser.add_argument("--tpu-type", default="v5litepod-16", metavar="TYPE")
    parser.add_argument("--slices", type=int, default=1, metavar="N")
    parser.add_argument("--heads", type=int, default=1, metavar="N", help="CPU nodes for the heads of workloads")
    parser.add_argument(
        "--client-ca", type=Path, metavar="FILE", help="who signs the API server's client certificate for kubelets"
    )
    parser.add_argument(
        "--node-lease-seconds", type=int, default=LEASE_SECONDS, metavar="S", help="a quarter of it is a heartbeat"
    )
    given = parser.parse_args(argv)
    tpu = lookup(given.tpu_type)
    place = (given.kubeconfig, given.context, tpu, given.slices, given.heads)
    return Options(*place, given.client_ca, given.node_lease_seconds)
