"""When a namespace has come to rest."""

import copy

import pytest

from differential.corpus import varied
from differential.rest import ATTEMPT, at_rest

JOB = {
    "metadata": {"name": "set-a-0", "uid": "u", "labels": {ATTEMPT: "0"}},
    "spec": {"parallelism": 1, "completions": 1},
    "status": {"active": 1, "ready": 1},
}
POD = {
    "metadata": {"name": "p", "ownerReferences": [{"uid": "u", "controller": True}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}
JOBSET = {"metadata": {"name": "set"}, "spec": {"replicatedJobs": [{"replicas": 1}]}, "status": {"restarts": 0}}
STILL = {"jobsets": [JOBSET], "jobs": [JOB], "pods": [POD], "services": []}


def true(kind):
    return [{"type": kind, "status": "True"}]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"jobs": [], "pods": [], "jobsets": []},
        {"jobs.0.status.conditions": true("Complete"), "pods.0.status.phase": "Succeeded"},
        {"jobs.0.status.conditions": true("Failed"), "pods.0.status.phase": "Failed"},
        {"jobsets.0.status.terminalState": "Failed", "jobs": [], "pods": []},
        {
            "jobsets.0.spec.suspend": True,
            "jobsets.0.status.conditions": true("Suspended"),
            "jobs.0.spec.suspend": True,
            "jobs.0.status.conditions": true("Suspended"),
            "pods": [],
        },
    ],
    ids=str,
)
def test_at_rest(changes):
    assert at_rest(varied(copy.deepcopy(STILL), changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"pods.0.metadata.deletionTimestamp": "now"},
        {"pods.0.status.conditions": []},
        {"pods": []},
        {"jobs.0.status.ready": 0},
        {"jobs.0.status.active": 2},
        {"jobs.0.spec.parallelism": 2, "jobs.0.spec.completions": 2},
        {"jobs.0.status.uncountedTerminatedPods": {"failed": ["x"]}},
        {"jobs.0.status.conditions": true("FailureTarget")},
        {"jobs.0.status.conditions": true("Failed"), "jobs.0.spec.ttlSecondsAfterFinished": 3},
        {"jobs.0.spec.suspend": True},
        {"jobs": [], "pods": []},
        {"jobsets.0.status.restarts": 1},
        {"jobsets.0.status.conditions": true("RestartingJobSet")},
        {"jobsets.0.spec.suspend": True},
        {"jobsets.0.status.terminalState": "Failed", "jobsets.0.spec.ttlSecondsAfterFinished": 3},
    ],
    ids=str,
)
def test_on_the_move(changes):
    assert not at_rest(varied(copy.deepcopy(STILL), changes))
