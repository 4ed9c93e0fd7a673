"""Single Jobs that JobSet restarts: the same sequences on clusters whose gate RestartJob is on.

Some seeds: `DIFFERENTIAL_RESTART_SEEDS=1-20 .venv/bin/pytest -m "real and not nightly" -k restart tests/differential`.
"""

import os

import pytest

from differential.corpus import creations
from differential.corpus_jobsets import RESTART_JOB as VARIATIONS
from differential.side_by_side import check, params, unlike
from differential.steps import CI_RESTART_SEEDS, NIGHTLY_RESTART_SEEDS, restart_sequence, seeds
from differential.summary import PROPERTY
from xlaunch.local.gates import RESTART_JOB

# The control planes have a gate on, so they are others than those of test_sequences.py
GATES = (RESTART_JOB,)
pytestmark = [pytest.mark.real, pytest.mark.xdist_group("differential+RestartJob")]

SEEDS = os.environ.get("DIFFERENTIAL_RESTART_SEEDS", CI_RESTART_SEEDS)
LATER_SEEDS = os.environ.get("DIFFERENTIAL_NIGHTLY_RESTART_SEEDS", NIGHTLY_RESTART_SEEDS)


def test_rules_that_restart_single_jobs_are_answered_alike(twins):
    assert not unlike(twins("restart-answers"), creations("jobsets", VARIATIONS))


@pytest.mark.parametrize(
    "steps", params(map(restart_sequence, seeds(SEEDS)), map(restart_sequence, seeds(LATER_SEEDS)))
)
@pytest.mark.long
def test_the_clusters_restart_the_same_jobs(steps, outcomes, record_property):
    found = outcomes[steps.name].result()
    record_property(PROPERTY, found.counts())
    check(steps, found)
    assert found.restarts, f"{steps.name} restarts no single Job"
