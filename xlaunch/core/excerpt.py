"""Other people's sentences on one line of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LENGTH = 300
ESCAPE = "\x1b"


def one_line(text: str) -> str:
    """A text on one line, with what would steer a terminal made visible: "^[" for an escape, "\\x07" for a bell.

    The message with which a container ended may be the end of its log, colours included. kubectl shows escapes so too
    (k8s.io/cli-runtime pkg/printers/terminal.go).
    """
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(map(_visible, line))


def excerpt(text: str, length: int = LENGTH) -> str:
    """A text on one line; of a long one the middle is left out, for the verdict stands at the end."""
    line = one_line(text)
    if len(line) <= length:
        return line
    half = (length - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"


def reason_and_message(said: Mapping[str, Any]) -> str:
    """ "Unschedulable: 0/5 nodes are available": what a condition, a status or an event says, "" for nothing."""
    told = (one_line(str(said.get(part) or "")) for part in ("reason", "message"))
    return ": ".join(filter(None, told))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return "^[" if character == ESCAPE else repr(character)[1:-1]
