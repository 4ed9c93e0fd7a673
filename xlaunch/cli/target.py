"""The connection that a command's flags lead to."""

from __future__ import annotations

from xlaunch.cli.session import Session
from xlaunch.cli.target_flags import (
    ClusterOption,
    ContextOption,
    KubeconfigOption,
    LocationOption,
    NamespaceOption,
    OutputOption,
    ProjectOption,
)
from xlaunch.cluster.connect import Connection, TargetOptions
from xlaunch.cluster.connect import connect as open_target

__all__ = [
    "ClusterOption",
    "Connection",
    "ContextOption",
    "KubeconfigOption",
    "LocationOption",
    "NamespaceOption",
    "OutputOption",
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
