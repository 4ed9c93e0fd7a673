"""Where the steps of the rehearsal trainer run: on the workers behind the proxy, or nowhere without Pathways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xlaunch.local.rehearsal import wire
from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.clock import Clock

CONNECT_SECONDS = 60.0
SOCKET_CLOSED = "Connection to IFRT proxy server was terminated: UNAVAILABLE: Socket closed"


class JaxRuntimeError(RuntimeError):
    """What the runtime reports, with a status code as its first word; named as jax names it in a traceback."""


JaxRuntimeError.__module__ = "jax.errors"


class Pathways:
    """A client of the proxy. `dispatch` returns at once, as JAX does; `wait` gives its outcome later, in order."""

    def __init__(self, channel: wire.Channel, log: Log) -> None:
        self._channel = channel
        self._log = log
        self._pending = 0
        self.slices = int(self._call({"op": "hello"})["slices"])

    def active(self) -> set[int]:
        """The slices whose workers all answer."""
        return set(self._call({"op": "probe"})["active"])

    def load(self, slices: Iterable[int]) -> None:
        """Puts the state on the workers of these slices. Raises JaxRuntimeError where one is not there."""
        self._raise(self._call({"op": "load", "slices": sorted(slices)}))

    def dispatch(self, seconds: float) -> None:
        """Starts a step that takes `seconds`."""
        self._send({"op": "step", "seconds": seconds})
        self._pending += 1

    def wait(self) -> None:
        """Waits for the oldest dispatched step. Raises JaxRuntimeError if it failed."""
        self._raise(self._receive())

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        self._send(message)
        while self._pending:  # steps of an attempt that failed: their outcome is of no interest any more
            self._receive()
        return self._answer()

    def _receive(self) -> dict[str, Any]:
        self._pending -= 1
        return self._answer()

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._channel.send(message)
        except OSError:
            self._lost()

    def _answer(self) -> dict[str, Any]:
        answer = self._channel.receive()
        return answer if answer is not None else self._lost()

    def _lost(self) -> Any:
        self._log.line("rpc_helper.cc:369", SOCKET_CLOSED, "E")
        raise JaxRuntimeError(f"UNAVAILABLE: {SOCKET_CLOSED}")

    def _raise(self, answer: dict[str, Any]) -> None:
        if "error" in answer:
            raise JaxRuntimeError(answer["error"])


class NoDevices:
    """Without Pathways there is nothing to talk to: a step only takes its time."""

    slices = 1

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends: list[float] = []

    def active(self) -> set[int]:
        """The one slice that cannot be lost."""
        return {0}

    def load(self, slices: Iterable[int]) -> None:
        """Takes no time."""

    def dispatch(self, seconds: float) -> None:
        """Starts a step behind the ones that were started before."""
        start = self._ends[-1] if self._ends else self._clock.monotonic()
        self._ends.append(max(start, self._clock.monotonic()) + seconds)

    def wait(self) -> None:
        """Waits for the oldest dispatched step."""
        self._clock.sleep(max(0.0, self._ends.pop(0) - self._clock.monotonic()))


def connect(address: str, clock: Clock, log: Log) -> Pathways:
    """A client of the proxy at `grpc://host:port`, which may still be starting. Raises JaxRuntimeError."""
    deadline = clock.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return Pathways(wire.connect(address), log)
        except OSError as error:
            if clock.monotonic() >= deadline:
                raise JaxRuntimeError(f"UNAVAILABLE: no IFRT proxy server at {address}: {error}") from error
        clock.sleep(0.2)
