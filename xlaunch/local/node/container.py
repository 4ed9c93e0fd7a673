"""One container across its restarts: start, wait, back off, start again; and its end, politely or not."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from xlaunch.local.node.backoff import CrashLoop
from xlaunch.local.node.env import ConfigError
from xlaunch.local.node.launch import CreateError
from xlaunch.local.node.logs import ContainerLog
from xlaunch.local.node.process import Invocation, StartError
from xlaunch.local.node.records import ContainerRecord
from xlaunch.local.recorder import Note
from xlaunch.local.time import ScaledClock

# How often the kubelet tries again to create a container that it could not configure; seconds of cluster time
CREATE_RETRY = 10.0
# kuberuntime_container.go, minimumGracePeriodInSeconds: no container gets less between SIGTERM and SIGKILL
LEAST_GRACE = 2.0


class Process(Protocol):
    """A started container (process.ContainerProcess)."""

    pid: int

    async def wait(self) -> int:
        """The exit code, once it has ended; may be awaited by several."""
        ...

    def signal(self, number: int) -> None:
        """Sends a signal to its main process."""
        ...

    def kill(self) -> None:
        """Kills all of it."""
        ...


Spawn = Callable[[Invocation, str, ContainerLog], Process]


class Container:
    """Runs one container by its record.

    `prepare` says what to execute; `log_path` is the log file of an instance, counted from 0; `changed` is called after
    each change of the record; `note` writes an event about it. `log` is the current instance's.
    """

    def __init__(
        self,
        record: ContainerRecord,
        clock: ScaledClock,
        *,
        pod: str,
        prepare: Callable[[], Awaitable[Invocation]],
        log_path: Callable[[int], Path],
        spawn: Spawn,
        changed: Callable[[], None],
        note: Callable[[Note], None],
    ) -> None:
        self.record = record
        self.process: Process | None = None
        self.log: ContainerLog | None = None
        self.log_path = log_path
        self.started = asyncio.Event()
        self._clock = clock
        self._pod = pod
        self._prepare = prepare
        self._spawn = spawn
        self._changed = changed
        self._note = note
        self._crash_loop = CrashLoop()

    async def run(self) -> None:
        """Starts it, and again whenever it ends and its policy says so; returns when it is not to be started again.

        Cancelling leaves a running process to `stop`.
        """
        while self.record.may_restart:
            if self.record.terminated:
                await self._back_off()
            await self._start()
            if self.process:
                code = await self.process.wait()
                self._ended(code)

    async def _back_off(self) -> None:
        finished, name = self.record.finished, self.record.name
        remaining = self._crash_loop.remaining(finished, self._clock.monotonic())
        if remaining > 0:
            delay = f"{self._crash_loop.delay:g}s"
            self.record.wait("CrashLoopBackOff", f"back-off {delay} restarting failed container={name} pod={self._pod}")
            self._changed()
            self._note(Note("Warning", "BackOff", f"Back-off restarting failed container {name} in pod {self._pod}"))
            await self._clock.sleep(remaining)
        self._crash_loop.restarted(finished, self._clock.monotonic())

    async def _start(self) -> None:
        """Starts one instance. What cannot be configured is tried again until it can; what cannot start has ended."""
        invocation = await self._configured()
        container_id = f"xlaunch://{uuid.uuid4().hex}"
        instance = self.record.restarts + 1 if self.record.id else 0
        name = self.record.name
        try:
            # Like the kubelet we keep the current instance's log and the previous one's
            self.log_path(instance - 2).unlink(missing_ok=True)
            self.log = ContainerLog(self.log_path(instance))
            self.process = self._spawn(invocation, container_id, self.log)
        except (StartError, OSError) as error:
            now, finished = self._clock.now(), self._clock.monotonic()
            self.record.fail_to_begin(container_id, str(error), now, finished)
            self._note(Note("Warning", "Failed", f"Error: failed to start container {name!r}: {error}"))
        else:
            self.record.begin(container_id, self._clock.now())
            self.started.set()
            what = ", a rehearsal stand-in for its image" if invocation.is_stand_in else ""
            self._note(Note("Normal", "Started", f"Started container {name} as process {self.process.pid}{what}"))
        self._changed()

    async def _configured(self) -> Invocation:
        while True:
            try:
                return await self._prepare()
            except (ConfigError, CreateError, OSError) as error:
                kind = "CreateContainerConfigError" if isinstance(error, ConfigError) else "CreateContainerError"
                self.record.wait(kind, str(error))
                self._changed()
                self._note(Note("Warning", "Failed", f"Error: {error}"))
            await self._clock.sleep(CREATE_RETRY)

    def _ended(self, code: int) -> None:
        self.process = None
        self.record.end(code, self._clock.now(), self._clock.monotonic())
        self._changed()

    async def stop(self, deadline: Callable[[], float], shortened: Callable[[], Awaitable[object]]) -> None:
        """SIGTERM, then SIGKILL at the deadline. `run` must have been cancelled.

        `deadline` gives it in seconds of monotonic time; `shortened` returns when it has been moved.
        """
        if self.process is None:
            return
        self._note(Note("Normal", "Killing", f"Stopping container {self.record.name}"))
        least = self._clock.monotonic() + LEAST_GRACE
        self.process.signal(signal.SIGTERM)
        end = asyncio.ensure_future(self.process.wait())
        while not end.done():
            remaining = max(deadline(), least) - self._clock.monotonic()
            if remaining <= 0:
                self.process.kill()
                break
            await _first(end, self._clock.sleep(remaining), shortened())
        self._ended(await end)

    async def vanish(self) -> None:
        """Kills it in silence, as a machine that loses power does; the record is left as it was."""
        if self.process:
            self.process.kill()
            await self.process.wait()
            self.process = None


async def _first(kept: asyncio.Future[int], *others: Awaitable[object]) -> None:
    """Returns when one of them is done; all but the first are cancelled then."""
    tasks: list[asyncio.Future[object]] = [asyncio.ensure_future(each) for each in others]
    try:
        waited: list[asyncio.Future[Any]] = [kept, *tasks]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
