"""Numbers with their noun."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 pod", "3 pods"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
