"""`xlaunch status`: the ledger of a workload, once or as it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.following import FAILED, NameArgument, resumable
from xlaunch.cli.output import Result, dump, text_of
from xlaunch.cli.session import Session
from xlaunch.cli.status_view import change_line, parts
from xlaunch.cli.target import OutputOption, TargetOptions, connect, with_target
from xlaunch.cluster import jobsets
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.held_up import with_refusal
from xlaunch.cluster.observe import Observation, observe
from xlaunch.cluster.retry import is_passing, persist
from xlaunch.cluster.traces import with_traces
from xlaunch.cluster.watch import PATIENCE
from xlaunch.core.errors import NotFoundError
from xlaunch.core.ledger import Ledger, ledger
from xlaunch.core.ledger_data import as_data
from xlaunch.core.sparing import IDLE_FACTOR
from xlaunch.core.workload import Phase

# Seconds between two looks; more where a look takes long
EVERY = 2.0
ENTER_SCREEN, LEAVE_SCREEN, CLEAR = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H\x1b[J"


@examples("""
xlaunch status elastic-qwen3
xlaunch status elastic-qwen3 --watch
xlaunch status elastic-qwen3 -o json | jq '.slices[] | select(.missing > 0)'
""")
@with_target
def command(
    ctx: typer.Context,
    name: NameArgument,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again as it changes, until it ends.")] = False,
    exit_with: Annotated[bool, typer.Option("--exit-code", help="Exit 10 when the workload has failed.")] = False,
    *,
    target: TargetOptions,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result | int:
    """Show phase, restarts and the ledger of each slice.

    Counted from pods first, since Jobs may be stale while a slice is partly lost. LOST: pods lost since the slice's
    Job was made. IN PLACE: container restarts of its living pods. RESTARTS: how often JobSet has restarted the
    slice alone. BUDGET LEFT: how many more pods it may lose before its Job fails or, where slices restart alone, how
    many restarts slices and the whole still have together. NEXT WAIT: how long Kubernetes still takes to replace the
    missing hosts or, where none is missing, how long the next loss would take, if it does not fail the Job; at most,
    because its memory of losses is lost with the controller-manager; ? where a dead node may hold it up for ever. Lost:
    the hosts that are missing, also those on nodes that do not answer, since when and, while the pod is still there,
    why. Waiting: what keeps a pod from running. Both in Kubernetes' own words.
    """
    session = session_of(ctx)
    connection = connect(session, target)
    if watch:
        return watch_status(session, connection, name, exit_with=exit_with)
    seen, counted = look(session, connection, name)
    return _result(connection, seen, counted, exit_with=exit_with)


def look(session: Session, connection: Connection, name: str) -> tuple[Observation, Ledger]:
    """One look at a workload; NotFoundError where there is none."""
    seen = observe(connection, name)
    counted = ledger(seen.jobset, seen.jobs, seen.pods, session.clock.now(), seen.queueing)
    counted = with_traces(connection.api, counted, seen.jobs)
    return seen, with_refusal(connection.api, counted, seen.jobs, seen.pods)


def watch_status(session: Session, connection: Connection, name: str, *, exit_with: bool = False) -> int:
    """Shows the ledger whenever it changes, until the workload ends or is deleted; returns the exit code.

    On a terminal one screen is drawn anew; elsewhere each change is a line, or a document with `-o`.
    """
    clock = session.clock
    before = uid = ""
    flag = " --exit-code" if exit_with else ""
    again = jobsets.command(f"xlaunch status {name} --watch{flag}", connection.flags)
    with resumable(session, f"Stopped watching; {name} goes on", again), _screen(session) as draw:
        while True:
            began = clock.monotonic()
            looked = persist(
                partial(_look_again, session, connection, name, uid),
                clock=clock,
                timeout=PATIENCE,
                notice=session.notice,
                is_worth=is_passing,
            )
            if looked is None:
                break
            seen, counted = looked
            uid = counted.workload.uid
            result = _result(connection, seen, counted, exit_with=exit_with)
            if draw:
                draw(result)
            elif (now := _told(session, result, _without_durations(counted), clock="")) != before:
                before = now
                session.stdout.write(_told(session, result, counted, clock=f"{clock.now():%H:%M:%SZ} "))
                session.stdout.flush()
            if counted.workload.phase.ended:
                break
            clock.sleep(max(EVERY, IDLE_FACTOR * (clock.monotonic() - began)))
    if looked is None:
        session.notice(f"{name} was deleted.")
        return FAILED if exit_with else 0
    return result.exit_code


def _look_again(session: Session, connection: Connection, name: str, uid: str) -> tuple[Observation, Ledger] | None:
    """One more look; None where the workload of that uid, seen before, is gone, also if another has its name now."""
    try:
        seen, counted = look(session, connection, name)
    except NotFoundError as error:
        if uid and error.reason == NotFoundError.default_reason:
            return None
        raise
    return (seen, counted) if uid in ("", counted.workload.uid) else None


def _result(connection: Connection, seen: Observation, counted: Ledger, *, exit_with: bool) -> Result:
    workload = counted.workload
    return Result(
        "Status",
        {**as_data(counted), "forbidden": list(seen.forbidden)},
        parts(counted, seen.forbidden),
        name=workload.name,
        namespace=workload.namespace or connection.api.namespace,
        exit_code=FAILED if exit_with and workload.phase is Phase.FAILED else 0,
    )


@contextmanager
def _screen(session: Session) -> Iterator[Callable[[Result], None] | None]:
    """What draws a result on the terminal's second screen, and leaves the last one behind on the first.

    None where stdout is no terminal, or `-o` was given.
    """
    if session.output or not session.color(session.stdout):
        yield None
        return

    last = ""

    def draw(result: Result) -> None:
        nonlocal last
        last = _text(result)
        session.stdout.write(CLEAR + last)
        session.stdout.flush()

    session.stdout.write(ENTER_SCREEN)
    try:
        yield draw
    finally:
        session.stdout.write(LEAVE_SCREEN + last)
        session.stdout.flush()


def _text(result: Result) -> str:
    return "".join(map(text_of, result.parts))


def _told(session: Session, result: Result, counted: Ledger, *, clock: str) -> str:
    """A change as a line, or as a document with `-o`."""
    if not session.output:
        return clock + change_line(counted) + "\n"
    body = {**result.body(), **as_data(counted)}
    return ("---\n" if session.output == "yaml" else "") + dump(body, session.output)


def _without_durations(counted: Ledger) -> Ledger:
    """What is compared to find a change: waits run down by themselves, and alarms say for how long they last."""
    slices = tuple(replace(each, next_replacement_seconds=None) for each in counted.slices)
    alarms = tuple(replace(each, message=f"{each.reason} {each.next}") for each in counted.alarms)
    return replace(counted, slices=slices, alarms=alarms)
