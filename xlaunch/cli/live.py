"""Completion with what is there now: names of workloads, contexts. Quick, or nothing; never an error, never a hang."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import typer

from xlaunch.cluster import kubeconfig
from xlaunch.cluster.connect import TargetOptions, connect

PATIENCE = 3.0  # seconds; beyond that a person types the name


def complete_workloads(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of workloads at the target that the line names so far."""
    return quickly(lambda: [name for name in workload_names(ctx) if name.startswith(incomplete)])


def complete_contexts(ctx: typer.Context, incomplete: str) -> list[str]:
    """The contexts of the kubeconfig."""
    given = ctx.params.get("kubeconfig") or ""
    return quickly(
        lambda: [
            name
            for name in kubeconfig.load(kubeconfig.files(os.environ, given)).contexts
            if name.startswith(incomplete)
        ]
    )


def workload_names(ctx: typer.Context) -> list[str]:
    """The names at the target; raises what connecting and listing raise."""
    from xlaunch.cluster.jobsets import list_jobsets

    fields = TargetOptions.__dataclass_fields__
    said = {name: value for name, value in ctx.params.items() if name in fields and value}
    connection = connect(TargetOptions(**said), os.environ)
    return [item["metadata"]["name"] for item in list_jobsets(connection.api, timeout=PATIENCE)]


def quickly(find: Callable[[], list[str]], patience: float = PATIENCE) -> list[str]:
    """What `find` returns, or nothing where it fails or takes longer than `patience` seconds.

    In a thread, which ends with the program: a name server that hangs can be left in no other way.
    """
    found: list[str] = []

    def look() -> None:
        try:
            found.extend(find())
        except Exception:  # noqa: BLE001 - a shell waits in the middle of a line: no suggestion is the only answer
            found.clear()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(patience)
    return list(found)
