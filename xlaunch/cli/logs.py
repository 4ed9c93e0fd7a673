"""`xlaunch logs`: the main container's log, across every restart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.following import NameArgument, exit_code, last_words, logs_command, make_follower, resumable, word
from xlaunch.cli.output import Result
from xlaunch.cli.session import Session
from xlaunch.cli.target import TargetOptions, connect, with_target
from xlaunch.cluster.api import ApiError
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.follower import Wanted
from xlaunch.cluster.logstream import Start
from xlaunch.cluster.observe import observe
from xlaunch.core.durations import parse_duration
from xlaunch.core.errors import NetworkError, NotFoundError, UsageError
from xlaunch.core.ledger import ledger
from xlaunch.core.ledger_data import restart_counters


@examples("""
xlaunch logs elastic-qwen3
xlaunch logs elastic-qwen3 --tail 100 --timestamps
xlaunch logs elastic-qwen3 --container pathways-proxy --previous
xlaunch logs elastic-qwen3 --no-follow > train.log
""")
@with_target
def command(
    ctx: typer.Context,
    name: NameArgument,
    container: Annotated[
        str,
        typer.Option(
            "--container", "-c", metavar="NAME", help="Another container than the main one.", show_default=False
        ),
    ] = "",
    previous: Annotated[bool, typer.Option("--previous", "-p", help="Print the log before the last restart.")] = False,
    tail: Annotated[
        int, typer.Option(min=-1, metavar="N", help="Begin with the last N lines; -1 is all.", show_default=False)
    ] = -1,
    since: Annotated[
        str,
        typer.Option(metavar="DURATION", help="Begin with the lines of the last 90s, 5m, 1h30m.", show_default=False),
    ] = "",
    timestamps: Annotated[bool, typer.Option("--timestamps", help="Lead each line by its time.")] = False,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", "-f", help="Go on as lines come.")] = True,
    timeout: Annotated[
        str, typer.Option(metavar="DURATION", help="Stop after that long, with exit code 124.", show_default=False)
    ] = "",
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 also when the workload failed.")] = False,
    *,
    target: TargetOptions,
) -> Result:
    """Follow the head's main container across every restart.

    Goes on through restarts of the container, its pod and the whole JobSet, and through cut connections, without
    losing or repeating a line; what cannot be read any more is said on stderr. Ends when the workload ends: 0 when it
    completed, 10 when it failed. --no-follow prints what there is and exits 0.
    """
    session = session_of(ctx)
    start = Start(None if tail < 0 else tail, since_seconds(since))
    connection = connect(session, target)
    wanted = Wanted(container, start, timestamps)
    limit = parse_duration("--timeout", timeout) if timeout else None
    if previous or not follow:
        return print_log(session, connection, name, wanted, previous=previous, timeout=limit)
    return follow_workload(session, connection, name, wanted, timeout=limit, exit_zero=exit_zero)


def follow_workload(
    session: Session,
    connection: Connection,
    name: str,
    wanted: Wanted | None = None,
    *,
    timeout: float | None = None,
    exit_zero: bool = False,
) -> Result:
    """Follows until the workload ends: log bytes on stdout, notices on stderr. The result prints nothing.

    `timeout` is in seconds. Exit code 0 when it completed, 10 when it failed or was deleted, 124 at the timeout.
    """
    wanted = wanted or Wanted()
    follower = make_follower(session, connection, name, wanted, timeout)
    again = logs_command(connection, name, wanted)
    with resumable(session, f"{name} keeps running", again):
        _write(session, follower)
    end = follower.end
    assert end is not None
    code = 0 if exit_zero and not end.timed_out else exit_code(end)
    data = {"result": word(end), "reason": end.reason, "exitCode": follower.exit_code}
    notices = (*_counters(session, connection, name), *last_words(connection, name, follower, end, again))
    return Result("Logs", data, name=name, namespace=connection.api.namespace, exit_code=code, notices=notices)


def print_log(
    session: Session,
    connection: Connection,
    name: str,
    wanted: Wanted,
    *,
    previous: bool = False,
    timeout: float | None = None,
) -> Result:
    """Prints what the kubelet has now and ends, with exit code 0."""
    follower = make_follower(session, connection, name, wanted, timeout)
    _write(session, follower.once(previous=previous))
    return Result("Logs", {"result": "Printed"}, name=name, namespace=connection.api.namespace)


def since_seconds(text: str) -> int | None:
    """`--since` as the API takes it: whole seconds, at least one. Raises UsageError."""
    if not text:
        return None
    seconds = math.ceil(parse_duration("--since", text))
    if seconds < 1:
        raise UsageError("--since 0 names no time", next="Use --tail 0 to begin with what comes next")
    return seconds


def _write(session: Session, pieces: Iterable[bytes]) -> None:
    """Log text goes to stdout as the bytes it is, at once."""
    out = session.stdout_bytes
    for data in pieces:
        out.write(data)
        out.flush()


def _counters(session: Session, connection: Connection, name: str) -> tuple[str, ...]:
    """The restart counters in one line; nothing where the JobSet is gone or cannot be read any more."""
    try:
        seen = observe(connection, name)
    except (NotFoundError, ApiError, NetworkError):
        return ()
    return (restart_counters(ledger(seen.jobset, seen.jobs, seen.pods, session.clock.now())),)
