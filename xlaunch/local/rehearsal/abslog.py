"""Log lines with the prefix that absl and glog write, on stderr, one write each so that threads never mix them."""

from __future__ import annotations

import sys
import threading
from datetime import datetime
from typing import BinaryIO


class Log:
    """Writes `I1129 22:26:45.122340 139833023269760 file.py:12] message`: level, local time, thread, place.

    Layout: absl-py 2.5.1, absl/logging/__init__.py, PythonFormatter. `place` is the file and line of the program whose
    line this is, where it has one.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def line(self, place: str, message: str, level: str = "I") -> None:
        """One line, or several where the message has line breaks: they get no prefix, as with absl."""
        now = datetime.now()  # noqa: DTZ005 - absl writes the machine's local time
        prefix = f"{level}{now:%m%d %H:%M:%S.%f} {threading.get_ident():>5} {place}] "
        self.raw(f"{prefix}{message}\n")

    def note(self, message: str, level: str = "I") -> None:
        """A line of the stand-in's own: its place is the caller's."""
        caller = sys._getframe(1)
        self.line(f"{caller.f_code.co_filename.rpartition('/')[2]}:{caller.f_lineno}", message, level)

    def raw(self, text: str) -> None:
        """Text without a prefix, such as a traceback."""
        with self._lock:
            self._stream.write(text.encode("utf-8", "surrogateescape"))
            self._stream.flush()
