"""Start, find and stop local clusters: what the commands and the cluster layer call."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from xlaunch.core.errors import RefusedError, XlaunchError
from xlaunch.core.timestamps import stamp
from xlaunch.local import procs, state
from xlaunch.local.leftovers import sweep
from xlaunch.local.plane import EMBEDDED_PLANE, REAL, Plane
from xlaunch.local.size import check_has_gates, check_size, describe, request, up_line
from xlaunch.local.state import DEFAULT_NAME, LocalCluster

__all__ = ["DEFAULT_NAME", "LocalCluster", "clusters", "describe", "ensure", "find", "start", "stop", "wait_ended"]

# Seconds; the guardian kills everything and removes the state in a fraction of one
STOP_PATIENCE = 30.0

Notice = Callable[[str], None]


def clusters(env: Mapping[str, str]) -> list[LocalCluster]:
    """The clusters that run, by name, after sweeping what dead ones left behind."""
    if state.directories(env):
        with state.lock(env):
            sweep(env)
    return [cluster for cluster in state.records(env) if cluster.server]


def find(name: str, env: Mapping[str, str]) -> LocalCluster:
    """The running cluster of that name; NotFoundError (exit 3) with the line that starts it."""
    cluster = state.read(state.root(env) / state.check_name(name))
    if cluster is None or not cluster.running or not cluster.server:
        raise state.not_running(name)
    return cluster


def ensure(
    name: str,
    *,
    tpu_type: str,
    slices: int,
    heads: int = 1,
    machine_type: str = "",
    time_scale: float | None = None,
    feature_gates: Iterable[str] = (),
    plane: Plane | None = None,
    env: Mapping[str, str],
    notice: Notice,
) -> LocalCluster:
    """The running cluster of that name if it is large enough, else a new one, which stays up.

    `time_scale` and `plane` None: those of the running one, or 1 and the embedded one. Raises RefusedError (exit 4)
    when it runs and lacks the slices, heads or feature gates, or has another time scale or control plane than the one
    that was asked for: a running cluster does not change.
    """
    scale = 1.0 if time_scale is None else time_scale
    wanted = request(name, tpu_type, slices, heads, machine_type, scale, feature_gates, plane or EMBEDDED_PLANE, env)
    with state.lock(env) as lock:
        for dead in sweep(env):
            notice(f"Removed what was left of the local cluster {dead}.")
        running = state.read(wanted.path)
        if running is not None and running.running:
            if plane and not running.plane.fits(plane):
                what = running.plane if running.plane.kind == REAL else f"its {running.plane} control plane"
                raise _other(running, f"on {what}", "OtherControlPlane", up_line(wanted))
            check_size(running, wanted)
            check_has_gates(running, wanted)
            if time_scale not in (None, running.time_scale):
                raise _other(running, f"with --time-scale {running.time_scale:g}", "OtherTimeScale", up_line(wanted))
            return running
        cluster = _start(wanted, env, lock, lifeline=None)
    notice(f"Started the {cluster.title}: {describe(cluster)}.")
    return cluster


def _other(running: LocalCluster, how: str, reason: str, line: str) -> RefusedError:
    return RefusedError(
        f"The {running.title} runs {how}",
        why="A running one does not change",
        next=f"xlaunch local down --name {running.name} && {line}",
        reason=reason,
    )


def start(
    name: str,
    *,
    tpu_type: str,
    slices: int,
    heads: int = 1,
    machine_type: str = "",
    time_scale: float = 1.0,
    feature_gates: Iterable[str] = (),
    plane: Plane | None = None,
    env: Mapping[str, str],
    lifeline: int | None = None,
) -> LocalCluster:
    """A new cluster; RefusedError (exit 4) if one of that name runs.

    With `lifeline`, the reading end of a pipe, the cluster ends when the last writing end is closed, also by a kill -9.
    """
    plane = plane or EMBEDDED_PLANE
    wanted = request(name, tpu_type, slices, heads, machine_type, time_scale, feature_gates, plane, env)
    with state.lock(env) as lock:
        sweep(env)
        running = state.read(wanted.path)
        if running is not None and running.running:
            raise RefusedError(
                f"The {running.title} runs already",
                why=f"It has {describe(running)}",
                next=f"xlaunch local down --name {name}",
                reason="AlreadyRunning",
            )
        return _start(wanted, env, lock, lifeline=lifeline)


def stop(name: str, env: Mapping[str, str]) -> LocalCluster:
    """Ends a cluster with all its processes and its state; NotFoundError (exit 3) where none of that name runs."""
    with state.lock(env):
        sweep(env)
        cluster = state.read(state.root(env) / state.check_name(name))
        if cluster is None or not cluster.running:
            raise state.not_running(name)
        procs.kill(cluster.pid, signal.SIGTERM)
        if not procs.wait_ended(cluster.pid, cluster.start, STOP_PATIENCE):
            raise XlaunchError(
                f"The {cluster.title} did not end within {STOP_PATIENCE:.0f} s",
                why=f"Its guardian is process {cluster.pid}",
                next=f"kill -9 {cluster.pid} && xlaunch local status",
            )
    return cluster


def wait_ended(cluster: LocalCluster) -> None:
    """Returns when the cluster has ended and nothing of it is left."""
    while not procs.wait_ended(cluster.pid, cluster.start, STOP_PATIENCE):
        pass


def _start(wanted: LocalCluster, env: Mapping[str, str], lock: int, *, lifeline: int | None) -> LocalCluster:
    wanted.path.mkdir(mode=0o700)
    created = stamp(datetime.now(UTC))
    cluster = state.updated(wanted, created=created)
    with cluster.log.open("w+", encoding="utf-8", errors="replace") as log:
        guardian, ready = _spawn(cluster, env, lock, lifeline, log)
        try:
            report = _await_ready(ready)
        except BaseException:
            # Ctrl-C while it starts: what was begun is taken back
            guardian.terminate()
            guardian.wait()
            state.remove(cluster.path)
            raise
        if "server" not in report:
            guardian.wait()
            state.remove(cluster.path)
            log.seek(0)
            raise _start_failed(cluster, report, log.read())
    started = state.read(cluster.path)
    if started is None:
        raise state.not_running(cluster.name)
    return started


def _spawn(
    cluster: LocalCluster, env: Mapping[str, str], lock: int, lifeline: int | None, log: IO[str]
) -> tuple[subprocess.Popen[bytes], int]:
    """The guardian's process and the end of the pipe on which its server reports."""
    reading, writing = os.pipe()
    guardian = subprocess.Popen(
        [sys.executable, "-m", "xlaunch.local.guardian", cluster.directory, str(writing), str(lock)],
        stdin=subprocess.DEVNULL if lifeline is None else lifeline,
        stdout=log,
        stderr=log,
        pass_fds=[writing, lock],
        env=dict(env),
        # Where this package lies, so that -m finds it also in a checkout that is not installed
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    os.close(writing)
    return guardian, reading


def _await_ready(descriptor: int) -> dict[str, Any]:
    """What the server reports once it listens; {} if it died before."""
    with os.fdopen(descriptor, "rb") as pipe:
        line = pipe.readline()
    with suppress(json.JSONDecodeError):
        report: dict[str, Any] = json.loads(line)
        return report
    return {}


def _start_failed(cluster: LocalCluster, report: Mapping[str, Any], log: str) -> XlaunchError:
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "its log is empty")
    return XlaunchError(
        f"The {cluster.title} did not start",
        why=str(report.get("error") or f"Its server ended: {last.strip()}"),
        next=up_line(cluster),
        reason="StartFailed",
    )
