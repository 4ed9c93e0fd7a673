"""Both clusters are asked the same, and do the same sequence at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest
from _pytest.mark.structures import ParameterSet

from differential.clusters import Cluster
from differential.compare import readable
from differential.corpus import Call
from differential.counting import Outcome, outcome
from differential.known import explained
from differential.run import Actor
from differential.steps import Sequence


def unlike(pair: list[Cluster], calls: Iterable[Call]) -> str:
    """The differences between the answers to requests, as one text."""
    told = []
    for call in calls:
        embedded, real = (each.ask(call) for each in pair)
        if embedded != real and not explained(call, embedded, real):
            told.append(f"{call.name}\n{readable(embedded, real)}")
    return "\n\n".join(told)


def compared(steps: Sequence, twins: Callable[[str], list[Cluster]], slots: Queue[int]) -> Outcome:
    """What the two clusters make of a sequence; it takes one of the slots until both are empty again."""
    slot, pair = slots.get(), twins(steps.name)
    try:
        with ThreadPoolExecutor(2) as both:
            runs = [both.submit(Actor(each, slot).run, steps) for each in pair]
        embedded, real = (run.result() for run in runs)
    finally:
        for each in pair:
            each.remove()
        slots.put(slot)
    return outcome(embedded, real)


def params(now: Iterable[Sequence], later: Iterable[Sequence]) -> list[ParameterSet]:
    """The sequences as a test's parameters; those that come later are left to the nightly run."""
    nightly = (pytest.param(each, id=each.name, marks=pytest.mark.nightly) for each in later)
    return [*(pytest.param(each, id=each.name) for each in now), *nightly]


def check(steps: Sequence, found: Outcome) -> None:
    """Fails for a difference, with the sequence that led there, and for a sequence that has tested nothing."""
    told = "\n".join(f"{number} {step}" for number, step in enumerate(steps.steps))
    assert not found.difference, f"{steps.name}, {found.difference}\n\nThe sequence:\n{told}"
    assert not found.idle(), f"{steps.name}: {found.idle()}\n\nThe sequence:\n{told}"
