"""What one run of the program may touch: its streams, environment and clock. Commands get it, tests replace it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, TextIO

from xlaunch.cli.streams import discard
from xlaunch.core.clock import Clock, SystemClock
from xlaunch.core.errors import UsageError


@dataclass(frozen=True)
class Session:
    """Streams, environment and time of one run; `quiet` and `assume_yes` are set by flags of a command."""

    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Clock = field(default_factory=SystemClock)
    output: str = ""  # "", "json" or "yaml"
    debug: bool = False
    no_color: bool = False

    @property
    def stdout_bytes(self) -> IO[bytes]:
        """stdout as bytes, for log text, which must never be decoded."""
        return self.stdout.buffer

    @property
    def width(self) -> int | None:
        """The cells of a line of the terminal; None where stdout is none, and lines may be as long as they are."""
        return shutil.get_terminal_size().columns if self.stdout.isatty() else None

    def color(self, stream: TextIO) -> bool:
        """Whether colour and cursor movement make sense on this stream."""
        return stream.isatty() and not self.no_color and not self.env.get("NO_COLOR")

    def notice(self, text: str) -> None:
        """One line for the person, on stderr: never part of the result. Nobody there to read it stops nothing."""
        try:
            print(text, file=self.stderr, flush=True)
        except OSError:
            discard(self.stderr)

    def confirm(self, question: str, *, flag: str) -> bool:
        """Asks on a TTY; without one refuses and names the flag that says yes (UsageError)."""
        if not (self.stdin.isatty() and self.stderr.isatty()):
            raise UsageError(f"{question} needs an answer and there is no terminal to ask on", next=f"Add {flag}")
        print(f"{question} [y/N] ", end="", file=self.stderr, flush=True)
        try:
            return self.stdin.readline().strip().lower() in ("y", "yes")
        except KeyboardInterrupt:
            self.notice("")  # the shell's prompt begins a line of its own
            raise
