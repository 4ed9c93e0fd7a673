"""The parent of a cluster: starts the server, and when the server ends, however it ends, leaves nothing behind.

`python -m xlaunch.local.guardian DIRECTORY READY_FD LOCK_FD`. It is the subreaper of all processes of the cluster, so
also those that called setsid or forked twice become its children when their parents die. Standard input is a lifeline:
if it is a pipe, the cluster ends when the other end is closed (a demo that is killed takes its cluster along).
"""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

from xlaunch.local import procs, state

# The server cleans nothing up when its guardian asks it to end; this is for one that hangs
SERVER_PATIENCE = 2.0


def main(argv: list[str]) -> int:
    """Runs until the server has ended or somebody asks for the end; returns the exit code."""
    directory, ready, lock = Path(argv[0]), int(argv[1]), int(argv[2])
    procs.become_subreaper()
    wakeup = signal_pipe(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    cluster = state.read(directory)
    if cluster is None:
        return 1
    try:
        state.updated(cluster, pid=os.getpid(), start=procs.start_of(os.getpid()))
        server = subprocess.Popen(
            [sys.executable, "-m", cluster.plane.server, str(directory), str(ready), str(lock), str(os.getpid())],
            pass_fds=[ready, lock],
            stdin=subprocess.DEVNULL,
            env={**os.environ, state.MARKER: cluster.id},
        )
        # A server that dies while it starts ends the pipe and frees the lock: only it may hold them
        os.close(ready)
        os.close(lock)
        wait(server, wakeup)
    finally:
        hidden = state.retire(directory)
        procs.end_descendants()
        state.remove(hidden)
    return 0


def wait(server: subprocess.Popen[bytes], wakeup: int) -> None:
    """Returns when the server has ended, after asking it to if a signal came or the lifeline was cut."""
    handle = os.pidfd_open(server.pid)
    lifeline = [0] if stat.S_ISFIFO(os.fstat(0).st_mode) else []
    readable, _, _ = select.select([handle, wakeup, *lifeline], [], [])
    if handle not in readable:
        server.terminate()
        select.select([handle], [], [], SERVER_PATIENCE)
    os.close(handle)


def signal_pipe(*numbers: int) -> int:
    """A descriptor that becomes readable when one of these signals arrives."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return reading


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
