"""Logs of pods between the API server, which is asked for them, and the node agent, which has them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class LogOptions:
    """PodLogOptions of core v1: `since_time` is aware; None means without that limit."""

    follow: bool = False
    previous: bool = False
    tail_lines: int | None = None
    since_time: datetime | None = None
    since_seconds: int | None = None
    limit_bytes: int | None = None
    timestamps: bool = False


class LogSource(Protocol):
    """Where logs come from: the node agent."""

    def open(self, namespace: str, pod: str, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """The log's bytes.

        The first chunk, which may be empty, comes as soon as the log is open, so that the answer can begin; until then
        a StatusError may be raised (400 "container … is waiting to start: …").
        """
        ...
