"""The standard streams as they come: closed, full, without a reader, in an encoding that can't carry everything."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

# Errors of a write that say that the place is full
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def prepare() -> None:
    """Lets stdout and stderr take any text, and gives a stream that the caller closed (`2>&-`) to nobody.

    Else the next file to be opened takes its place, and print() writes to stdout what belongs on stderr.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
        elif mode == "w":
            stream.reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Lets what is still written to a standard stream go to nobody; the interpreter would fail on it again at exit."""
    if stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
