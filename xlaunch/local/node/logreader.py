"""Serving one log file: tail, since, limit, timestamps and follow, as the kubelet's `ReadLogs`.

Source: kubernetes 1.35, pkg/kubelet/kuberuntime/logs/logs.go and pkg/util/tail.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from xlaunch.local.node import cri

BLOCK = 64 * 1024


class Source(Protocol):
    """A log that may still be written to (logs.ContainerLog)."""

    path: Path
    rotations: int
    closed: bool

    async def changed(self) -> None:
        """Returns after the next write, rotation or close."""
        ...


class Filter:
    """Turns entries into the bytes that a client asked for.

    `since` is a stamp as `cri.stamp` writes it, b"" for none; `limit` counts bytes sent, timestamps included.
    """

    def __init__(self, *, since: bytes = b"", limit: int | None = None, timestamps: bool = False) -> None:
        self._since = since
        self._left = limit
        self._timestamps = timestamps
        self._inside_line: dict[bytes, bool] = {}

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self._left is not None and self._left <= 0

    def select(self, lines: Iterable[bytes]) -> bytes:
        """What is to be sent of these lines of the file."""
        sent = b"".join(self._texts(lines))
        if self._left is not None:
            sent = sent[: self._left]
            self._left -= len(sent)
        return sent

    def _texts(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            try:
                entry = cri.decode(line)
            except ValueError:
                continue  # the kubelet skips what it cannot parse
            if entry.stamp < self._since:
                continue
            # The time stands at the beginning of a line, not at each of its parts
            if self._timestamps and not self._inside_line.get(entry.stream):
                yield entry.stamp + b" "
            self._inside_line[entry.stream] = entry.partial
            yield entry.text()


async def read(
    source: Source, chosen: Filter, *, tail: int | None = None, follow: bool = False
) -> AsyncIterator[bytes]:
    """The log in blocks. With `follow` it goes on across rotations until the log is closed."""
    rotations = source.rotations
    file = source.path.open("rb", buffering=0)
    try:
        if tail is not None:
            file.seek(tail_start(file, tail))
        while not chosen.full:
            lines = read_lines(file)
            if lines:
                if sent := chosen.select(lines):
                    yield sent
            elif source.rotations != rotations:
                file.close()
                rotations, file = source.rotations, source.path.open("rb", buffering=0)
            elif not follow or source.closed:
                return
            else:
                await source.changed()
    finally:
        file.close()


def read_lines(file: BinaryIO) -> list[bytes]:
    """Complete lines from the file's position, about a block of them; [] at the end of what is complete."""
    start = file.tell()
    data = file.read(BLOCK) or b""
    while data and b"\n" not in data:
        more = file.read(BLOCK)
        if not more:
            break
        data += more
    end = data.rfind(b"\n") + 1
    file.seek(start + end)
    return [line + b"\n" for line in data[:end].split(b"\n")[:-1]]


def tail_start(file: BinaryIO, count: int) -> int:
    """Where the last `count` lines of the file begin, in bytes; the kubelet counts entries, parts included."""
    if count < 0:
        return 0
    position = file.seek(0, os.SEEK_END)
    if count == 0:
        return position
    # The newline at the very end closes the last line, so one more is looked for
    missing = count + 1
    while position > 0:
        size = min(BLOCK, position)
        position -= size
        file.seek(position)
        block = file.read(size)
        found = block.count(b"\n")
        if found >= missing:
            at = len(block)
            for _ in range(missing):
                at = block.rfind(b"\n", 0, at)
            return position + at + 1
        missing -= found
    return 0
