"""Runs a command that the kernel kills when the process that started it dies, however it dies.

`python -m testbed.tether PARENT_PID COMMAND…`. The parent-death signal outlives exec(2), so the command needs to know
nothing of it. (prctl(2), PR_SET_PDEATHSIG: the parent is the *thread* that started this process.)
"""

from __future__ import annotations

import os
import signal
import sys

from xlaunch.local import procs


def main(argv: list[str]) -> int:
    """Becomes the command; returns only if the parent is dead already."""
    if procs.die_with_parent(int(argv[0]), signal.SIGKILL):
        os.execvp(argv[1], argv[1:])
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
