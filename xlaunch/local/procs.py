"""Linux processes: who descends from whom, who is still the same process, and how to end all of them.

Linux only: /proc, prctl(2) and pidfd_open(2) (5.3). Nothing here knows of clusters.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# For an instant of execve(2) a process has no environment
EXEC_SECONDS = 0.005


@dataclass(frozen=True)
class Process:
    """One line of /proc/PID/stat. `start` is in clock ticks since boot: with the pid it names a process for good."""

    pid: int
    parent: int
    start: int
    state: str

    @property
    def alive(self) -> bool:
        """False for a zombie, which only waits to be reaped."""
        return self.state not in "ZX"


def parse_stat(text: str) -> Process:
    """Reads /proc/PID/stat (proc(5)); the command's name is in parentheses and may hold blanks and parentheses."""
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return Process(pid=int(head.split(" ", 1)[0]), parent=int(fields[1]), start=int(fields[19]), state=fields[0])


def process(pid: int) -> Process | None:
    """The process of that pid now, or None."""
    try:
        return parse_stat((PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, ProcessLookupError):
        return None


def processes() -> dict[int, Process]:
    """All processes of this machine by pid."""
    found = (process(int(path.name)) for path in PROC.iterdir() if path.name.isdigit())
    return {each.pid: each for each in found if each}


def is_running(pid: int, start: int) -> bool:
    """Whether the process that had this pid and start time still runs: a pid alone may belong to another by now."""
    now = process(pid)
    return now is not None and now.start == start and now.alive


def start_of(pid: int) -> int:
    """The start time that goes with a pid; 0 where there is no such process."""
    now = process(pid)
    return now.start if now else 0


def descendants(ancestor: int, table: Mapping[int, Process]) -> list[int]:
    """All processes below `ancestor`, children before grandchildren, zombies left out."""
    children: dict[int, list[int]] = {}
    for each in table.values():
        children.setdefault(each.parent, []).append(each.pid)
    found: list[int] = []
    level = [ancestor]
    while level:
        level = [child for pid in level for child in children.get(pid, ())]
        found += level
    return [pid for pid in found if table[pid].alive]


def with_environment(marker: str, pids: Iterable[int]) -> list[int]:
    """Those processes that were started with `marker` ("NAME=value") in their environment and that we may look at."""
    blocks = {pid: _environment(pid) for pid in pids}
    if bare := [pid for pid, block in blocks.items() if block == b""]:
        time.sleep(EXEC_SECONDS)
        blocks |= {pid: _environment(pid) for pid in bare}
    wanted = marker.encode()
    return [pid for pid, block in blocks.items() if wanted in block.split(b"\0")]


def _environment(pid: int) -> bytes:
    """The environment of a process as the kernel has it; b"-" for one that has ended, or is another user's."""
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b"-"


def kill(pid: int, number: int = signal.SIGKILL) -> bool:
    """Sends a signal; False if the process has ended already, or belongs to another user by now (sudo)."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_descendants() -> None:
    """Kills everything below this process until nothing is left that it may kill.

    This process must be a subreaper: whatever dies leaves its children to us, also those that called setsid or forked
    twice, so that waiting for a child ends only when nobody is left.
    """
    me = os.getpid()
    while [pid for pid in descendants(me, processes()) if kill(pid)]:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def become_subreaper() -> None:
    """Orphans below this process become its children from now on, instead of init's (prctl(2))."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGTERM) -> bool:
    """Asks the kernel for a signal when the parent dies; False if `parent` is not our parent (any more)."""
    _prctl(PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def wait_ended(pid: int, start: int, timeout: float) -> bool:
    """Waits until that process has ended; it need not be a child. False after `timeout` seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if not is_running(pid, start):
            return True
        return bool(select.select([handle], [], [], timeout)[0])
    finally:
        os.close(handle)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
