"""The same JobSets and the same faults on both clusters, and the same objects and events afterwards.

One seed alone: `DIFFERENTIAL_SEEDS=17 .venv/bin/pytest -m "real and not nightly" tests/differential/test_sequences.py`.
"""

import os

import pytest

from differential.side_by_side import check, params
from differential.steps import CI_SEEDS, NIGHTLY_SEEDS, node_sequences, seeds, sequence
from differential.summary import PROPERTY

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential")]


SEEDS = os.environ.get("DIFFERENTIAL_SEEDS", CI_SEEDS)
LATER_SEEDS = os.environ.get("DIFFERENTIAL_NIGHTLY_SEEDS", NIGHTLY_SEEDS)


# What waits for nodes takes two minutes
NOW, LATER = map(sequence, seeds(SEEDS)), [*map(sequence, seeds(LATER_SEEDS)), *node_sequences()]


@pytest.mark.parametrize("steps", params(NOW, LATER))
@pytest.mark.long
def test_the_clusters_do_the_same(steps, outcomes, record_property):
    found = outcomes[steps.name].result()
    record_property(PROPERTY, found.counts())
    check(steps, found)
