"""The flags by which every command is told where to go, and the connection they lead to."""

from __future__ import annotations

from typing import Annotated

import typer

from xlaunch.cli.session import Session
from xlaunch.cluster.connect import Connection, TargetOptions
from xlaunch.cluster.connect import connect as open_target

PANEL = "Where to"

ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="A GKE cluster, or local[:NAME] for the embedded one.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
ProjectOption = Annotated[
    str,
    typer.Option(
        "--project", metavar="ID", help="The cluster's project.", show_default="that of gcloud", rich_help_panel=PANEL
    ),
]
LocationOption = Annotated[
    str,
    typer.Option(
        "--zone",
        "--location",
        metavar="ZONE|REGION",
        help="Where the cluster is; needed only where its name is not unique.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
ContextOption = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        help="A context of the kubeconfig.",
        show_default="the current one",
        rich_help_panel=PANEL,
    ),
]
KubeconfigOption = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="A kubeconfig; it is only read.",
        show_default="KUBECONFIG, ~/.kube/config",
        rich_help_panel=PANEL,
    ),
]
NamespaceOption = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="The namespace.",
        show_default="the context's, or default",
        rich_help_panel=PANEL,
    ),
]

__all__ = [
    "ClusterOption",
    "Connection",
    "ContextOption",
    "KubeconfigOption",
    "LocationOption",
    "NamespaceOption",
    "ProjectOption",
    "TargetOptions",
    "connect",
]


def connect(session: Session, options: TargetOptions, *, announce: bool = False) -> Connection:
    """Opens the target. `announce`, for commands that change something, says on stderr where they do so."""
    if options.local and (options.project or options.location):
        session.notice("Note: --project and --zone mean nothing to the embedded cluster.")
    connection = open_target(options, session.env)
    if announce:
        session.notice(f"-> {connection.where}, namespace {connection.api.namespace}")
    return connection
