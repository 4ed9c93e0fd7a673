"""Stands in for the colocated Python sidecar of a worker: it is there, and runs nothing."""

from __future__ import annotations

import signal
import sys

from xlaunch.local.rehearsal.abslog import Log

TERMINATED = 143


def main(argv: list[str]) -> int:
    """Waits until it is told to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    log = Log(sys.stderr.buffer)
    log.note(f"REHEARSAL by xlaunch: stands in for the colocated Python sidecar; ignores {argv}")
    while True:
        signal.pause()
