"""The entry point: answers `--help` and `--version` from ready text, and loads typer only for the rest.

Importing typer costs several times the interpreter's own start (bench/), which everybody pays who only looks around.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from xlaunch import __version__
from xlaunch.cli.streams import discard, prepare

# Not pathlib, which costs as much as the rest of this answer
HELP_FILE = os.path.join(os.path.dirname(__file__), "cli", "help.txt")  # noqa: PTH118, PTH120


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code (docs/exit-codes.md)."""
    prepare()
    args = list(sys.argv[1:] if argv is None else argv)
    if "_XLAUNCH_COMPLETE" not in os.environ:
        if args in ([], ["--help"], ["-h"]):
            with open(HELP_FILE, encoding="utf-8") as file:  # noqa: PTH123
                return _print(file.read())
        if args == ["--version"]:
            return _print(f"xlaunch {__version__}\n")
    # Imports and big JSON make many objects that live on: looking for cycles among them costs more than it frees
    gc.set_threshold(50_000)
    try:
        from xlaunch.cli.boundary import run

        return run(args)
    except KeyboardInterrupt:  # during the imports; later the boundary has its own answer
        return 130


def _print(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"Error: Cannot write: {error.strerror}.\nNext: Free some space\n")
            return 1
    return 0
