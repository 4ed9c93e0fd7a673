"""A container as a process of this machine: its output goes to a log, its end is awaited without a thread.

A container's main process leads a session of its own. When it ends, whatever it left is killed, as the kernel does with
a PID namespace: the rest of its group, and what called setsid or forked twice, which its environment gives away.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xlaunch.local import procs
from xlaunch.local.node.cri import LineCutter
from xlaunch.local.node.logs import ContainerLog

CONTAINER_MARKER = "XLAUNCH_CONTAINER_ID"
# Read at once: a container that writes `y` without end keeps the others waiting for some 10 ms
BLOCK = 16 * 1024


@dataclass(frozen=True)
class Invocation:
    """What to execute: argv, the whole environment and the working directory (which exists).

    `is_stand_in`: the manifest has no command, and this takes the place of the image's own.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    is_stand_in: bool = False


class StartError(Exception):
    """The command could not be executed; the message is runc's."""


class ContainerProcess:
    """One running container. Made in a running event loop, whose thread must be the one that stays."""

    _mains: ClassVar[set[int]] = set()

    def __init__(self, invocation: Invocation, container_id: str, log: ContainerLog) -> None:
        """Starts it; StartError if the command cannot be executed, after which the log is closed."""
        self._log = log
        self._mark = f"{CONTAINER_MARKER}={container_id}"
        self._loop = asyncio.get_running_loop()
        try:
            self._popen = _execute(invocation, {**invocation.env, CONTAINER_MARKER: container_id})
            self._pidfd = _watched(self._popen)
        except StartError:
            log.close()
            raise
        self.pid = self._popen.pid
        self._mains.add(self.pid)
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._pipes: dict[int, tuple[bytes, LineCutter]] = {}
        for stream, pipe in ((b"stdout", self._popen.stdout), (b"stderr", self._popen.stderr)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._pipes[pipe.fileno()] = (stream, LineCutter())
            self._loop.add_reader(pipe.fileno(), self._read, pipe.fileno())
        self._loop.add_reader(self._pidfd, self._reap)

    async def wait(self) -> int:
        """The exit code, 128 + n after signal n; all output is in the log by then. May be awaited again."""
        return await asyncio.shield(self._ended)

    def signal(self, number: int) -> None:
        """Sends a signal to the main process only, as container runtimes do."""
        if not self._ended.done():
            procs.kill(self.pid, number)

    def kill(self) -> None:
        """Kills the container: SIGKILL to its main process and its group; the rest follows when that has ended."""
        if not self._ended.done():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def _read(self, descriptor: int) -> bool:
        """One block at most, so that a container that writes without pause does not starve the others.

        Returns whether there may be more.
        """
        stream, cutter = self._pipes[descriptor]
        try:
            data = os.read(descriptor, BLOCK)
        except BlockingIOError:
            return False
        if data:
            self._log.write(stream, cutter.feed(data))
            return True
        self._loop.remove_reader(descriptor)
        return False

    def _reap(self) -> None:
        """The main process is a zombie: its pid is still ours, so its group can be killed without hitting another."""
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self.kill()
        self._kill_escaped()
        code = self._popen.wait()
        self._mains.discard(self.pid)
        reap_strangers(self._mains)
        for descriptor, (stream, cutter) in self._pipes.items():
            while self._read(descriptor):
                pass
            self._loop.remove_reader(descriptor)
            self._log.write(stream, cutter.end())
        for pipe in (self._popen.stdout, self._popen.stderr):
            assert pipe is not None
            pipe.close()
        self._log.close()
        self._ended.set_result(128 - code if code < 0 else code)

    def _kill_escaped(self) -> None:
        """Kills what left the group: such processes are below us by now, or below their own parents there."""
        table = procs.processes()
        below = [pid for pid in procs.descendants(os.getpid(), table) if pid not in self._mains]
        for pid in procs.with_environment(self._mark, below):
            procs.kill(pid)


def reap_strangers(mains: set[int]) -> None:
    """Reaps orphans that became our children and have ended; a container's main process is left to its owner."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and found.si_pid not in mains:
            os.waitpid(found.si_pid, 0)


def watch_for_strangers(loop: asyncio.AbstractEventLoop) -> None:
    """Reaps orphans whenever a child ends; for the process that is the subreaper."""
    loop.add_signal_handler(signal.SIGCHLD, reap_strangers, ContainerProcess._mains)


def _execute(invocation: Invocation, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = invocation.argv[0]
    try:
        return subprocess.Popen(
            invocation.argv,
            env=env,
            cwd=invocation.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError:
        where = "no such file or directory" if "/" in command else "executable file not found in $PATH"
        raise StartError(f'exec: "{command}": {where}') from None
    except (OSError, ValueError) as error:
        raise StartError(f'exec: "{command}": {getattr(error, "strerror", None) or error}') from None


def _watched(popen: subprocess.Popen[bytes]) -> int:
    """A descriptor that becomes readable when the process ends; one that cannot be watched may not run."""
    try:
        return os.pidfd_open(popen.pid)
    except OSError as error:
        popen.kill()
        popen.communicate()
        raise StartError(f"pidfd_open: {error.strerror}") from None
