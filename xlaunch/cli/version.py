"""`xlaunch version`: the client, the cluster, and the JobSet in it."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from xlaunch import __version__
from xlaunch.cli.command import examples, session_of
from xlaunch.cli.output import Result, sentence
from xlaunch.cli.target import OutputOption, TargetOptions, connect, with_target
from xlaunch.cluster.versions import jobset_version, kubernetes_version
from xlaunch.core.errors import NotFoundError
from xlaunch.core.jobset_version import JobSetVersion

# How a version is known that is not written on the controller
SOURCES = {"schema": "by the fields of its schema", "webhook": "by what its webhook refuses"}


@examples("""
xlaunch version
xlaunch version --client
xlaunch version --cluster my-gke --project my-project -o json
""")
@with_target
def command(
    ctx: typer.Context,
    client: Annotated[bool, typer.Option("--client", help="Ask no cluster.", show_default=False)] = False,
    *,
    target: TargetOptions,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Show the versions of xlaunch, of the cluster and of JobSet."""
    session = session_of(ctx)
    parts = [f"xlaunch {__version__} (Python {platform.python_version()})"]
    data: dict[str, object] = {"client": __version__, "python": platform.python_version()}
    if client:
        return Result("Version", data, parts)
    try:
        connection = connect(session, target)
    except NotFoundError as error:
        if target != TargetOptions():
            raise
        return Result("Version", data, [*parts, sentence(error.message, error.why)])
    server = kubernetes_version(connection.api)
    jobset = jobset_version(connection.api)
    parts.append(f"Kubernetes {server} ({connection.where})")
    parts.append(f"JobSet {_in_words(jobset)}")
    data |= {"where": connection.where, "kubernetes": server, "jobset": jobset.version if jobset else None}
    if jobset and jobset.source:
        data |= {"jobsetSource": jobset.source, "jobsetBound": jobset.bound or None}
    return Result("Version", data, parts)


def _in_words(jobset: JobSetVersion | None) -> str:
    if jobset is None:
        return "not installed"
    if not jobset.version:
        return "there, version not readable"
    return f"{jobset} ({SOURCES[jobset.source]})" if jobset.source in SOURCES else str(jobset)
