"""Other people's sentences on one line of ours."""

from __future__ import annotations

LENGTH = 300


def excerpt(text: str, length: int = LENGTH) -> str:
    """A text on one line; of a long one the middle is left out, for the verdict stands at the end."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    half = (length - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"
