"""What `logs` and `wait` share: making a follower, the words at its end, the command that goes on after Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from shlex import quote
from typing import Annotated, Any

import typer

from xlaunch.cli.boundary import Terminated
from xlaunch.cli.live import complete_workloads
from xlaunch.cli.output import sentence
from xlaunch.cli.session import Session
from xlaunch.cluster import jobsets
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.follower import End, Follower, Wanted
from xlaunch.core.ending import ending_of
from xlaunch.core.lognews import CloudLogs
from xlaunch.core.narration import Narration
from xlaunch.core.workload import Phase, Workload, describe

Object = Mapping[str, Any]

FAILED, TIMED_OUT = 10, 124

NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The workload; any JobSet, whoever made it.",
        autocompletion=complete_workloads,
        show_default=False,
    ),
]


def make_follower(
    session: Session, connection: Connection, name: str, wanted: Wanted, timeout: float | None
) -> Follower:
    """A follower of the workload of that name; NotFoundError where there is none."""
    jobset = jobsets.get(connection.api, name, flags=connection.flags)
    cluster = next((flag.partition("=")[2] for flag in connection.flags if flag.startswith("--cluster=")), "")
    local = cluster.partition(":")[0] == "local"
    return Follower(
        connection.api,
        describe(jobset),
        wanted,
        clock=session.clock,
        narration=narration(session),
        cloud=CloudLogs(connection.api.namespace, cluster, available=not local),
        timeout=timeout,
    )


def narration(session: Session) -> Narration:
    """What a waiting command says on this session's stderr."""
    return Narration(session.notice, session.clock.monotonic, interactive=session.stderr.isatty())


def logs_command(connection: Connection, name: str, wanted: Wanted) -> str:
    """The command that follows the same log again."""
    words = [f"xlaunch logs {name}"]
    words += [f"--container={quote(wanted.container)}"] if wanted.container else []
    words += ["--timestamps"] if wanted.stamps else []
    return jobsets.command(" ".join(words), connection.flags)


@contextmanager
def resumable(session: Session, state: str, command: str) -> Iterator[None]:
    """On Ctrl-C and SIGTERM says that nothing but the watching ends, and how to go on."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        session.notice(f"{state}. Go on with: {command}")
        raise


def exit_code(end: End) -> int:
    """0 for a workload that completed, 10 for one that failed or is gone, 124 at the timeout."""
    if end.timed_out:
        return TIMED_OUT
    return 0 if end.phase is Phase.COMPLETED else FAILED


def word(end: End) -> str:
    """How it ended in one word: Completed, Failed, Deleted or Timeout."""
    if end.timed_out:
        return "Timeout"
    return str(end.phase) if end.phase else "Deleted"


def last_words(connection: Connection, name: str, follower: Follower, end: End, again: str) -> tuple[str, ...]:
    """The end in a sentence, and the next command where there is one; `again` is the one that goes on."""
    if end.timed_out:
        phase = follower.workload.phase if follower.workload else "gone"
        return (
            f"The time given with --timeout is over; {name} is {phase}.",
            f"Next: {again}",
        )
    workload = follower.workload
    message = workload.message if workload else ""
    if end.phase is Phase.COMPLETED:
        return (sentence(f"{name} has completed", message),)
    if end.phase is None:
        return (f"{name} was deleted.",)
    return (
        sentence(f"{name} has failed ({end.reason})", message),
        *main_ending(follower.pods, workload),
        f"Next: {jobsets.command(f'xlaunch status {name}', connection.flags)}",
    )


def main_ending(pods: Iterable[Object], workload: Workload | None) -> tuple[str, ...]:
    """How the main container ended, as a sentence; nothing where its pod is gone."""
    told = ending_of(pods, workload.main_container) if workload else ""
    return (sentence(told),) if told else ()
