"""What the servers of all local clusters have in common: how the guardian starts one, what it reports, how it ends.

`python -m MODULE DIRECTORY READY_FD LOCK_FD GUARDIAN_PID`. When it serves it writes its kubeconfig and the record, then
one line of JSON to READY_FD: `{"server": URL}`, or `{"error": SENTENCE}`, and lets go of the lock.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from xlaunch.local import procs, state
from xlaunch.local.plane import Plane
from xlaunch.local.state import LocalCluster


class Starter:
    """Whoever started a cluster and waits for one report; they may have gone."""

    def __init__(self, ready: int, lock: int) -> None:
        """Takes over the pipe that they read and the lock of all local clusters."""
        self._ready: int | None = ready
        self._lock = lock

    def serving(self, cluster: LocalCluster, url: str, kubeconfig: str, plane: Plane | None = None) -> None:
        """Writes the kubeconfig, then the record that leads to it, with what is known of its control plane by now."""
        state.replace_file(cluster.kubeconfig, kubeconfig)
        me = os.getpid()
        record = state.read(cluster.path) or cluster
        known = replace(record, plane=plane or record.plane)
        state.updated(known, server=url, server_pid=me, server_start=procs.start_of(me))
        self._tell({"server": url})
        os.close(self._lock)

    def failed(self, sentence: str) -> None:
        """Says why it does not serve; nobody hears it who was told that it does."""
        self._tell({"error": sentence})

    def _tell(self, message: dict[str, str]) -> None:
        if self._ready is not None:
            with suppress(OSError), os.fdopen(self._ready, "w", encoding="utf-8") as pipe:
                pipe.write(json.dumps(message) + "\n")
            self._ready = None


def run(argv: Sequence[str], serve: Callable[[LocalCluster, Starter], int]) -> int:
    """The whole life of a server: `serve` until SIGTERM; returns its exit code.

    Should the guardian be killed, its orphans become this process's, which ends them in its place.
    """
    directory, ready, lock, guardian = Path(argv[0]), int(argv[1]), int(argv[2]), int(argv[3])
    procs.become_subreaper()
    alive = procs.die_with_parent(guardian)
    raise_file_limit()
    cluster = state.read(directory)
    code = serve(cluster, Starter(ready, lock)) if alive and cluster else 0
    if os.getppid() != guardian:
        hidden = state.retire(directory)
        procs.end_descendants()
        state.remove(hidden)
    return code


def raise_file_limit() -> None:
    """A container takes four descriptors, so that the usual soft limit of 1024 would end at 250 of them."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
