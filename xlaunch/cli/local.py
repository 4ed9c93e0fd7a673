"""`xlaunch local`: what of clusters runs on this machine, and its end. Their start is in local_up.py."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.output import Result, Table
from xlaunch.cli.session import Session
from xlaunch.cli.target_flags import OutputOption
from xlaunch.core.errors import RefusedError, UsageError
from xlaunch.local import lifecycle
from xlaunch.local.lifecycle import DEFAULT_NAME, LocalCluster
from xlaunch.local.plane import Plane


@examples("""
xlaunch local down
xlaunch local down --name ci
xlaunch local down --all
""")
def down(
    ctx: typer.Context,
    name: Annotated[str, typer.Option(help="The cluster to stop.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Stop all local clusters of this user.")] = False,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Stop a local cluster and all that it runs.

    Its processes, its state and what its workloads wrote to gs:// are gone afterwards.
    """
    session = session_of(ctx)
    if every and name:
        raise UsageError("--all and --name contradict each other", next="Give one of them")
    names = [cluster.name for cluster in lifecycle.clusters(session.env)] if every else [name or _only_one(session)]
    for each in names:
        lifecycle.stop(each, session.env)
    parts = [f"Stopped {each}." for each in names] or ["No local cluster runs on this machine."]
    return Result("LocalClusterList", {"action": "stopped", "items": [{"name": each} for each in names]}, parts)


def _only_one(session: Session) -> str:
    """The cluster that `down` means without a name: the only one; with several running that would be a guess."""
    running = [cluster.name for cluster in lifecycle.clusters(session.env)]
    if len(running) > 1 and DEFAULT_NAME not in running:
        raise RefusedError(
            f"{len(running)} local clusters run: {', '.join(running)}",
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
    """Show the local clusters of this machine."""
    found = lifecycle.clusters(session_of(ctx).env)
    rows = [
        (
            each.name,
            each.tpu_type,
            str(each.slices),
            str(each.heads),
            f"{each.time_scale:g}",
            str(each.plane),
            ",".join(each.feature_gates),
            str(each.kubeconfig),
        )
        for each in found
    ]
    columns = ("NAME", "TPU TYPE", "SLICES", "HEADS", "TIME SCALE", "CONTROL PLANE", "FEATURE GATES", "KUBECONFIG")
    empty = "No local cluster runs on this machine. Start one: xlaunch local up"
    return Result(
        "LocalClusterList",
        {"items": [_body(each) for each in found]},
        [Table(columns, rows, empty, optional=("FEATURE GATES", "KUBECONFIG"))],
    )


def shown(cluster: LocalCluster) -> Result:
    """A cluster that runs, and how to go on."""
    target = "local" if cluster.name == DEFAULT_NAME else f"local:{cluster.name}"
    down_line = "xlaunch local down" if cluster.name == DEFAULT_NAME else f"xlaunch local down --name {cluster.name}"
    parts = [
        f"{cluster.title.capitalize()}: {lifecycle.describe(cluster)}",
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
        "controlPlane": cluster.plane.kind,
        **_versions(cluster.plane),
        "timeScale": cluster.time_scale,
        "featureGates": list(cluster.feature_gates),
        "created": cluster.created,
    }


def _versions(plane: Plane) -> dict[str, str]:
    """What a real control plane runs, as far as it is known; the embedded one has no versions but xlaunch's own."""
    found = {"kubernetes": plane.kubernetes, "jobset": plane.jobset}
    return {name: version for name, version in found.items() if version}
