"""The same JobSets and the same faults on both clusters, and the same objects and events afterwards.

One seed alone: `DIFFERENTIAL_SEEDS=17 .venv/bin/pytest -m "real and not nightly" tests/differential/test_sequences.py`.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue

import pytest
from _pytest.mark.structures import ParameterSet

from differential.clusters import Cluster
from differential.compare import readable
from differential.conftest import SLOTS
from differential.run import LATE, Actor
from differential.steps import Sequence, node_sequences, sequence

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential")]


SEEDS = os.environ.get("DIFFERENTIAL_SEEDS", "5,7,8,10,11,14,15,17,19,22")
NIGHTLY_SEEDS = os.environ.get("DIFFERENTIAL_NIGHTLY_SEEDS", "100-160")


def seeds(text: str) -> Iterator[int]:
    """The numbers that `7,20-29` means."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def every() -> Iterator[ParameterSet]:
    """All sequences; what waits for nodes takes two minutes."""
    yield from (pytest.param(sequence(seed), id=f"seed-{seed}") for seed in seeds(SEEDS))
    later = [*(sequence(seed) for seed in seeds(NIGHTLY_SEEDS)), *node_sequences()]
    yield from (pytest.param(each, id=each.name, marks=pytest.mark.nightly) for each in later)


@pytest.fixture(scope="module")
def outcomes(request, twins) -> Iterator[dict[str, Future[str]]]:
    """What each sequence of this run has found, in the making: they mostly wait, so they run side by side."""
    mine = [item.callspec.params["steps"] for item in request.session.items if item.path == request.path]
    slots: Queue[int] = Queue()
    for slot in range(SLOTS):
        slots.put(slot)
    with ThreadPoolExecutor(SLOTS) as pool:
        yield {each.name: pool.submit(compared, each, twins, slots) for each in mine}
        pool.shutdown(cancel_futures=True)


def compared(steps: Sequence, twins: Callable[[str], list[Cluster]], slots: Queue[int]) -> str:
    """How the two clusters differ over a sequence: "" for not at all."""
    slot, pair = slots.get(), twins(steps.name)
    try:
        with ThreadPoolExecutor(2) as both:
            runs = [both.submit(Actor(each, slot).run, steps) for each in pair]
        embedded, real = (run.result() for run in runs)
    finally:
        for each in pair:
            each.remove()
        slots.put(slot)
    for (step, left), (_, right) in zip(embedded, real, strict=True):
        if LATE not in (left, right) and (told := readable(left, right)):
            return f"{steps.name}, step {step}\n{told}"
    return ""


@pytest.mark.parametrize("steps", list(every()))
@pytest.mark.long
def test_the_clusters_do_the_same(steps, outcomes):
    found = outcomes[steps.name].result()
    told = "\n".join(f"{number} {step}" for number, step in enumerate(steps.steps))
    assert not found, f"{found}\n\nThe sequence:\n{told}"
