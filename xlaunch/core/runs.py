"""Telling many objects that are numbered in one breath."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(?P<kind>\w+) (?P<stem>.+-)(?P<number>0|[1-9][0-9]*)")


def runs(labels: Iterable[str]) -> list[str]:
    """The labels in their order; neighbours of one kind whose last numbers count up are one: "Jobs a-0 to a-3"."""
    told: list[list[str]] = []
    for label in labels:
        if told and _follows(told[-1][-1], label):
            told[-1].append(label)
        else:
            told.append([label])
    return [_one(each) for each in told]


def _follows(before: str, label: str) -> bool:
    one, other = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(label)
    if one is None or other is None:
        return False
    expected = (one["kind"], one["stem"], int(one["number"]) + 1)
    return expected == (other["kind"], other["stem"], int(other["number"]))


def _one(labels: list[str]) -> str:
    kind, _, first = labels[0].partition(" ")
    return run(kind, first, labels[-1].partition(" ")[2])


def run(kind: str, first: str, last: str) -> str:
    """The label of one object, or of all from the first to the last."""
    return f"{kind} {first}" if first == last else f"{kind}s {first} to {last}"
