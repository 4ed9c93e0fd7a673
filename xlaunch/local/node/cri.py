"""The CRI's log format: `<RFC3339Nano> <stdout|stderr> <F|P> <bytes>`, one entry a line (KEP-2040, kubelet logs.go)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# containerd's max_container_log_line_size: a longer line is written in parts tagged P, the last one tagged F
LONGEST_PART = 16 * 1024


@dataclass(frozen=True)
class Entry:
    """One entry. `stamp` is ASCII with nine digits; `partial` means that the next entry of the stream goes on."""

    stamp: bytes
    stream: bytes
    partial: bool
    content: bytes

    def text(self) -> bytes:
        """What the container wrote; only a full entry ends its line."""
        return self.content if self.partial else self.content + b"\n"


def stamp(nanoseconds: int) -> bytes:
    """A wall time as the CRI writes it. Fixed to nine digits, so that stamps compare as bytes."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return b"%b.%09dZ" % (_second(seconds), rest)


@lru_cache(maxsize=2)
def _second(seconds: int) -> bytes:
    """Remembered, since thousands of lines are written in one second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode()


def encode(moment: bytes, stream: bytes, partial: bool, content: bytes) -> bytes:
    """One line of the file."""
    return b"%b %b %b %b\n" % (moment, stream, b"P" if partial else b"F", content)


def decode(line: bytes) -> Entry:
    """Reads one line, with or without its newline; ValueError for anything else."""
    moment, stream, tag, content = line.removesuffix(b"\n").split(b" ", 3)
    if tag not in (b"F", b"P") or stream not in (b"stdout", b"stderr"):
        raise ValueError(f"not a CRI log line: {line[:80]!r}")
    return Entry(moment, stream, tag == b"P", content)


class LineCutter:
    """Cuts one stream of bytes into entries, whatever pieces it comes in.

    Only `\\n` ends a line: a progress bar's `\\r` and bytes that are no text pass unchanged (containerd,
    internal/cri/io/logger.go).
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[bool, bytes]]:
        """(partial, content) for all that is complete."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield from _parts(line)
        while len(rest) > LONGEST_PART:
            yield True, rest[:LONGEST_PART]
            rest = rest[LONGEST_PART:]
        self._rest = rest

    def end(self) -> Iterator[tuple[bool, bytes]]:
        """What is left when the stream ends: a line without a newline counts as full, as with containerd."""
        if self._rest:
            yield False, self._rest
            self._rest = b""


def _parts(line: bytes) -> Iterator[tuple[bool, bytes]]:
    while len(line) > LONGEST_PART:
        yield True, line[:LONGEST_PART]
        line = line[LONGEST_PART:]
    yield False, line
