"""`xlaunch local`: the embedded cluster on this machine."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.output import Result, Table
from xlaunch.cli.session import Session
from xlaunch.cli.target_flags import OutputOption
from xlaunch.core.errors import RefusedError, UsageError
from xlaunch.local import lifecycle
from xlaunch.local.gates import FEATURE_GATES
from xlaunch.local.lifecycle import DEFAULT_NAME, LocalCluster


@examples("""
xlaunch local up
xlaunch local up --tpu-type v5litepod-32 --slices 2 --time-scale 0.1
xlaunch local up --name gated --feature-gate RestartJob
export KUBECONFIG=$(xlaunch local up --name ci -o json | jq -r .kubeconfig)
xlaunch workload create-pathways --cluster=local --workload=hello --tpu-type=v5litepod-16 --docker-image=img \\
    --pathways-gcs-location=gs://my-bucket/tmp --follow -- python3 -c 'print("hello")'
""")
def up(
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
    foreground: Annotated[bool, typer.Option("--foreground", help="Stay, and end the cluster with Ctrl-C.")] = False,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Start an embedded cluster.

    It runs on this machine and listens on the loopback address only. Pods are processes with the environment and
    arguments of the manifest; images are not run: Pathways images have stand-ins, everything else needs a command.
    It is a rehearsal: no TPU is emulated, and what it can't do it refuses by name.
    """
    session = session_of(ctx)
    size: dict[str, Any] = {
        "tpu_type": tpu_type,
        "slices": slices,
        "heads": heads,
        "machine_type": machine_type,
        "feature_gates": feature_gate or (),
    }
    if foreground:
        return _foreground(session, name, {**size, "time_scale": 1.0 if time_scale is None else time_scale})
    cluster = lifecycle.ensure(name, **size, time_scale=time_scale, env=session.env, notice=session.notice)
    return _shown(cluster)


def _foreground(session: Session, name: str, size: dict[str, Any]) -> Result:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as lifeline:
        try:
            cluster = lifecycle.start(name, **size, env=session.env, lifeline=reading)
        finally:
            os.close(reading)
        session.notice(f"Started the embedded cluster {name}: {lifecycle.describe(cluster)}. Ctrl-C ends it.")
        session.notice(f"export KUBECONFIG={cluster.kubeconfig}")
        try:
            lifecycle.wait_ended(cluster)
        finally:
            lifeline.close()
            lifecycle.wait_ended(cluster)
            session.notice(f"The embedded cluster {name} has ended.")
    return Result("LocalCluster", {"name": name, "action": "ended"}, name=name)


@examples("""
xlaunch local down
xlaunch local down --name ci
xlaunch local down --all
""")
def down(
    ctx: typer.Context,
    name: Annotated[str, typer.Option(help="The cluster to stop.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Stop all embedded clusters of this user.")] = False,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Stop an embedded cluster and all that it runs.

    Its processes, its state and what its workloads wrote to gs:// are gone afterwards.
    """
    session = session_of(ctx)
    if every and name:
        raise UsageError("--all and --name contradict each other", next="Give one of them")
    names = [cluster.name for cluster in lifecycle.clusters(session.env)] if every else [name or _only_one(session)]
    for each in names:
        lifecycle.stop(each, session.env)
    parts = [f"Stopped {each}." for each in names] or ["No embedded cluster runs on this machine."]
    return Result("LocalClusterList", {"action": "stopped", "items": [{"name": each} for each in names]}, parts)


def _only_one(session: Session) -> str:
    """The cluster that `down` means without a name: the only one; with several running that would be a guess."""
    running = [cluster.name for cluster in lifecycle.clusters(session.env)]
    if len(running) > 1 and DEFAULT_NAME not in running:
        raise RefusedError(
            f"{len(running)} embedded clusters run: {', '.join(running)}",
            why="It is not clear which one is meant",
            next=f"xlaunch local down --name {running[0]}",
            reason="Ambiguous",
        )
    return running[0] if len(running) == 1 else DEFAULT_NAME


@examples("""
xlaunch local status
xlaunch local status -o json | jq -r '.items[].kubeconfig'
""")
def status(
    ctx: typer.Context,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Show the embedded clusters of this machine."""
    found = lifecycle.clusters(session_of(ctx).env)
    rows = [
        (
            each.name,
            each.tpu_type,
            str(each.slices),
            str(each.heads),
            f"{each.time_scale:g}",
            ",".join(each.feature_gates),
            str(each.kubeconfig),
        )
        for each in found
    ]
    columns = ("NAME", "TPU TYPE", "SLICES", "HEADS", "TIME SCALE", "FEATURE GATES", "KUBECONFIG")
    empty = "No embedded cluster runs on this machine. Start one: xlaunch local up"
    return Result(
        "LocalClusterList",
        {"items": [_body(each) for each in found]},
        [Table(columns, rows, empty, optional=("FEATURE GATES", "KUBECONFIG"))],
    )


def _shown(cluster: LocalCluster) -> Result:
    target = "local" if cluster.name == DEFAULT_NAME else f"local:{cluster.name}"
    down_line = "xlaunch local down" if cluster.name == DEFAULT_NAME else f"xlaunch local down --name {cluster.name}"
    parts = [
        f"Embedded cluster {cluster.name}: {lifecycle.describe(cluster)}",
        f"  export KUBECONFIG={cluster.kubeconfig}",
        f"  xlaunch workload create-pathways --cluster={target} --tpu-type {cluster.tpu_type} ...",
        f"  {down_line}",
    ]
    return Result("LocalCluster", _body(cluster), parts, name=cluster.name)


def _body(cluster: LocalCluster) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "kubeconfig": str(cluster.kubeconfig),
        "context": cluster.context,
        "server": cluster.server,
        "pid": cluster.server_pid,
        "tpuType": cluster.tpu_type,
        "slices": cluster.slices,
        "heads": cluster.heads,
        "timeScale": cluster.time_scale,
        "featureGates": list(cluster.feature_gates),
        "created": cluster.created,
    }
