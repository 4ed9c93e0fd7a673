"""How often to look at what is costly to look at: milliseconds for ten pods, ten seconds and 70 MB for six thousand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Between two looks there is at least so many times the time that the last one took
IDLE_FACTOR = 5.0


class Sparing:
    """Times looks, and says when the next one is due."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._next = -math.inf

    @property
    def due(self) -> bool:
        """Whether enough time has passed since the last look."""
        return self._monotonic() >= self._next

    @contextmanager
    def look(self) -> Iterator[None]:
        """A look, whose cost counts also when it fails."""
        began = self._monotonic()
        try:
            yield
        finally:
            ended = self._monotonic()
            self._next = ended + IDLE_FACTOR * (ended - began)
