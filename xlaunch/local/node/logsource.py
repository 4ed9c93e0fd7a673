"""Logs of pods by name: which file a request means, in the kubelet's words where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from xlaunch.local.kube import bad_request
from xlaunch.local.logs import LogOptions
from xlaunch.local.node import cri
from xlaunch.local.node.agent import Agent
from xlaunch.local.node.container import Container
from xlaunch.local.node.logreader import Filter, Source, read


@dataclass
class ClosedLog:
    """The file of an instance that has ended: nothing more will be written (a logreader.Source)."""

    path: Path
    rotations: int = 0
    closed: bool = True

    async def changed(self) -> None:
        """Never waited for, since it is closed."""


class PodLogs:
    """The agent as a source of logs for the API server (local.logs.LogSource)."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def open(self, namespace: str, pod: str, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """The log in blocks, first an empty one that says it is open; StatusError before that if there is none."""
        runner = self._agent.runner(namespace, pod)
        found = next((each for each in runner.containers if each.record.name == container), None)
        if found is None:
            raise bad_request(f'container "{container}" in pod "{pod}" is not available')
        log = choose(found, pod, previous=options.previous)
        earliest = since(options, datetime.now(UTC))
        chosen = Filter(since=earliest, limit=options.limit_bytes, timestamps=options.timestamps)
        yield b""
        async for block in read(log, chosen, tail=options.tail_lines, follow=options.follow):
            yield block


def choose(container: Container, pod: str, *, previous: bool) -> Source:
    """The log of the current instance or of the one before (kubelet, `validateContainerLogStatus`).

    While a container waits for its restart, both mean the instance that ended last.
    """
    record = container.record
    where = f'container "{record.name}" in pod "{pod}"'
    waiting = record.state.get("waiting")
    if previous and not record.last.get("terminated"):
        raise bad_request(f"previous terminated {where} not found")
    if waiting and not record.last.get("terminated"):
        raise bad_request(f"{where} is waiting to start: {waiting.get('reason', '')}")
    instance = record.restarts - 1 if previous and not waiting else record.restarts
    if container.log and instance == record.restarts:
        return container.log
    path = container.log_path(instance)
    if not path.exists():
        raise bad_request(f"unable to retrieve container logs for {record.id}")
    return ClosedLog(path)


def since(options: LogOptions, now: datetime) -> bytes:
    """The first stamp to be sent, b"" for all."""
    if options.since_seconds is not None:
        return _stamp(now - timedelta(seconds=options.since_seconds))
    return _stamp(options.since_time) if options.since_time is not None else b""


def _stamp(moment: datetime) -> bytes:
    """To the microsecond, which is all that a datetime holds."""
    whole = int(moment.timestamp())
    return cri.stamp(whole * 10**9 + moment.microsecond * 1000)
