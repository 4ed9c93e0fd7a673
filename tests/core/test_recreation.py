"""Slices that JobSet restarts alone (RestartJob): what they have left, and when they do not come back."""

import pytest
from fakes.clock import START
from fakes.objects import condition, job, jobset, on_silent_node, pod

from xlaunch.core.ledger import ledger
from xlaunch.core.ledger_data import as_data, restart_counters
from xlaunch.core.pending import why_waiting
from xlaunch.core.recreation import action, restarts_left, seconds_until_recreated, used_words
from xlaunch.core.replacement import is_failing
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


def counted(alone, *, whole=0, most=9, ignored=()):
    """A JobSet whose slices were restarted alone so often; `ignored` of these do not count towards the maximum."""
    made = body(*RULES)
    made["spec"]["failurePolicy"]["maxRestarts"] = most
    toward = [count - (ignored[index] if ignored else 0) for index, count in enumerate(alone)]
    made["status"]["replicatedJobsStatus"][1] |= {"jobRestarts": alone, "jobRestartsCountTowardsMax": toward}
    made["status"] |= {"restarts": whole, "restartsCountTowardsMax": whole}
    return made


@pytest.mark.parametrize(
    ("options", "words", "left"),
    [
        ({"alone": [0, 0, 0]}, " of 9", 9),
        ({"alone": [0, 0, 0], "whole": 2}, " of 9", 7),
        ({"alone": [0, 5, 0]}, ", slices 5 (5 of 9)", 4),
        ({"alone": [1, 5, 1], "whole": 1}, ", slices 7 (8 of 9)", 1),
        ({"alone": [1, 5, 3]}, ", slices 9 (9 of 9)", 0),
        ({"alone": [0, 5, 0], "ignored": [0, 5, 0]}, ", slices 5 (0 of 9)", 9),
    ],
)
def test_slices_and_the_whole_are_counted_against_one_budget(options, words, left):
    workload = describe(counted(**options))
    assert used_words(workload) == words
    assert restarts_left(workload) == left


def test_what_programs_and_logs_are_told_of_them():
    found = ledger(counted([0, 2, 1], whole=1), [job("worker", 1, failed=1)], [], START)
    told = as_data(found)
    assert told["jobset"] | {"uid": ""} == {
        "uid": "",
        "restarts": 1,
        "restartsTowardMax": 4,
        "maxRestarts": 9,
        "jobRestarts": 3,
    }
    assert [each["jobRestarts"] for each in told["slices"]] == [0, 2, 1]
    assert {each["budgetLeft"] for each in told["slices"]} == {5}
    assert restart_counters(found) == (
        "Restarts: JobSet 1, slices 3 (4 of 9); slice 1: restarted 2 times, 1 pod lost, 0 in place; "
        "slice 2: restarted 1 time"
    )


def test_a_restart_of_the_whole_names_the_shared_budget():
    made = counted([0, 2, 1], whole=1)
    made["status"]["conditions"] = [condition("RestartingJobSet", message="applying")]
    assert why_waiting(None, describe(made)).startswith("JobSet restarts it (4 of 9)")
