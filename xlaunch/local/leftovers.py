"""What a dead cluster may leave behind: its containers' processes, noted while it ran, and its directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from xlaunch.local import procs, state
from xlaunch.local.state import LocalCluster


def sweep(env: Mapping[str, str]) -> list[str]:
    """Ends and removes what dead clusters left behind; returns their names. Call it with the lock held.

    Needed only when guardian and server were killed at the same moment.
    """
    swept = []
    for directory in state.directories(env):
        cluster = state.read(directory)
        if cluster and cluster.running:
            continue
        if cluster:
            _end_leftovers(cluster)
            swept.append(cluster.name)
        state.remove(directory)
    return swept


def _end_leftovers(cluster: LocalCluster) -> None:
    """Kills what is known by pid and start time, all below it, and whoever carries the cluster's mark."""
    known = [(cluster.server_pid, cluster.server_start), *container_processes(cluster.path)]
    while True:
        table = procs.processes()
        roots = [pid for pid, start in known if procs.is_running(pid, start)]
        below = [child for pid in roots for child in procs.descendants(pid, table)]
        marked = [pid for pid in procs.with_environment(cluster.marker, table) if table[pid].alive]
        victims = {*roots, *below, *marked} - {os.getpid()}
        if not victims:
            return
        for pid in victims:
            procs.kill(pid)
        for pid in victims:
            procs.wait_ended(pid, table[pid].start if pid in table else 0, timeout=1.0)


def remember_process(directory: Path, pid: int) -> None:
    """Notes a container's process for the sweep after a sudden end of both guardian and server."""
    with (directory / "processes").open("a", encoding="utf-8") as file:
        file.write(f"{pid} {procs.start_of(pid)}\n")


def container_processes(directory: Path) -> list[tuple[int, int]]:
    """Pid and start time of every container that was started; a half-written last line is left out."""
    try:
        text = (directory / "processes").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    fields = [line.split() for line in text.splitlines()]
    return [(int(each[0]), int(each[1])) for each in fields if len(each) == 2 and all(map(str.isdigit, each))]
