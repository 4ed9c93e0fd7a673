r"""Log text as the kubelet serves it: bytes, split at "\n" only, each line led by its timestamp.

With `timestamps=true` every line begins with an RFC 3339 time and a blank (Kubernetes pkg/kubelet/kuberuntime/logs,
RFC3339NanoFixed). A line without one is the kubelet's own error text, which comes as the body of a 200 answer.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

# A line longer than this is passed on in pieces: progress bars ("\r") may never end one
LONGEST = 64 * 1024
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d) ")
_LONGEST_STAMP = 36
_PART_OF_STAMP = re.compile(rb"[\dT:.+Z-]{1,36} ?")


class Piece(NamedTuple):
    """A line, or a part of one. `stamp` is empty for text that is no log line, and for the later parts of a line."""

    stamp: bytes
    text: bytes
    ends: bool  # whether the line ends here; `text` then ends with "\n"
    begins: bool = True


class Splitter:
    """Cuts a byte stream into pieces; what has no line end yet is kept until it has one, or grows too long."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._rest = b""
        self._inside = False

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that are complete with these bytes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        pieces = [self._piece(line + b"\n", ends=True) for line in lines]
        if len(self._rest) > self._longest:
            pieces.append(self._piece(self._rest, ends=False))
            self._rest = b""
        return pieces

    def finish(self) -> list[Piece]:
        """What came of a last line that has no end, at the end of the stream; part of a timestamp is not worth it."""
        rest, self._rest = self._rest, b""
        if not rest or (not self._inside and _PART_OF_STAMP.fullmatch(rest)):
            return []
        return [self._piece(rest, ends=False)]

    def _piece(self, text: bytes, *, ends: bool) -> Piece:
        begins, self._inside = not self._inside, not ends
        if not begins:
            return Piece(b"", text, ends, begins=False)
        found = _STAMP.match(text, 0, _LONGEST_STAMP)
        return Piece(text[: found.end() - 1], text[found.end() :], ends) if found else Piece(b"", text, ends)


def sort_key(stamp: bytes) -> bytes:
    """The timestamp in UTC with nine digits of a second, so that comparing bytes compares moments."""
    found = _STAMP.match(stamp + b" ")
    if not found:
        return b""
    second, fraction, zone = found.groups()
    digits = (fraction or b".")[1:].ljust(9, b"0")
    if zone != b"Z":
        moment = datetime.fromisoformat((second + zone).decode()).astimezone(UTC)
        second = moment.strftime("%Y-%m-%dT%H:%M:%S").encode()
    return second + b"." + digits


def since_time(key: bytes, margin: float) -> str:
    """The value of `sinceTime` that serves a line of that key again: whole seconds, `margin` earlier.

    The kubelet gets whole seconds only (kubernetes#77856); two streams of one container are stamped by two writers,
    so neighbouring lines may be out of order.
    """
    moment = datetime.strptime(key[:19].decode(), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return (moment - timedelta(seconds=margin)).strftime("%Y-%m-%dT%H:%M:%SZ")
