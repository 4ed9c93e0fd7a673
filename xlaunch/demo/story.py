"""The rehearsal as it is told while it runs: the trainer's telling lines, and sentences of our own between them."""

from __future__ import annotations

from collections.abc import Callable

from xlaunch.core.ledger import Ledger
from xlaunch.core.loglines import Event, Kind, Line

# Where a terminal does not redraw them, one step line in so many
STEPS_BETWEEN = 25
TOLD = {
    Kind.ATTEMPT,
    Kind.SLICE_DOWN,
    Kind.KEEP,
    Kind.DROP,
    Kind.NO_CHECKPOINT,
    Kind.WAIT,
    Kind.POLL,
    Kind.READY,
    Kind.RESTORED,
    Kind.SURVIVOR,
    Kind.COMMIT,
    Kind.STOPPED,
    Kind.EXHAUSTED,
    Kind.TIMEOUT,
    Kind.ERROR,
    Kind.PROXY_LOST,
}
# What the stand-in for the trainer says of itself first: it is not left out
LABEL = "REHEARSAL"
RED, GREEN, BOLD, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
COLORS = {Kind.SLICE_DOWN: RED, Kind.ERROR: RED, Kind.STOPPED: RED, Kind.READY: GREEN, Kind.RESTORED: GREEN}
REDRAW = "\r\x1b[2K"


class Story:
    """Lines led by the seconds since it began. On a terminal steps redraw one line, and lines are cut to `width`."""

    def __init__(
        self,
        write: Callable[[str], None],
        monotonic: Callable[[], float],
        *,
        width: int,
        terminal: bool,
        color: bool,
    ) -> None:
        self._write = write
        self._monotonic = monotonic
        self._begun = monotonic()
        self._width = width
        self._terminal = terminal
        self._color = color
        self._drawn = False
        self._first = True  # the next step is the first one of an attempt

    def say(self, text: str) -> None:
        """A sentence of our own: never cut, since it may be a command to copy."""
        self._line(f"{self._stamp()}==> {text}", BOLD)

    def show(self, line: Line, event: Event | None) -> None:
        """A line of the log, if it tells something."""
        if event is not None and event.kind is Kind.STEP:
            self._step(line, event)
        elif event is not None and event.kind in TOLD:
            self._line(self._cut(line), COLORS.get(event.kind, ""))
            self._first = self._first or event.kind is Kind.READY
        elif line.level in ("E", "F"):
            self._line(self._cut(line), RED)
        elif line.message.startswith(LABEL):
            self._line(self._cut(line), "")

    def tell_ledger(self, found: Ledger) -> None:
        """The slices that are not whole, in the words of `xlaunch status`."""
        for each in found.slices:
            if each.ready != each.hosts:
                wait = each.next_replacement_seconds
                at_most = f", replaced after at most {wait:.0f} s" if wait is not None else ""
                left = f", budget left {each.budget_left}" if each.budget_left is not None else ""
                self.say(f"status: slice {each.index} has {each.ready} of {each.hosts} hosts{left}{at_most}")

    def end(self) -> None:
        """Ends a line that is still being redrawn."""
        if self._drawn:
            self._write("\n")
            self._drawn = False

    def _step(self, line: Line, event: Event) -> None:
        if self._terminal:
            self._write(f"{REDRAW}{self._cut(line)}")
            self._drawn = True
        elif self._first or (event.step or 0) % STEPS_BETWEEN == 0:
            self._write(f"{self._cut(line)}\n")
        if self._first:
            self.end()
        self._first = False

    def _line(self, text: str, style: str) -> None:
        self.end()
        self._write(f"{style}{text}{PLAIN}\n" if style and self._color else f"{text}\n")

    def _cut(self, line: Line) -> str:
        text = f"{self._stamp()}{line.message}"
        return f"{text[: self._width - 4]}..." if self._terminal and len(text) >= self._width else text

    def _stamp(self) -> str:
        return f"{self._monotonic() - self._begun:6.1f}s  "
