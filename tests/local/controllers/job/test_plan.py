"""One sync of a Job as a table: what it decides, and what it then writes."""

from datetime import UTC, datetime, timedelta

import pytest

from xlaunch.local.controllers.job.account import account, conclude, settle
from xlaunch.local.controllers.job.backoff import Record
from xlaunch.local.controllers.job.plan import Situation, plan

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
FRESH = Record()
INDEX = "batch.kubernetes.io/job-completion-index"
TRACKING = "batch.kubernetes.io/job-tracking"


def pod(index, phase="Running", *, uid=None, deleting=False, tracked=True, ready=True, code=0):
    meta = {
        "name": f"j-{index}-x",
        "namespace": "ns",
        "uid": uid or f"u{index}",
        "annotations": {INDEX: str(index)},
        "finalizers": [TRACKING] if tracked else [],
    }
    if deleting:
        meta["deletionTimestamp"] = "2026-11-29T12:00:30Z"
    statuses = [{"name": "m", "restartCount": 0, "state": {"terminated": {"exitCode": code}} if code else {}}]
    conditions = [{"type": "Ready", "status": "True" if ready and phase == "Running" else "False"}]
    return {
        "metadata": meta,
        "spec": {},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": statuses},
    }


def situation(pods, *, status=None, record=FRESH, now=NOW, deleting=False, **spec):
    job = {
        "metadata": {"name": "j", "namespace": "ns", "uid": "job", **({"deletionTimestamp": "x"} if deleting else {})},
        "spec": {
            "completionMode": "Indexed",
            "completions": 4,
            "parallelism": 4,
            "backoffLimit": 2,
            "template": {"spec": {"restartPolicy": "Never"}},
            **spec,
        },
        "status": {"startTime": "2026-11-29T11:00:00Z"} if status is None else status,
    }
    return Situation(job, pods, record, {}, now, 1.0)


def names(pods):
    return [each["metadata"]["name"] for each in pods]


FOUR = [pod(0), pod(1), pod(2), pod(3)]


@pytest.mark.parametrize(
    ("given", "create", "wait"),
    [
        (situation([]), [0, 1, 2, 3], None),
        (situation([pod(1)]), [0, 2, 3], None),
        (situation([], parallelism=2), [0, 1], None),
        (situation(FOUR), [], None),
        (situation(FOUR[:3], record=Record(1, NOW)), [], 10),
        (situation(FOUR[:3], record=Record(3, NOW - timedelta(seconds=15))), [], 25),
        (situation(FOUR[:3], record=Record(1, NOW - timedelta(seconds=10))), [3], None),
        (situation([*FOUR[:3], pod(3, deleting=True)]), [], 10),
        (situation([*FOUR[:3], pod(3, "Failed")]), [], 10),
        (situation([*FOUR[:3], pod(3, "Failed", tracked=False)]), [3], None),
        (situation([*FOUR[:3], pod(3, deleting=True)], podReplacementPolicy="Failed"), [], None),
        (situation([*FOUR[:3], pod(3, "Succeeded")]), [], None),
        (situation(FOUR[1:], status={"completedIndexes": "0", "succeeded": 1}), [], None),
        (situation([], status={"completedIndexes": "0-2", "succeeded": 3}), [3], None),
        (situation([], completionMode="NonIndexed", completions=None, parallelism=2), [None, None], None),
    ],
)
def test_what_is_created_and_what_waits(given, create, wait):
    decided = plan(given)
    assert list(decided.create) == create
    assert decided.wait == (pytest.approx(wait) if wait else None)
    assert decided.finish is None
    assert not decided.delete


@pytest.mark.parametrize(
    ("given", "delete"),
    [
        (situation([*FOUR, pod(1, uid="twin")]), ["j-1-x"]),
        (situation([*FOUR, pod(7)]), ["j-7-x"]),
        (situation(FOUR, parallelism=3), ["j-0-x"]),
        (situation([pod(0), pod(1), pod(2, ready=False), pod(3)], parallelism=3), ["j-2-x"]),
    ],
)
def test_pods_too_many_go_and_do_not_count(given, delete):
    decided = plan(given)
    assert names(decided.delete) == delete
    assert decided.uncounted
    assert "failed" not in account(given, decided, 0).status


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (situation([pod(0), *[pod(index, "Failed") for index in (1, 2, 3)]]), "BackoffLimitExceeded"),
        (situation(FOUR, status={"failed": 3}), "BackoffLimitExceeded"),
        (situation([*FOUR[:3], pod(3, deleting=True)], status={"failed": 2}), "BackoffLimitExceeded"),
        (situation(FOUR, status={"startTime": "2026-11-29T11:00:00Z"}, activeDeadlineSeconds=3600), "DeadlineExceeded"),
        (
            situation(
                [*FOUR[:3], pod(3, "Failed", code=42)],
                podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]},
            ),
            "PodFailurePolicy",
        ),
    ],
)
def test_what_fails_the_job_deletes_its_pods_and_counts_them(given, reason):
    decided = plan(given)
    assert (decided.finish["type"], decided.finish["reason"]) == ("FailureTarget", reason)
    assert names(decided.delete) == names(given.active)
    assert not decided.uncounted
    result = account(given, decided, 0)
    assert len(result.status["uncountedTerminatedPods"]["failed"]) == len(given.pods)
    assert result.status["conditions"][-1]["type"] == "FailureTarget"


def test_ignored_failures_do_not_count():
    policy = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]}
    given = situation([*FOUR[:3], pod(3, "Failed", code=42)], podFailurePolicy=policy, backoffLimit=0)
    decided = plan(given)
    assert decided.finish is None
    result = account(given, decided, 0)
    assert result.status["uncountedTerminatedPods"] == {}
    assert names(result.release) == ["j-3-x"], "it is let go all the same"


def test_the_deadline_is_waited_for():
    given = situation(FOUR, activeDeadlineSeconds=3700)
    assert plan(given).wait == pytest.approx(100)


def test_a_lost_pod_is_counted_in_two_steps():
    given = situation([*FOUR[:3], pod(3, deleting=True)], status={"failed": 1, "startTime": "x", "active": 4})
    decided = plan(given)
    first = account(given, decided, 0)
    assert first.status["uncountedTerminatedPods"] == {"failed": ["u3"]}
    assert (first.status["failed"], first.status["active"], first.status["ready"]) == (1, 3, 3)
    assert first.status["terminating"] == 1
    settle(first.status, ["u0", "u1", "u2"])
    assert (first.status["failed"], first.status["uncountedTerminatedPods"]) == (2, {})
    assert decided.record.failures == 1
    # The next sync finds it counted
    again = situation([*FOUR[:3], pod(3, deleting=True, tracked=False)], status=first.status, record=decided.record)
    assert plan(again).record == decided.record
    assert account(again, plan(again), 0).status["failed"] == 2


def test_a_sync_that_broke_off_after_the_first_step_does_not_count_twice():
    status = {"startTime": "x", "uncountedTerminatedPods": {"failed": ["u3"]}}
    given = situation([*FOUR[:3], pod(3, "Failed")], status=status, record=Record(1, NOW))
    decided = plan(given)
    assert decided.record.failures == 1
    assert account(given, decided, 0).status["uncountedTerminatedPods"] == {"failed": ["u3"]}


def test_all_succeeded_is_complete_once_counted():
    given = situation([pod(index, "Succeeded") for index in range(4)])
    decided = plan(given)
    assert (decided.finish["type"], decided.finish["reason"]) == ("SuccessCriteriaMet", "CompletionsReached")
    result = account(given, decided, 0)
    assert (result.status["succeeded"], result.status["completedIndexes"]) == (4, "0-3")
    final = conclude(result.status, decided, result.terminating, NOW)
    assert final["type"] == "Complete"
    assert result.status["completionTime"] == "2026-11-29T12:00:00Z"
    assert [each["type"] for each in result.status["conditions"]] == ["SuccessCriteriaMet", "Complete"]


def test_a_job_of_no_completions_is_complete_at_once():
    given = situation([], completions=0)
    decided = plan(given)
    result = account(given, decided, 0)
    assert conclude(result.status, decided, result.terminating, NOW)["type"] == "Complete"


@pytest.mark.parametrize(("terminating", "uncounted"), [(1, {}), (0, {"failed": ["u1"]})])
def test_the_end_waits_for_pods_that_end_or_are_not_counted(terminating, uncounted):
    given = situation(FOUR, status={"failed": 3, "uncountedTerminatedPods": uncounted})
    decided = plan(given)
    status = {"uncountedTerminatedPods": uncounted, "conditions": []}
    assert conclude(status, decided, terminating, NOW) is None
    assert status["conditions"] == []


def test_a_failure_target_of_before_is_carried_to_the_end():
    target = {"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}
    given = situation([pod(3, "Failed", tracked=False)], status={"failed": 4, "conditions": [target]})
    decided = plan(given)
    result = account(given, decided, 0)
    assert result.status["conditions"] == [target], "once is enough"
    final = conclude(result.status, decided, result.terminating, NOW)
    assert (final["type"], final["reason"], final["message"]) == ("Failed", "BackoffLimitExceeded", "m")


def test_suspending_deletes_all_and_counts_none():
    given = situation(FOUR, suspend=True)
    decided = plan(given)
    assert len(decided.delete) == 4
    assert decided.uncounted
    assert [note.reason for note in decided.notes] == ["Suspended"]
    assert "startTime" not in decided.status
    result = account(given, decided, 0)
    assert result.release == []
    assert "failed" not in result.status
    assert result.status["conditions"][0]["reason"] == "JobSuspended"


def test_resuming_sets_the_start_time_anew():
    suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
    decided = plan(situation([], status={"conditions": [suspended]}))
    assert [note.reason for note in decided.notes] == ["Resumed"]
    assert decided.status["startTime"] == "2026-11-29T12:00:00Z"
    assert list(decided.create) == [0, 1, 2, 3]
    assert plan(situation(FOUR, status={"conditions": decided.status["conditions"], "startTime": "x"})).notes == []


def test_a_job_that_is_being_deleted_creates_nothing_and_lets_its_pods_go():
    given = situation([pod(0, deleting=True), pod(1)], deleting=True)
    decided = plan(given)
    assert list(decided.create) == []
    result = account(given, decided, 0)
    assert names(result.release) == ["j-0-x", "j-1-x"]
    assert result.status["uncountedTerminatedPods"] == {"failed": ["u0"]}
