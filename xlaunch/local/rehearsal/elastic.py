"""pathwaysutils' elastic manager: waits for slices, retries an attempt that lost one, gives up as it does.

Behaviour, texts and places of lines: pathwaysutils 0.1.8 and 0.1.9, pathwaysutils/elastic/{manager,elastic}.py.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable

from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.backend import JaxRuntimeError
from xlaunch.local.rehearsal.clock import Clock

POLL_SECONDS = 10
CERTAIN = ("DATA_LOSS",)
# Substrings, anywhere in the text: pathwaysutils tests no more than that. UNAVAILABLE is not among them
LIKELY = ("DEADLINE_EXCEEDED", "NOT_FOUND", "INTERNAL")


class ScaleUpSignalError(Exception):
    """A slice has come back to a run that went on without it."""


class ElasticRuntimeError(RuntimeError):
    """All attempts failed."""


ElasticRuntimeError.__module__ = "pathwaysutils.elastic.manager"


class Manager:
    """`active` asks which slices live; `total` is how many there are. Seconds are the cluster's."""

    def __init__(self, active: Callable[[], set[int]], total: int, clock: Clock, log: Log) -> None:
        self._active = active
        self._total = total
        self._clock = clock
        self._log = log
        self.slices: set[int] = set()
        self.new_slice = threading.Event()

    def retry(
        self,
        attempt: Callable[[], None],
        *,
        max_retries: int,
        minimum: int | None,
        timeout: float,
        on_event: Callable[[], None],
    ) -> None:
        """Runs `attempt` until it returns, at most `max_retries` times in all, with at least `minimum` slices.

        `on_event` runs after a slice went down or came back. Raises ElasticRuntimeError when the attempts are used
        up, TimeoutError when the slices don't come, and whatever is not due to a slice.
        """
        wanted = self._total if minimum is None else minimum
        if max_retries <= 0:
            raise ValueError("max_retries must be positive.")
        for number in range(1, max_retries + 1):
            try:
                self._log.line("manager.py:259", f"Elastic attempt {number} out of {max_retries}")
                self.slices = self.wait_for_slices(wanted, timeout)
                self._run(attempt, monitored=wanted < self._total)
                return
            except ScaleUpSignalError:
                self._log.line("manager.py:301", "Scale up requested. Retrying.")
            except JaxRuntimeError as error:
                if not self._due_to_slice_down(error):
                    raise
                back = "Slice down event and new slice available detected. Retrying."
                if self.new_slice.is_set():
                    self._log.line("manager.py:306", back)
                else:
                    self._log.line("manager.py:310", "Slice down event detected. Retrying.")
            self._log.line("manager.py:56", "Cleaning up any ongoing traces")
            self._log.line("manager.py:59", "No ongoing traces to clean up")
            on_event()
        raise ElasticRuntimeError(f"Elastic attempt {max_retries} out of {max_retries} failed.")

    def wait_for_slices(self, wanted: int, timeout: float) -> set[int]:
        """The slices that live, once there are as many as wanted. Raises TimeoutError before `timeout` would pass."""
        self._log.line(
            "elastic.py:192", f"Waiting for {wanted} slices. Poll interval: {POLL_SECONDS}, Timeout: {timeout}"
        )
        start = self._clock.monotonic()
        while True:
            check = self._clock.monotonic()
            active = self._active()
            if len(active) >= wanted:
                found = f"Sufficient slices active: {len(active)} >= {wanted}. Active indices: {_indices(active)}"
                self._log.line("elastic.py:206", found)
                return active
            self._log.line(
                "elastic.py:214",
                f"{len(active)} slices active. Wanting at least {wanted}. Active indices: {_indices(active)}",
            )
            pause = max(0.0, POLL_SECONDS - (self._clock.monotonic() - check))
            elapsed = self._clock.monotonic() - start
            if elapsed + pause >= timeout:
                raise TimeoutError(
                    f"Timed out waiting for {wanted} slices. Only {len(active)} active after {elapsed:.2f} seconds. "
                    f"Next check would occur after the timeout of {timeout} seconds."
                )
            self._clock.sleep(pause)

    def _run(self, attempt: Callable[[], None], *, monitored: bool) -> None:
        self.new_slice.clear()
        stop = threading.Event()
        if monitored:
            threading.Thread(target=self._monitor, args=(stop,), daemon=True).start()
        try:
            attempt()
        finally:
            stop.set()

    def _monitor(self, stop: threading.Event) -> None:
        while not stop.wait(POLL_SECONDS * self._clock.scale):
            found = self._active() - self.slices
            if found and not stop.is_set():
                self._log.line("manager.py:186", f"New slices found: {_indices(found)}. Setting new slice event.")
                self.new_slice.set()
                return

    def _due_to_slice_down(self, error: JaxRuntimeError) -> bool:
        text = str(error)
        if any(word in text for word in CERTAIN):
            return True
        if not any(word in text for word in LIKELY):
            return False
        self._log.line(
            "elastic.py:272",
            "Caught an error that may or may not be due to slice down (matched _ELASTIC_DOWN_ADDITIONAL_ERROR_TYPES). "
            "This error will be treated as due to slice down.",
            "W",
        )
        self._log.line("elastic.py:284", f"Error details:\n{traceback.format_exc().rstrip()}", "W")
        return True


def _indices(slices: set[int]) -> str:
    """As Python prints a set of small numbers: pathwaysutils up to 0.1.10."""
    return "{" + ", ".join(str(index) for index in sorted(slices)) + "}" if slices else "set()"
