"""The failure policy as a table."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.controllers.jobset.failure import apply_failure_policy
from xlaunch.local.controllers.jobset.status import Draft

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def failed(name, *, at="12:00:00", reason="BackoffLimitExceeded", message="", replicated="worker"):
    when = f"2026-11-29T{at}Z"
    return {
        "metadata": {"name": name, "labels": {"jobset.sigs.k8s.io/replicatedjob-name": replicated}},
        "status": {
            "conditions": [
                {"type": "Failed", "status": "True", "reason": reason, "message": message, "lastTransitionTime": when}
            ]
        },
    }


def outcome(policy, jobs, **status):
    spec = {} if policy is None else {"failurePolicy": policy}
    draft = Draft.of({"spec": spec, "status": status}, NOW)
    apply_failure_policy({"spec": spec}, jobs, draft)
    conditions = {each["type"]: (each["reason"], each["message"]) for each in draft.status["conditions"]}
    return draft, conditions


def rule(action, name="r", **match):
    return {"name": name, "action": action, **match}


def test_no_policy_fails_the_set_by_the_job_that_failed_first():
    draft, conditions = outcome(None, [failed("b", at="12:00:05"), failed("a", at="12:00:02")])
    assert conditions == {
        "Failed": ("FailedJobs", "jobset failed due to one or more job failures (first failed job: a)")
    }
    assert draft.status["terminalState"] == "Failed"


@pytest.mark.parametrize(
    ("most", "used", "restarts"), [(0, 0, False), (1, 0, True), (1, 1, False), (3, 2, True), (3, 3, False)]
)
def test_so_many_restarts_are_allowed(most, used, restarts):
    draft, conditions = outcome({"maxRestarts": most}, [failed("a")], restarts=used, restartsCountTowardsMax=used)
    assert draft.status["restarts"] == used + restarts
    assert ("Failed" in conditions) == (not restarts)
    assert ("RestartingJobSet" in conditions) == restarts


def test_restarts_beyond_the_limit_where_a_rule_says_so():
    policy = {"maxRestarts": 0, "rules": [rule("RestartJobSetAndIgnoreMaxRestarts")]}
    draft, conditions = outcome(policy, [failed("a")], restarts=5)
    assert draft.status["restarts"] == 6
    assert "restartsCountTowardsMax" not in draft.status
    assert conditions["RestartingJobSet"][0] == "FailurePolicy_r"
    assert [note.reason for note in draft.notes] == [
        "FailurePolicy_r",
        "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction",
    ]


@pytest.mark.parametrize(
    ("match", "applies"),
    [
        ({}, True),
        ({"onJobFailureReasons": ["BackoffLimitExceeded"]}, True),
        ({"onJobFailureReasons": ["DeadlineExceeded"]}, False),
        ({"onJobFailureMessagePatterns": ["exit code 4[0-9]"]}, True),
        ({"onJobFailureMessagePatterns": ["^code"]}, False),
        ({"onJobFailureMessagePatterns": ["("]}, False),
        ({"onJobFailureMessagePatterns": ["(", "code"]}, True),
        ({"targetReplicatedJobs": ["worker"]}, True),
        ({"targetReplicatedJobs": ["pathways-head"]}, False),
        ({"targetReplicatedJobs": ["worker"], "onJobFailureReasons": ["DeadlineExceeded"]}, False),
    ],
)
def test_when_a_rule_applies(match, applies):
    policy = {"maxRestarts": 1, "rules": [rule("FailJobSet", **match)]}
    _, conditions = outcome(policy, [failed("a", message="failed with exit code 42")])
    expected = "FailJobSetFailurePolicyAction" if applies else "DefaultFailurePolicy"
    assert next(iter(conditions.values()))[0] == expected


def test_the_first_rule_with_any_match_decides_and_names_its_own_job():
    rules = [
        rule("RestartJobSet", "head", targetReplicatedJobs=["pathways-head"]),
        rule("FailJobSet", "rest"),
    ]
    jobs = [failed("w", at="12:00:00"), failed("h", at="12:00:09", replicated="pathways-head")]
    _, conditions = outcome({"maxRestarts": 1, "rules": rules}, jobs)
    assert conditions == {
        "RestartingJobSet": (
            "FailurePolicy_head",
            "applying RestartJobSet failure policy action (first failed job: h)",
        )
    }
