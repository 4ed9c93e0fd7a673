"""The same JobSets and the same faults on both clusters, and the same objects and events afterwards.

A seed that fails alone: `DIFFERENTIAL_SEEDS=17 .venv/bin/pytest -m real tests/differential/test_sequences.py`.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue

import pytest

from differential.compare import readable
from differential.conftest import SLOTS
from differential.run import Actor
from differential.steps import sequence

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential")]


@pytest.fixture(scope="module")
def outcomes(request, twins) -> Iterator[dict[int, Future[str]]]:
    """What each seed of this run has found, in the making: sequences mostly wait, so they run side by side."""
    mine = [item for item in request.session.items if item.path == request.path]
    seeds = [item.callspec.params["seed"] for item in mine if hasattr(item, "callspec")]
    slots: Queue[int] = Queue()
    for slot in range(SLOTS):
        slots.put(slot)
    with ThreadPoolExecutor(SLOTS) as pool:
        yield {seed: pool.submit(compared, seed, twins, slots) for seed in seeds}
        pool.shutdown(cancel_futures=True)


def compared(seed, twins, slots):
    """How the two clusters differ over a sequence: "" for not at all."""
    slot = slots.get()
    try:
        with ThreadPoolExecutor(2) as both:
            runs = [both.submit(Actor(each, slot).run, sequence(seed)) for each in twins(f"seed-{seed}")]
        embedded, real = (run.result() for run in runs)
    finally:
        slots.put(slot)
    for (step, left), (_, right) in zip(embedded, real, strict=True):
        if told := readable(left, right):
            return f"seed {seed}, step {step}\n{told}"
    return ""


def test_the_clusters_do_the_same(seed, outcomes):
    found = outcomes[seed].result()
    steps = "\n".join(f"{number} {step}" for number, step in enumerate(sequence(seed).steps))
    assert not found, f"{found}\n\nThe sequence:\n{steps}"
