"""The flags by which every command is told where to go; apart from target.py, so that reading them connects nothing."""

from __future__ import annotations

from typing import Annotated

import typer


def _contexts(ctx: typer.Context, incomplete: str) -> list[str]:
    from xlaunch.cli.live import complete_contexts

    return complete_contexts(ctx, incomplete)


ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="A GKE cluster, or local[:NAME] for the embedded one.",
        show_default=False,
    ),
]
ProjectOption = Annotated[
    str,
    typer.Option(
        "--project",
        metavar="ID",
        help="The cluster's project; else that of gcloud.",
        show_default=False,
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
    ),
]
ContextOption = Annotated[
    str,
    typer.Option(
        "--context",
        metavar="NAME",
        help="A context of the kubeconfig; else the current one.",
        show_default=False,
        autocompletion=_contexts,
    ),
]
KubeconfigOption = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="A kubeconfig, only read; else KUBECONFIG or ~/.kube/config.",
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        help="The namespace; else the context's, or default.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FORMAT", help="Print the result as json or yaml.", show_default=False)
]
