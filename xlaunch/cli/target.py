"""The flags of a target as one parameter of a command, and the connection that they lead to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

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

__all__ = ["Connection", "OutputOption", "TargetOptions", "connect", "with_target"]

# By the field of TargetOptions
FLAGS = {
    "cluster": ClusterOption,
    "project": ProjectOption,
    "location": LocationOption,
    "context": ContextOption,
    "kubeconfig": KubeconfigOption,
    "namespace": NamespaceOption,
}


def with_target(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the flags of a target, which it gets as one value: its parameter `target`."""
    own = inspect.signature(function, eval_str=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    flags = [inspect.Parameter(name, kind, default="", annotation=hint) for name, hint in FLAGS.items()]

    def command(**values: Any) -> Any:
        return function(target=TargetOptions(**{name: values.pop(name) for name in FLAGS}), **values)

    parameters: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        parameters += flags if parameter.name == "target" else [parameter.replace(kind=kind)]
    command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__doc__ = function.__doc__
    return command


def connect(session: Session, options: TargetOptions, *, announce: bool = False) -> Connection:
    """Opens the target. `announce`, for commands that change something, says on stderr where they do so."""
    if options.local and (options.project or options.location):
        session.notice("Note: --project and --zone mean nothing to the embedded cluster.")
    connection = open_target(options, session.env)
    if announce:
        session.notice(f"-> {connection.where}, namespace {connection.api.namespace}")
    return connection
