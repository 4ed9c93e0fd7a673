"""One reconciliation of a JobSet as a table."""

import copy
from datetime import UTC, datetime, timedelta

import pytest
from fakes.cluster import reference_jobset

from xlaunch.local.controllers.jobset.build import child_job
from xlaunch.local.controllers.jobset.plan import plan

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def jobset(status=None, **spec):
    made = reference_jobset(**spec)
    made["metadata"]["uid"] = "uid"
    made["status"] = {"restarts": 0, **(status or {})}
    return made


def job(made, name, *, ready=None, suspended=False, end=None, attempt=0):
    """A child Job: `name` is "head" or a slice's index; `ready` pods (all by default)."""
    place = 0 if name == "head" else 1
    built = child_job(made, made["spec"]["replicatedJobs"][place], 0 if name == "head" else name)
    built["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] = str(attempt)
    built["spec"]["suspend"] = suspended
    count = built["spec"]["completions"] if ready is None else ready
    built["status"] = {"ready": count, "active": count}
    if end:
        condition = {"type": end, "status": "True", "lastTransitionTime": "2026-11-29T11:59:00Z"}
        built["status"] = {"conditions": [condition]}
    return built


def decide(made, jobs, now=NOW, scale=1.0):
    return plan(made, jobs, now, scale)


def created(decided):
    return [each["metadata"]["name"].removeprefix("demo-elastic-") for each in decided.create]


def workers(made, **options):
    return [job(made, index, **options) for index in range(3)]


def test_in_order_begins_with_the_head():
    decided = decide(jobset(), [])
    assert created(decided) == ["pathways-head-0"]
    assert decided.serve
    assert [note.reason for note in decided.notes] == ["InOrderStartupPolicyInProgress"]


def test_the_workers_come_when_the_head_is_ready():
    made = jobset()
    assert created(decide(made, [job(made, "head", ready=0)])) == []
    assert created(decide(made, [job(made, "head")])) == ["worker-0", "worker-1", "worker-2"]


def test_any_order_creates_all_at_once():
    decided = decide(jobset(startupPolicy={"startupPolicyOrder": "AnyOrder"}), [])
    assert created(decided) == ["pathways-head-0", "worker-0", "worker-1", "worker-2"]
    assert not decided.notes


def test_all_ready_completes_the_start():
    made = jobset()
    decided = decide(made, [job(made, "head"), *workers(made)])
    assert [note.reason for note in decided.notes] == ["InOrderStartupPolicyCompleted"]
    assert decided.status["replicatedJobsStatus"] == [
        {"name": "worker", "ready": 3, "succeeded": 0, "failed": 0, "active": 3, "suspended": 0},
        {"name": "pathways-head", "ready": 1, "succeeded": 0, "failed": 0, "active": 1, "suspended": 0},
    ]


def test_a_slice_that_is_no_longer_ready_reopens_the_start():
    made = jobset()
    first = decide(made, [job(made, "head"), *workers(made)])
    made["status"] = first.status
    jobs = [job(made, "head"), *workers(made)[:2], job(made, 2, ready=3)]
    again = decide(made, jobs)
    assert [note.reason for note in again.notes] == ["InOrderStartupPolicyInProgress"]
    by_type = {each["type"]: each["status"] for each in again.status["conditions"]}
    assert by_type == {"StartupPolicyCompleted": "False", "StartupPolicyInProgress": "True"}
    assert created(again) == []


def test_a_condition_that_was_flipped_off_keeps_its_time():
    made = jobset()
    made["status"] = decide(made, [job(made, "head"), *workers(made)]).status
    later = decide(made, [job(made, "head", ready=0), *workers(made)], NOW + timedelta(minutes=5))
    times = {each["type"]: each["lastTransitionTime"] for each in later.status["conditions"]}
    assert times["StartupPolicyCompleted"] == "2026-11-29T12:00:00Z"
    assert times["StartupPolicyInProgress"] == "2026-11-29T12:05:00Z"


@pytest.mark.parametrize(("strategy", "new"), [("BlockingRecreate", []), ("Recreate", ["pathways-head-0"])])
def test_a_restart_deletes_the_jobs_of_before(strategy, new):
    made = jobset({"restarts": 1}, failurePolicy={"maxRestarts": 3, "restartStrategy": strategy})
    old = workers(made, attempt=0)
    decided = decide(made, old)
    assert decided.delete == old
    assert created(decided) == new


def test_jobs_of_before_do_not_count():
    made = jobset({"restarts": 1})
    decided = decide(made, [job(made, 0, attempt=0, end="Failed")])
    assert decided.status["restarts"] == 1
    assert [each["failed"] for each in decided.status["replicatedJobsStatus"]] == [0, 0]


def test_a_failed_job_is_answered_before_anything_else():
    made = jobset()
    decided = decide(made, [job(made, "head", end="Failed")])
    assert decided.status["restarts"] == 1
    assert not decided.create
    assert not decided.serve


def test_success_is_what_the_policy_says():
    made = jobset()
    done = decide(made, [job(made, "head", end="Complete"), *workers(made)])
    assert done.status["terminalState"] == "Completed"
    assert not decide(made, [job(made, "head"), *workers(made, end="Complete")]).status.get("terminalState")
    any_of = jobset(successPolicy={"operator": "Any"})
    assert decide(any_of, [job(any_of, 1, end="Complete")]).status["terminalState"] == "Completed"
    all_of = jobset(successPolicy={"operator": "All"})
    jobs = [job(all_of, "head", end="Complete"), *workers(all_of, end="Complete")]
    assert not decide(all_of, jobs[:-1]).status.get("terminalState")
    assert decide(all_of, jobs).status["terminalState"] == "Completed"


@pytest.mark.parametrize(
    ("ttl", "after", "scale", "wait", "expired"),
    [
        (None, 10, 1, None, False),
        (120, 10, 1, 110, False),
        (120, 120, 1, None, True),
        (0, 0, 1, None, True),
        (120, 10, 0.1, 20, False),
    ],
)
def test_after_the_end(ttl, after, scale, wait, expired):
    end = {"type": "Completed", "status": "True", "lastTransitionTime": "2026-11-29T12:00:00Z"}
    made = jobset({"conditions": [end]}, ttlSecondsAfterFinished=ttl)
    running = workers(made)
    decided = decide(made, [job(made, "head", end="Complete"), *running], NOW + timedelta(seconds=after), scale)
    assert decided.delete == running
    assert (decided.wait, decided.expired) == (pytest.approx(wait) if wait else None, expired)
    assert not decided.create


def test_suspending_stops_every_job_that_runs():
    made = jobset(suspend=True)
    running, stopped = job(made, "head"), job(made, 0, suspended=True)
    decided = decide(made, [running, stopped])
    assert decided.suspend == [running]
    assert created(decided) == ["worker-1", "worker-2"], "all Jobs exist, suspended"
    assert all(each["spec"]["suspend"] for each in decided.create)
    assert [note.reason for note in decided.notes] == ["SuspendedJobs"]


def test_resuming_goes_in_order_and_is_over_when_all_are_ready():
    suspended = {"type": "Suspended", "status": "True", "reason": "SuspendedJobs", "message": "x",
                 "lastTransitionTime": "2026-11-29T11:00:00Z"}  # fmt: skip
    made = jobset({"conditions": [suspended]})
    head = job(made, "head", suspended=True, ready=0)
    rest = workers(made, suspended=True, ready=0)
    first = decide(made, [head, *rest])
    assert [(each["metadata"]["name"], patch) for each, patch in first.resume] == [
        ("demo-elastic-pathways-head-0", {"spec": {"suspend": False}})
    ]
    second = decide(made, [job(made, "head"), *rest])
    assert [each for each, _ in second.resume] == rest
    assert "ResumeJobs" not in [note.reason for note in second.notes]
    third = decide(made, [job(made, "head"), *workers(made)])
    assert "ResumeJobs" in [note.reason for note in third.notes]


def test_resuming_brings_what_changed_in_the_template():
    made = jobset()
    head = job(made, "head", suspended=True, ready=0)
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["nodeSelector"]["pool"] = "new"
    pod["spec"]["tolerations"] = [{"key": "t", "operator": "Exists"}]
    pod["metadata"]["labels"] = {"l": "1"}
    ((_, patch),) = decide(made, [head]).resume
    assert patch["spec"]["suspend"] is False
    assert patch["spec"]["template"] == {
        "metadata": {"labels": {"l": "1"}},
        "spec": {"nodeSelector": {"pool": "new"}, "tolerations": [{"key": "t", "operator": "Exists"}]},
    }


@pytest.mark.parametrize(
    ("status", "end", "ready", "reached"),
    [
        ("Ready", None, 1, True),
        ("Ready", None, 0, False),
        ("Ready", "Complete", 0, True),
        ("Complete", None, 1, False),
        ("Complete", "Complete", 0, True),
    ],
)
def test_dependencies(status, end, ready, reached):
    made = jobset(startupPolicy={"startupPolicyOrder": "AnyOrder"}, successPolicy={"operator": "All"})
    made["spec"]["replicatedJobs"][1]["dependsOn"] = [{"name": "pathways-head", "status": status}]
    decided = decide(made, [job(made, "head", end=end, ready=ready)])
    assert created(decided) == (["worker-0", "worker-1", "worker-2"] if reached else [])


def test_a_restart_is_over_when_all_are_ready():
    restarting = {"type": "RestartingJobSet", "status": "True", "reason": "DefaultFailurePolicy", "message": "x",
                  "lastTransitionTime": "2026-11-29T11:00:00Z"}  # fmt: skip
    made = jobset({"restarts": 1, "conditions": [restarting]})
    jobs = [job(made, "head", attempt=1), *workers(made, attempt=1)]
    decided = decide(made, jobs)
    assert [note.reason for note in decided.notes] == ["JobsReady", "InOrderStartupPolicyCompleted"]


def test_deciding_changes_nothing_that_was_given():
    made = jobset()
    jobs = [job(made, "head"), *workers(made)]
    before = copy.deepcopy((made, jobs))
    decide(made, jobs)
    assert (made, jobs) == before
