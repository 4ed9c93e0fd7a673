"""`xlaunch wait`: block until a workload runs, ends or is gone, or until its log says something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Annotated, Any

import typer

from xlaunch.cli.command import examples, session_of
from xlaunch.cli.following import (
    FAILED,
    TIMED_OUT,
    NameArgument,
    main_ending,
    make_follower,
    narration,
    resumable,
    word,
)
from xlaunch.cli.output import Result, sentence
from xlaunch.cli.session import Session
from xlaunch.cli.target import OutputOption, TargetOptions, connect, with_target
from xlaunch.cluster import jobsets
from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.follower import Wanted
from xlaunch.cluster.held_up import held_up
from xlaunch.cluster.observe import target_pods
from xlaunch.cluster.queue_watch import QueueWatch
from xlaunch.cluster.watch import watch
from xlaunch.core import pods as podlib
from xlaunch.core.durations import parse_duration
from xlaunch.core.errors import NetworkError, UsageError
from xlaunch.core.pending import why_waiting
from xlaunch.core.sparing import Sparing
from xlaunch.core.verdict import GOALS, Verdict, judge
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

# Seconds between two looks at what keeps the pods from running
LOOK_EVERY = 20.0


@examples("""
xlaunch wait elastic-qwen3
xlaunch wait elastic-qwen3 --for=running --timeout 30m
xlaunch wait elastic-qwen3 --log-pattern 'completed step: 100,' --timeout 1h
""")
@with_target
def command(
    ctx: typer.Context,
    name: NameArgument,
    goal: Annotated[
        str,
        typer.Option("--for", metavar="|".join(GOALS), help="What to wait for; done unless given.", show_default=False),
    ] = "",
    log_pattern: Annotated[
        str,
        typer.Option(metavar="RE", help="Wait for a line of the main container's log instead.", show_default=False),
    ] = "",
    timeout: Annotated[
        str, typer.Option(metavar="DURATION", help="Give up after that long, with exit code 124.", show_default=False)
    ] = "",
    *,
    target: TargetOptions,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Block until a workload runs, ends or is gone; the exit code tells the truth.

    Exit code 0: the condition holds. 10: it can no longer come true, because the workload failed, completed or was
    deleted. 124: the time is over. running means that every slice was ready; done, that it completed; deleted, that it
    is not there. --log-pattern is a Python regular expression, searched in each line from the log's beginning.
    """
    session = session_of(ctx)
    if goal and log_pattern:
        raise UsageError("--for and --log-pattern contradict each other", next="Give one of them")
    if goal and goal not in GOALS:
        raise UsageError(f"--for={goal} is unknown", why=f"It is one of {', '.join(GOALS)}")
    limit = parse_duration("--timeout", timeout) if timeout else None
    connection = connect(session, target)
    if log_pattern:
        return wait_for_line(session, connection, name, log_pattern, timeout=limit)
    return wait_for(session, connection, name, goal or "done", timeout=limit)


def wait_for(
    session: Session, connection: Connection, name: str, goal: str = "done", *, timeout: float | None = None
) -> Result:
    """Waits for the state; `timeout` is in seconds. NotFoundError where there is no such workload to wait for."""
    first = jobsets.find(connection.api, name)
    if first is None and goal != "deleted":
        raise jobsets.not_found(connection.api, name, connection.flags)
    if first is None:
        return _never_there(connection, name)
    uid = first["metadata"].get("uid", "")
    with resumable(session, f"Stopped waiting; {name} goes on", _again(connection, name, f"--for={goal}")):
        verdict, workload = _watch_for(session, connection, name, goal, uid, timeout)
    if verdict is None:
        phase = str(workload.phase) if workload else "Deleted"
        return _timed_out(connection, name, phase, _state(connection.api, workload) or f"{name} is {phase}")
    pods = _main_pods(connection.api, workload) if workload and workload.phase.ended else ()
    code = _main_exit(pods, workload)
    data = {"result": verdict.result, "reason": verdict.reason, "message": verdict.message, "exitCode": code}
    reason = f" ({verdict.reason})" if verdict.reason != verdict.result else ""
    told = sentence(f"{name}: {verdict.result}{reason}", verdict.message)
    failed = workload is not None and workload.phase is Phase.FAILED
    more = (*main_ending(pods, workload), _next(connection, name)) if failed else ()
    return _result(connection, name, data, [told, *more], 0 if verdict.holds else FAILED)


def wait_for_line(
    session: Session, connection: Connection, name: str, pattern: str, *, timeout: float | None = None
) -> Result:
    """Waits until a line of the main container's log matches; exit code 10 where the workload ends without one."""
    try:
        wanted = re.compile(pattern.encode())
    except re.error as error:
        raise UsageError(f"--log-pattern {pattern!r} is no regular expression", why=str(error)) from error
    follower = make_follower(session, connection, name, Wanted(), timeout)
    with resumable(
        session, f"Stopped waiting; {name} goes on", _again(connection, name, f"--log-pattern {quote(pattern)}")
    ):
        line = first_match(follower, wanted)
    if line is not None:
        data: dict[str, Any] = {"result": "Matched", "reason": "Matched", "line": line, "exitCode": None}
        return _result(connection, name, data, [line], 0)
    end = follower.end
    assert end is not None
    if end.timed_out:
        phase = str(follower.workload.phase) if follower.workload else "Deleted"
        return _timed_out(connection, name, phase, f"no line of {name} has matched {pattern!r}")
    data = {"result": word(end), "reason": end.reason, "exitCode": follower.exit_code}
    told = f"{name}: {word(end)}, and no line of its log matched {pattern!r}"
    failed = end.phase is Phase.FAILED
    more = (*main_ending(follower.pods, follower.workload), _next(connection, name)) if failed else ()
    return _result(connection, name, data, [told, *more], FAILED)


def first_match(pieces: Iterable[bytes], wanted: re.Pattern[bytes]) -> str | None:
    """The first line that matches, None where the log ends without one. A line may come in several pieces."""
    rest = b""
    for data in pieces:
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if wanted.search(line):
                return line.decode(errors="replace")
    return rest.decode(errors="replace") if rest and wanted.search(rest) else None


def _watch_for(
    session: Session, connection: Connection, name: str, goal: str, uid: str, timeout: float | None
) -> tuple[Verdict | None, Workload | None]:
    """The verdict, None at the timeout; a JobSet of another uid is not the one that was asked for."""
    said = narration(session)
    query = {"fieldSelector": f"metadata.name={name}"}
    queue = QueueWatch(connection.api, said.say, session.clock)
    looks, told = Sparing(session.clock.monotonic), None
    jobset: Object | None = None
    workload: Workload | None = None
    path = jobsets.path(connection.api)
    for change in watch(
        connection.api,
        path,
        query=query,
        clock=session.clock,
        timeout=timeout,
        period=LOOK_EVERY,
        notice=said.once,
    ):
        if change.type != "TICK":
            found = [] if change.type == "DELETED" else change.items if change.type == "LISTED" else [change.object]
            jobset = next((each for each in found if each["metadata"].get("uid", "") == uid), None)
        # While a queue holds it back its JobSet does not change: the queue is asked at every tick
        workload = queue.describe(jobset, ask=change.type == "LISTED") if jobset else None
        verdict = judge(goal, workload)
        if verdict:
            return verdict, workload
        # While a large workload starts its JobSet changes several times a second
        if not looks.due and workload and workload.phase is told:
            continue
        told = workload.phase if workload else None
        with looks.look():
            state = _state(connection.api, workload)
        if state:
            said.waiting(state)
    return None, workload


def _state(api: Api, workload: Workload | None) -> str:
    """What the wait is for, with what keeps its pods from running; "" where nothing answers: then it is not known."""
    if workload is None:
        return ""
    state = f"{workload.name} is {workload.phase}"
    if workload.queueing and workload.phase in (Phase.QUEUED, Phase.SUSPENDED):
        return f"{state}: {why_waiting(None, workload)}"
    try:
        reason = held_up(api, workload)
    except (ApiError, NetworkError):
        return ""
    return ": ".join(filter(None, (state, workload.message, reason)))


def _main_pods(api: Api, workload: Workload) -> tuple[Object, ...]:
    """The pods with the main container; none where they may not be read."""
    try:
        return target_pods(api, workload)
    except (ApiError, NetworkError):
        return ()


def _main_exit(pods: Iterable[Object], workload: Workload | None) -> int | None:
    """The main container's exit code; None where its pod is gone."""
    pod = podlib.newest(pods)
    status = podlib.container(pod, workload.main_container) if pod and workload else None
    return status.exit.code if status and status.exit else None


def _never_there(connection: Connection, name: str) -> Result:
    told = f"There is no workload {name} in namespace {connection.api.namespace}"
    data = {"result": "Deleted", "reason": "NotFound", "message": told, "exitCode": None}
    return _result(connection, name, data, [sentence(told)], 0)


def _timed_out(connection: Connection, name: str, phase: str, told: str) -> Result:
    data = {"result": "Timeout", "reason": phase, "message": told, "exitCode": None}
    return _result(connection, name, data, [sentence(f"The time given with --timeout is over: {told}")], TIMED_OUT)


def _next(connection: Connection, name: str) -> str:
    return f"Next: {jobsets.command(f'xlaunch logs {name}', connection.flags)}"


def _again(connection: Connection, name: str, flag: str) -> str:
    return jobsets.command(f"xlaunch wait {name} {flag}", connection.flags)


def _result(connection: Connection, name: str, data: dict[str, Any], told: list[str], code: int) -> Result:
    return Result("Wait", data, told, name=name, namespace=connection.api.namespace, exit_code=code)
