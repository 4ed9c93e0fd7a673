"""The log file of one instance of a container: written here, rotated as by the kubelet, and waited for by followers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from xlaunch.local.node.cri import encode, stamp

# The kubelet's containerLogMaxSize (pkg/kubelet/apis/config/v1beta1/defaults.go); bytes
ROTATE_AT = 10 * 1024 * 1024


class ContainerLog:
    """Appends entries; only the current file is ever served, as by the kubelet."""

    def __init__(self, path: Path, *, rotate_at: int = ROTATE_AT, wall_ns: Callable[[], int] = time.time_ns) -> None:
        self.path = path
        self.rotations = 0
        self.closed = False
        self._rotate_at = rotate_at
        self._wall_ns = wall_ns
        self._waiting: set[asyncio.Future[None]] = set()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        self._size = self._file.tell()

    def write(self, stream: bytes, entries: Iterable[tuple[bool, bytes]]) -> None:
        """Appends (partial, content) entries of a stream, stamped now."""
        lines = [encode(stamp(self._wall_ns()), stream, partial, content) for partial, content in entries]
        if not lines or self.closed:
            return
        data = b"".join(lines)
        self._file.write(data)
        self._size += len(data)
        if self._size >= self._rotate_at:
            self._rotate()
        self._wake()

    def close(self) -> None:
        """The instance has ended: followers finish once they have read everything."""
        if not self.closed:
            self.closed = True
            self._file.close()
            self._wake()

    async def changed(self) -> None:
        """Returns after the next write, rotation or close."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def _rotate(self) -> None:
        """The kubelet renames the file and tells the runtime to open a new one; readers go on with the old one.

        One old file is kept per container, for people who look at the disk.
        """
        self._file.close()
        self.path.replace(self.path.with_name("rotated.log"))
        self._file = self.path.open("ab", buffering=0)
        self._size = 0
        self.rotations += 1

    def _wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()
