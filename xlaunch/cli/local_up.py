"""`xlaunch local up`: start a cluster on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any

import typer

from xlaunch.cli import real_plane
from xlaunch.cli.command import examples, session_of
from xlaunch.cli.local import shown
from xlaunch.cli.output import Result
from xlaunch.cli.session import Session
from xlaunch.cli.target_flags import OutputOption
from xlaunch.core.errors import NotFoundError
from xlaunch.local import lifecycle, plane
from xlaunch.local.gates import FEATURE_GATES
from xlaunch.local.lifecycle import DEFAULT_NAME
from xlaunch.local.size import request


class ControlPlane(StrEnum):
    """The kinds of control planes."""

    EMBEDDED = plane.EMBEDDED
    REAL = plane.REAL


@examples("""
xlaunch local up
xlaunch local up --tpu-type v5litepod-32 --slices 2 --time-scale 0.1
xlaunch local up --name gated --feature-gate RestartJob
xlaunch local up --name k8s --control-plane=real --kubernetes 1.37.2
export KUBECONFIG=$(xlaunch local up --name ci -o json | jq -r .kubeconfig)
xlaunch workload create-pathways --cluster=local --workload=hello --tpu-type=v5litepod-16 --docker-image=img \\
    --pathways-gcs-location=gs://my-bucket/tmp --follow -- python3 -c 'print("hello")'
""")
def command(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Several clusters run side by side under different names.")
    ] = DEFAULT_NAME,
    tpu_type: Annotated[str, typer.Option(metavar="TYPE", help="The TPU type of every slice.")] = "v5litepod-16",
    slices: Annotated[int, typer.Option(metavar="N", help="How many slices it has.")] = 3,
    heads: Annotated[
        int, typer.Option(metavar="N", help="How many CPU nodes it has: one for the head of each workload.")
    ] = 1,
    machine_type: Annotated[
        str, typer.Option(metavar="TYPE", help="The machine of the TPU hosts, where it is not the usual one.")
    ] = "",
    time_scale: Annotated[
        float | None, typer.Option(metavar="FACTOR", help="0.1 makes a back-off of 10 s take 1 s.  [default: 1]")
    ] = None,
    feature_gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Turn an alpha feature of JobSet on: {', '.join(FEATURE_GATES)}. May be given several times.",
            autocompletion=lambda: list(FEATURE_GATES),
            show_default=False,
        ),
    ] = None,
    control_plane: Annotated[
        ControlPlane | None,
        typer.Option(
            metavar="KIND",
            help="embedded, or real: etcd, Kubernetes and JobSet themselves, built with Go.  [default: embedded]",
            show_default=False,
        ),
    ] = None,
    kubernetes: Annotated[
        str,
        typer.Option(
            metavar="VERSION",
            help="The real control plane's Kubernetes.  [default: 1.35.4]",
            autocompletion=lambda: real_plane.versions_of("kubernetes"),
            show_default=False,
        ),
    ] = "",
    jobset: Annotated[
        str,
        typer.Option(
            metavar="VERSION",
            help="The real control plane's JobSet.  [default: 0.12.0]",
            autocompletion=lambda: real_plane.versions_of("jobset"),
            show_default=False,
        ),
    ] = "",
    binaries: Annotated[
        str,
        typer.Option(metavar="DIR", help="Ready binaries of a real control plane: no Go needed.", show_default=False),
    ] = "",
    foreground: Annotated[bool, typer.Option("--foreground", help="Stay, and end the cluster with Ctrl-C.")] = False,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Start a cluster on this machine.

    It listens on the loopback address only. Pods are processes with the environment and arguments of the manifest;
    images are not run: Pathways images have stand-ins, everything else needs a command. It is a rehearsal: no TPU is
    emulated, and what the embedded control plane can't do it refuses by name.
    """
    session = session_of(ctx)
    asked = real_plane.asked(control_plane or "", kubernetes, jobset, binaries, time_scale)
    size: dict[str, Any] = {
        "tpu_type": tpu_type,
        "slices": slices,
        "heads": heads,
        "machine_type": machine_type,
        "feature_gates": feature_gate or (),
        "plane": asked,
    }
    scaled = {**size, "time_scale": 1.0 if time_scale is None else time_scale}
    if asked and not _runs(name, session):
        # What makes no cluster is refused before minutes of building
        request(name, **scaled, env=session.env)
        real_plane.prepare(asked, session)
    if foreground:
        return _foreground(session, name, scaled)
    cluster = lifecycle.ensure(name, **size, time_scale=time_scale, env=session.env, notice=session.notice)
    return shown(cluster)


def _runs(name: str, session: Session) -> bool:
    """Whether a cluster of that name runs, for which nothing need be built any more."""
    with suppress(NotFoundError):
        return bool(lifecycle.find(name, session.env))
    return False


def _foreground(session: Session, name: str, size: dict[str, Any]) -> Result:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as lifeline:
        try:
            cluster = lifecycle.start(name, **size, env=session.env, lifeline=reading)
        finally:
            os.close(reading)
        session.notice(f"Started the {cluster.title}: {lifecycle.describe(cluster)}. Ctrl-C ends it.")
        session.notice(f"export KUBECONFIG={cluster.kubeconfig}")
        try:
            lifecycle.wait_ended(cluster)
        finally:
            lifeline.close()
            lifecycle.wait_ended(cluster)
            session.notice(f"The {cluster.title} has ended.")
    return Result("LocalCluster", {"name": name, "action": "ended"}, name=name)
