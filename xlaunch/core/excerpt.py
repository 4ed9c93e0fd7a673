"""Other people's sentences on one line of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LENGTH = 300


def excerpt(text: str, length: int = LENGTH) -> str:
    """A text on one line; of a long one the middle is left out, for the verdict stands at the end."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    half = (length - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"


def reason_and_message(said: Mapping[str, Any]) -> str:
    """ "Unschedulable: 0/5 nodes are available": what a condition, a status or an event says, "" for nothing."""
    message = " ".join(str(said.get("message") or "").split())
    return ": ".join(part for part in (str(said.get("reason") or ""), message) if part)
