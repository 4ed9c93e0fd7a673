"""Slices that JobSet restarts alone (RestartJob): what they have left, and when they do not come back."""

import pytest
from fakes.clock import START
from fakes.objects import condition, job, jobset, on_silent_node, pod

from xlaunch.core.ledger import ledger
from xlaunch.core.ledger_data import as_data
from xlaunch.core.recreation import action, is_failing, seconds_until_recreated
from xlaunch.core.workload import describe

ONCE = condition("StartupPolicyCompleted")
FAILURE_TARGET = condition("FailureTarget", reason="BackoffLimitExceeded")
RULES = [
    {"name": "slice_only", "action": "RestartJob", "targetReplicatedJobs": ["worker"]},
    {"name": "rest", "action": "RestartJobSet"},
]
DELETED = "2026-11-29T12:00:00Z"


def body(*rules):
    made = jobset(conditions=[ONCE])
    made["spec"]["failurePolicy"]["rules"] = list(rules)
    return made


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ([], ""),
        (RULES, "RestartJob"),
        ([{"action": "RestartJob"}], "RestartJob"),
        ([{"action": "RestartJobAndIgnoreMaxRestarts", "targetReplicatedJobs": ["worker"]}], None),
        ([{"action": "RestartJob", "targetReplicatedJobs": ["pathways-head"]}], ""),
        ([{"action": "RestartJobSet", "targetReplicatedJobs": ["worker"]}, *RULES], ""),  # the first that fits
    ],
)
def test_what_a_failed_slice_leads_to(rules, named):
    made = body(*rules)
    assert action(made, describe(made).workers[0]) == ("RestartJobAndIgnoreMaxRestarts" if named is None else named)


@pytest.mark.parametrize(
    ("conditions", "failing"), [([], False), ([FAILURE_TARGET], True), ([condition("Failed")], True)]
)
def test_a_job_that_fails(conditions, failing):
    assert is_failing(job("worker", 1, conditions=conditions)) is failing
    assert not is_failing(None)


def test_a_slice_comes_back_within_seconds_unless_a_pod_of_it_cannot_end():
    going = [pod("worker", 2, host, deleted=DELETED) for host in range(4)]
    assert seconds_until_recreated(going) == 3.0
    assert seconds_until_recreated([*going[:3], on_silent_node(going[3])]) is None
    assert seconds_until_recreated([on_silent_node(pod("worker", 2, 3, phase="Failed"))]) == 3.0


def stuck(*pods):
    """The ledger's row of slice 2, whose Job is failing and has only these pods left."""
    whole = [pod("worker", index, host) for index in (0, 1) for host in range(4)]
    jobs = [job("worker", 0), job("worker", 1), job("worker", 2, conditions=[FAILURE_TARGET])]
    return as_data(ledger(body(*RULES), jobs, [*whole, *pods], START))["slices"][2]


def test_hosts_of_a_slice_that_is_made_anew_are_missing():
    row = stuck()
    assert (row["ready"], row["missing"], row["nextReplacementSeconds"]) == (0, 4, 3.0)


def test_a_slice_on_a_dead_node_is_stuck_and_names_the_pod():
    row = stuck(on_silent_node(pod("worker", 2, 3, deleted=DELETED), "tpu-2-3"))
    assert (row["ready"], row["missing"], row["nextReplacementSeconds"]) == (0, 4, None)
    assert row["losses"][3]["pod"] == "train-worker-2-3-aaaaa"
