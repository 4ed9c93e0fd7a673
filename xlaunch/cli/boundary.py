"""The one boundary: runs a command line and turns every outcome into text and an exit code."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from typer import Abort, Exit
from typer._click.exceptions import ClickException

from xlaunch.cli import output
from xlaunch.cli.app import app
from xlaunch.cli.argv import output_format, split_rest
from xlaunch.cli.session import Session
from xlaunch.cli.streams import NO_ROOM, discard
from xlaunch.core.errors import UsageError, XlaunchError

INTERRUPTED, TERMINATED = 130, 143
BOUNDARY_FLAGS = {"--debug": "debug", "--no-color": "no_color"}


class Terminated(BaseException):
    """SIGTERM arrived; ends the command the way Ctrl-C does."""


def run(argv: Sequence[str], session: Session | None = None) -> int:
    """Runs one command line and returns its exit code. Never raises but for a bug under `--debug`."""
    args, flags = take_flags(argv)
    session = replace(session or Session(), output=output_format(args), **flags)
    try:
        with sigterm_raises():
            return _run(args, session)
    except BrokenPipeError:
        # The reader of stdout has gone (`| head`)
        discard(session.stdout)
        return 0


def _run(args: list[str], session: Session) -> int:
    try:
        program = app()
        if "_XLAUNCH_COMPLETE" in session.env:
            from xlaunch.cli.completion import answer

            answer(program)
        # Not main(): that turns a closed pipe into exit 1
        with program.make_context("xlaunch", args, obj=session) as context:
            try:
                result = program.invoke(context)
            finally:
                session = context.obj  # with the format that typer has read
        if isinstance(result, output.Result):
            output.emit(session, result)
            return result.exit_code
        return result if isinstance(result, int) else 0
    except Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, Abort):
        return INTERRUPTED
    except Terminated:
        return TERMINATED
    except BrokenPipeError:
        raise
    except ClickException as error:
        return _failed(session, _usage(error))
    except XlaunchError as error:
        return _failed(session, error)
    except OSError as error:
        if error.errno not in NO_ROOM:
            return _failed(session, _bug(error))
        discard(session.stdout)
        told = XlaunchError(f"Cannot write: {error.strerror}", next="Free some space, then run the same line again")
        # Said on stderr also with -o: the object would meet the same full disk
        return _failed(replace(session, output=""), told)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever is left is a bug, told in one sentence
        return _failed(session, _bug(error))


def _bug(error: Exception) -> XlaunchError:
    return XlaunchError(
        f"{type(error).__name__}: {error}",
        why="This is a bug in xlaunch",
        next="Run the same line with --debug and report what it prints",
    )


def _failed(session: Session, error: XlaunchError) -> int:
    if session.debug:
        import traceback

        session.notice(traceback.format_exc().rstrip())
    try:
        output.emit_error(session, error)
    except OSError as full:
        # An object that finds no room on stdout; what is wrong is worth more than that
        if full.errno not in NO_ROOM:
            raise
        discard(session.stdout)
        output.emit_error(replace(session, output=""), error)
    return error.code


def _usage(error: ClickException) -> UsageError:
    """typer's complaint as ours: one sentence and the help to read."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "xlaunch"
    message = error.format_message().rstrip(".")
    if message.startswith("Got unexpected extra"):
        # NAME=VALUE without --env: the value may be a secret
        message = re.sub(r"=[^\s)]+", "=...", message)
    return UsageError(message, next=f"{path} --help")


def take_flags(argv: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Takes the flags that every command has out of the line, wherever they stand before `--`."""
    args, rest = split_rest(argv)
    flags = {BOUNDARY_FLAGS[word]: True for word in args if word in BOUNDARY_FLAGS}
    kept = [word for word in args if word not in BOUNDARY_FLAGS]
    return (kept if rest is None else [*kept, "--", *rest]), flags


@contextmanager
def sigterm_raises() -> Any:
    """SIGTERM becomes an exception, so that `finally` blocks run; only in the main thread, where Python allows it."""

    def stop(_signal: int, _frame: object) -> None:
        raise Terminated

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
