"""The same JobSets and the same faults on both clusters, and the same objects and events afterwards.

One seed alone: `DIFFERENTIAL_SEEDS=17 .venv/bin/pytest -m "real and not nightly" tests/differential/test_sequences.py`.
"""

import os
from collections.abc import Iterator

import pytest
from _pytest.mark.structures import ParameterSet

from differential.side_by_side import check
from differential.steps import CI_SEEDS, NIGHTLY_SEEDS, node_sequences, seeds, sequence
from differential.summary import PROPERTY

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential")]


SEEDS = os.environ.get("DIFFERENTIAL_SEEDS", CI_SEEDS)
LATER_SEEDS = os.environ.get("DIFFERENTIAL_NIGHTLY_SEEDS", NIGHTLY_SEEDS)


def every() -> Iterator[ParameterSet]:
    """All sequences; what waits for nodes takes two minutes."""
    yield from (pytest.param(sequence(seed), id=f"seed-{seed}") for seed in seeds(SEEDS))
    later = [*(sequence(seed) for seed in seeds(LATER_SEEDS)), *node_sequences()]
    yield from (pytest.param(each, id=each.name, marks=pytest.mark.nightly) for each in later)


@pytest.mark.parametrize("steps", list(every()))
@pytest.mark.long
def test_the_clusters_do_the_same(steps, outcomes, record_property):
    found = outcomes[steps.name].result()
    record_property(PROPERTY, found.counts())
    check(steps, found)
