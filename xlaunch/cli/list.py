"""`xlaunch workload list`: what runs here, whoever made it."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Annotated, Any

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.live import complete_workloads
from xlaunch.cli.output import Result, Table
from xlaunch.cli.target import OutputOption, TargetOptions, connect, with_target
from xlaunch.cluster import jobsets, kueue
from xlaunch.core.errors import UsageError
from xlaunch.core.pending import why_waiting
from xlaunch.core.queueing import as_data
from xlaunch.core.selection import Selection, phases_of
from xlaunch.core.timestamps import stamp, words
from xlaunch.core.workload import Phase, Workload

# Of more workloads that wait, the reasons are not told
FEW_WAITS = 10

StatusOption = Annotated[
    str,
    typer.Option(
        "--status",
        "--filter-by-status",
        metavar="WORDS",
        help="Only these, with commas: a phase (Running, Failed ...) or a word of xpk's (FINISHED, QUEUED ...).",
        show_default=False,
    ),
]
PatternOption = Annotated[
    str,
    typer.Option(
        "--filter-by-job",
        metavar="PATTERN",
        help="As NAME; xpk's flag. A name is the whole name unless it has a wildcard.",
        show_default=False,
    ),
]
QueueOption = Annotated[str, typer.Option("--queue", help="Only those of this queue.", show_default=False)]
OwnerOption = Annotated[str, typer.Option("--owner", help="Only those of this owner.", show_default=False)]
WorkloadOption = Annotated[
    str, typer.Option("--workload", metavar="NAME", help="As NAME; xpk's flag.", show_default=False)
]


@examples("""
xlaunch workload list
xlaunch workload list 'train-*' --status=RUNNING,QUEUED
xlaunch workload list --cluster my-gke --project my-project --owner "$USER" -o json
""")
@with_target
def command(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names, or patterns in quotes ('train-*').",
            autocompletion=complete_workloads,
            show_default=False,
        ),
    ] = None,
    status: StatusOption = "",
    queue: QueueOption = "",
    owner: OwnerOption = "",
    all_namespaces: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="Those of all namespaces.", show_default=False)
    ] = False,
    workload: WorkloadOption = "",
    pattern: PatternOption = "",
    wait_for: Annotated[str, typer.Option("--wait-for-job-completion", hidden=True)] = "",
    *,
    target: TargetOptions,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """List workloads: every JobSet, also those that xpk, gcluster or kubectl made.

    QUEUE: its queue and, where it waits there, its place among those that wait. Below the table is why it waits, in
    the queue's own words.
    """
    session = session_of(ctx)
    if wait_for:
        raise UsageError(
            "--wait-for-job-completion is a command of its own here",
            next=jobsets.command(f"xlaunch wait {shlex.quote(wait_for)}", target.flags()),
        )
    wanted = tuple(filter(None, [*(names or ()), workload, pattern]))
    selection = Selection(wanted, phases_of("--status", status), queue, owner)
    connection = connect(session, target)
    items = jobsets.list_jobsets(connection.api, everywhere=all_namespaces)
    there = kueue.with_queues(connection.api, items, everywhere=all_namespaces)
    chosen = sorted(selection.of(there), key=lambda each: (each.namespace, each.name))
    found = kueue.placed(connection.api, chosen)
    place = "any namespace" if all_namespaces else f"namespace {connection.api.namespace}"
    empty = f"No workload matches ({len(there)} in {place})." if there else f"There is no workload in {place}."
    return Result(
        "WorkloadList",
        {"items": [body(each) for each in found]},
        [
            table(found, session.clock.now(), with_namespace=all_namespaces, empty=empty),
            *waits(found, with_namespace=all_namespaces),
        ],
        namespace="" if all_namespaces else connection.api.namespace,
    )


def table(workloads: list[Workload], now: datetime, *, with_namespace: bool = False, empty: str = "") -> Table:
    """The workloads as people read them."""
    columns = ["NAME", "STATUS", "SLICES", "CHIPS", "RESTARTS", "QUEUE", "OWNER", "AGE"]
    rows = [
        [
            each.name,
            str(each.phase),
            str(each.slices),
            str(each.chips),
            f"{each.restarts_toward_max}/{each.max_restarts}",
            _queue(each),
            each.owner or "-",
            words(now - each.created) if each.created else "-",
        ]
        for each in workloads
    ]
    if with_namespace:
        columns = ["NAMESPACE", *columns]
        rows = [[each.namespace, *row] for each, row in zip(workloads, rows, strict=True)]
    return Table(columns, rows, empty, optional=("OWNER", "QUEUE", "CHIPS"))


def waits(workloads: list[Workload], *, with_namespace: bool = False) -> list[str]:
    """Why the first of those that a queue holds back do not run, in lines below the table."""
    queued = [each for each in workloads if each.phase is Phase.QUEUED and each.queueing]
    names = [f"{each.namespace}/{each.name}" if with_namespace else each.name for each in queued]
    told = [f"{name}: {why_waiting(None, each)}" for name, each in zip(names, queued[:FEW_WAITS], strict=False)]
    more = [f"and {len(queued) - FEW_WAITS} more; xlaunch status NAME tells why"] if len(queued) > FEW_WAITS else []
    return ["", *told, *more] if told else []


def body(workload: Workload) -> dict[str, Any]:
    """A workload as programs read it."""
    return {
        "name": workload.name,
        "namespace": workload.namespace,
        "phase": str(workload.phase),
        "reason": workload.reason,
        "message": workload.message,
        "slices": workload.slices,
        "chips": workload.chips,
        "restarts": workload.restarts,
        "restartsTowardMax": workload.restarts_toward_max,
        "maxRestarts": workload.max_restarts,
        "queue": workload.queue or None,
        "queueing": as_data(workload.queueing),
        "owner": workload.owner or None,
        "created": stamp(workload.created),
        "finished": stamp(workload.finished),
    }


def _queue(workload: Workload) -> str:
    """Its queue, and its place there where it waits: "team 2/3"."""
    place = workload.queueing.place if workload.queueing else None
    name = workload.queue or (workload.queueing.local_queue if workload.queueing else "")
    return f"{name} {place.in_local_queue + 1}/{place.pending}" if place else name or "-"
