"""What a command that waits says on stderr: each thing once, the reason of a wait at a pace that fits the reader."""

from __future__ import annotations

from collections.abc import Callable

# Off a terminal, seconds between two lines about the same wait
LINE_EVERY = 60.0


class Narration:
    """`say` prints a line; `interactive` is whether a person reads it now (a terminal) or a log file keeps it."""

    def __init__(self, say: Callable[[str], None], monotonic: Callable[[], float], *, interactive: bool) -> None:
        self.say = say
        self._monotonic = monotonic
        self._interactive = interactive
        self._told: set[str] = set()
        self._reason = ""
        self._spoken: float | None = None

    def once(self, text: str) -> None:
        """Says it, unless it was said before."""
        if text not in self._told:
            self._told.add(text)
            self.say(text)

    def waiting(self, reason: str) -> None:
        """A wait goes on: on a terminal each new reason is told at once, elsewhere one line a minute."""
        now = self._monotonic()
        due = self._spoken is None or now - self._spoken >= LINE_EVERY
        new = reason != self._reason
        if (new and (self._interactive or due)) or (due and not self._interactive):
            self.say(f"Waiting: {reason}")
            self._reason, self._spoken = reason, now

    def went_on(self) -> None:
        """The wait is over; the next one is told anew."""
        self._reason, self._spoken = "", None
