"""`xlaunch workload delete`: by name, asked first, and gone when it says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.facts import facts
from xlaunch.cli.following import resumable
from xlaunch.cli.list import PatternOption, StatusOption, WorkloadOption
from xlaunch.cli.live import complete_workloads
from xlaunch.cli.output import Result
from xlaunch.cli.session import Session
from xlaunch.cli.target import Connection, OutputOption, TargetOptions, connect, with_target
from xlaunch.cluster import jobsets
from xlaunch.cluster.delete import delete, wait_all_gone
from xlaunch.core.durations import parse_duration
from xlaunch.core.errors import DeclinedError, NotFoundError, UsageError
from xlaunch.core.selection import Selection, is_pattern, phases_of
from xlaunch.core.workload import Workload, describe


@examples("""
xlaunch workload delete my-run
xlaunch workload delete run-1 run-2 --yes
xlaunch workload delete 'smoke-*' --status=FINISHED --yes --ignore-not-found
xlaunch workload delete --all --namespace scratch
""")
@with_target
def command(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names, or patterns in quotes ('smoke-*').",
            autocompletion=complete_workloads,
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All workloads of the namespace.", show_default=False)
    ] = False,
    status: StatusOption = "",
    ignore_not_found: Annotated[
        bool, typer.Option("--ignore-not-found", help="A name that is not there is fine.", show_default=False)
    ] = False,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="DURATION", help="How long to wait until all is gone.")
    ] = "5m",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)] = False,
    forced: Annotated[bool, typer.Option("--force", "--quiet", hidden=True)] = False,
    workload: WorkloadOption = "",
    pattern: PatternOption = "",
    *,
    target: TargetOptions,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Delete workloads with all their pods, and wait until they are gone.

    Asks first on a terminal. When a pod hangs until --timeout, says which one and why, and exits with 124.
    """
    session = session_of(ctx)
    selection = select([*(names or ()), workload, pattern], status, everything=everything)
    seconds = parse_duration("--timeout", timeout)
    connection = connect(session, target, announce=True)
    found = find(connection, selection, ignore_not_found=ignore_not_found)
    if not found:
        return told(connection, [])
    chosen = [describe(item) for item in found]
    if not (yes or forced):
        ask(session, chosen)
    for item in found:
        delete(connection.api, item, clock=session.clock, notice=session.notice)
    with resumable(session, "The deletion goes on", jobsets.command("xlaunch workload list", connection.flags)):
        wait_all_gone(
            connection.api,
            found,
            clock=session.clock,
            timeout=seconds,
            notice=session.notice,
            flags=connection.flags,
        )
    return told(connection, chosen)


def select(names: Sequence[str], status: str, *, everything: bool) -> Selection:
    """What is to go; UsageError unless that is said: no name never means all, as it does with xpk."""
    wanted = tuple(filter(None, names))
    if everything and wanted:
        raise UsageError("--all and a name contradict each other", next="Give one of them")
    phases = phases_of("--status", status)
    if not (wanted or everything or phases != Selection().phases):
        raise UsageError("No workload is named", next="Give its NAME; --all deletes all workloads of the namespace")
    return Selection(wanted, phases)


def find(connection: Connection, selection: Selection, *, ignore_not_found: bool) -> list[jobsets.Object]:
    """The JobSets that are meant; NotFoundError, with nothing done, where a name or pattern means none."""
    patterns = [name for name in selection.names if is_pattern(name)]
    if selection.names and not patterns:
        # Whoever may delete a workload by name may perhaps not list all of them
        looked_up = (jobsets.find(connection.api, name) for name in dict.fromkeys(selection.names))
        there = {describe(item): item for item in looked_up if item is not None}
    else:
        there = {describe(item): item for item in jobsets.list_jobsets(connection.api)}
    meant = selection.of(there)
    missing = selection.unmatched(list(there))
    if not meant and patterns and not missing:
        missing = patterns
    if missing and not ignore_not_found:
        raise NotFoundError(
            f"There is no workload {', '.join(missing)} in namespace {connection.api.namespace}",
            why="Nothing was deleted",
            next=jobsets.command("xlaunch workload list", connection.flags),
        )
    return [there[each] for each in meant]


def ask(session: Session, chosen: Sequence[Workload]) -> None:
    """Asks on a terminal; DeclinedError where the answer is no."""
    if len(chosen) > 1:
        for each in chosen:
            session.notice(f"  {each.name} ({facts(each, session.clock.now())})")
    question = (
        f"Delete these {len(chosen)} workloads?"
        if len(chosen) > 1
        else f"Delete {chosen[0].name} ({facts(chosen[0], session.clock.now())})?"
    )
    if not session.confirm(question, flag="--yes"):
        raise DeclinedError("Nothing was deleted", why="The answer was no")


def told(connection: Connection, gone: Sequence[Workload]) -> Result:
    """What was done."""
    return Result(
        "Deletion",
        {"action": "deleted" if gone else "unchanged", "items": [{"name": each.name} for each in gone]},
        [f"Deleted {each.name}." for each in gone] or ["There was nothing to delete."],
        namespace=connection.api.namespace,
    )
