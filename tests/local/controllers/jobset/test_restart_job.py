"""The RestartJob feature gate piece by piece: refusals, labels, counters, and which Jobs are made anew."""

import asyncio
import copy
from datetime import UTC, datetime

import pytest
from fakes.cluster import VirtualClock, reference_jobset

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.jobset.build import child_job
from xlaunch.local.controllers.jobset.plan import plan
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
GATES = ("RestartJob",)
ATTEMPT = "jobset.sigs.k8s.io/job-restart-attempt"
RULES = (
    {"name": "slice_only", "action": "RestartJob", "targetReplicatedJobs": ["worker"]},
    {"name": "head_or_other", "action": "RestartJobSet"},
)


def jobset(*, restarts=None, towards_max=None, rules=RULES, most=2, **status):
    """The reference JobSet with the rules of --restart-scope=slice; `restarts` and `towards_max` are its counters."""
    made = reference_jobset(failurePolicy={"maxRestarts": most, "restartStrategy": "Recreate", "rules": list(rules)})
    made["metadata"]["uid"] = "uid"
    counters = {"jobRestarts": restarts, "jobRestartsCountTowardsMax": towards_max}
    entry = {"name": "worker", **{name: counts for name, counts in counters.items() if counts}}
    made["status"] = {"restarts": 0, "replicatedJobsStatus": [entry], **status}
    return made


def job(made, index, *, end=None, attempt=None, at="11:59:00"):
    """A child Job: a slice by its index, or "head"."""
    place, number = (0, 0) if index == "head" else (1, index)
    built = child_job(made, made["spec"]["replicatedJobs"][place], number, GATES)
    if attempt is not None:
        built["metadata"]["labels"][ATTEMPT] = attempt
    hosts = built["spec"]["completions"]
    built["status"] = {"ready": hosts, "active": hosts}
    if end:
        condition = {"type": end, "status": "True", "lastTransitionTime": f"2026-11-29T{at}Z"}
        built["status"] = {"conditions": [condition]}
    return built


def decide(made, jobs, gates=GATES):
    return plan(made, jobs, NOW, 1.0, gates)


def names(jobs):
    return [each["metadata"]["name"].removeprefix("demo-elastic-") for each in jobs]


def workers_entry(decided):
    return decided.status["replicatedJobsStatus"][0]


def lose(made, *lost):
    """What is decided when these slices have failed, the first of them first."""
    ends = {index: f"11:59:{second:02}" for second, index in enumerate(lost)}
    slices = [job(made, index, end="Failed" if index in ends else None, at=ends.get(index, "")) for index in range(3)]
    return decide(made, [job(made, "head"), *slices])


@pytest.mark.parametrize(("restarts", "after"), [(None, [0, 1, 0]), ([0, 1, 0], [0, 2, 0]), ([1, 0, 0], [1, 1, 0])])
def test_a_failed_slice_counts_by_its_index(restarts, after):
    decided = lose(jobset(restarts=restarts, towards_max=restarts, most=9), 1)
    entry = workers_entry(decided)
    assert (entry["jobRestarts"], entry["jobRestartsCountTowardsMax"]) == (after, after)
    assert decided.status["restarts"] == 0
    assert "restartsCountTowardsMax" not in decided.status
    (note,) = decided.notes
    assert (note.type, note.reason) == ("Warning", "RestartJobFailurePolicyAction")
    assert note.message == "applying RestartJob failure policy action (first failed job: demo-elastic-worker-1)"
    assert "conditions" not in decided.status


def test_of_two_slices_that_have_failed_the_first_is_taken_first():
    assert workers_entry(lose(jobset(), 2, 0))["jobRestarts"] == [0, 0, 1]


def test_the_other_action_does_not_count_towards_the_maximum():
    rules = [{"name": "r", "action": "RestartJobAndIgnoreMaxRestarts", "targetReplicatedJobs": ["worker"]}]
    decided = lose(jobset(rules=rules, most=0), 0)
    assert workers_entry(decided)["jobRestarts"] == [1, 0, 0]
    assert "jobRestartsCountTowardsMax" not in workers_entry(decided)
    assert [note.reason for note in decided.notes] == ["RestartJobAndIgnoreMaxRestartsFailurePolicyAction"]


@pytest.mark.parametrize(
    ("alone", "whole", "failed", "ends"),
    [
        ([0, 1, 0], 0, "slice", False),
        ([0, 2, 0], 0, "slice", True),
        ([1, 1, 0], 0, "slice", True),
        ([0, 1, 0], 1, "slice", True),
        ([0, 2, 0], 0, "head", True),
        ([0, 0, 1], 0, "head", False),
        ([0, 0, 1], 1, "head", True),
    ],
)
def test_slices_and_the_whole_share_one_budget(alone, whole, failed, ends):
    made = jobset(restarts=alone, towards_max=alone, restartsCountTowardsMax=whole)
    head = job(made, "head", end="Failed" if failed == "head" else None)
    slices = [job(made, index, end="Failed" if failed == "slice" and index == 1 else None) for index in range(3)]
    decided = decide(made, [head, *slices])
    assert decided.status.get("terminalState") == ("Failed" if ends else None)
    if ends:
        reasons = {each["type"]: each["reason"] for each in decided.status["conditions"]}
        assert reasons["Failed"] == "ReachedMaxRestarts"


def test_only_the_job_that_is_behind_is_deleted():
    made = jobset(restarts=[0, 1, 0])
    jobs = [job(made, "head"), job(made, 0), job(made, 1, end="Failed", attempt="0"), job(made, 2)]
    decided = decide(made, jobs)
    assert names(decided.delete) == ["worker-1"]
    assert names(decided.create) == []
    assert [note.reason for note in decided.notes] == ["InOrderStartupPolicyInProgress"]


def test_its_next_attempt_carries_the_count():
    made = jobset(restarts=[0, 5, 0])
    (created,) = decide(made, [job(made, "head"), job(made, 0), job(made, 2)]).create
    assert created["metadata"]["name"] == "demo-elastic-worker-1"
    pods = created["spec"]["template"]["metadata"]
    for place in (created["metadata"], pods):
        assert place["labels"][ATTEMPT] == place["annotations"][ATTEMPT] == "5"
        assert place["labels"]["jobset.sigs.k8s.io/restart-attempt"] == "0"


def test_every_job_has_the_label_with_the_gate_and_none_without():
    made = jobset()
    head = made["spec"]["replicatedJobs"][0]
    assert child_job(made, head, 0, GATES)["metadata"]["labels"][ATTEMPT] == "0"
    assert ATTEMPT not in child_job(made, head, 0)["metadata"]["labels"]


def test_a_job_from_before_the_gate_stays():
    made = jobset(restarts=[1, 1, 1])
    before = [child_job(made, made["spec"]["replicatedJobs"][1], index) for index in range(3)]
    assert not decide(made, [job(made, "head"), *before]).delete


def test_the_counters_are_absent_before_the_first_restart_and_dropped_without_the_gate():
    made = jobset()
    assert "jobRestarts" not in workers_entry(decide(made, [job(made, "head")]))
    counted = jobset(restarts=[0, 1, 0], towards_max=[0, 1, 0])
    kept = workers_entry(decide(counted, [job(counted, "head")]))
    assert (kept["jobRestarts"], kept["jobRestartsCountTowardsMax"]) == ([0, 1, 0], [0, 1, 0])
    assert "jobRestarts" not in workers_entry(decide(counted, [job(counted, "head")], gates=()))


def test_a_restart_of_the_whole_keeps_the_counters():
    made = jobset(restarts=[0, 1, 0], towards_max=[0, 1, 0])
    decided = decide(made, [job(made, "head", end="Failed"), *(job(made, index) for index in range(3))])
    assert decided.status["restarts"] == 1
    assert workers_entry(decided)["jobRestarts"] == [0, 1, 0]


def test_deciding_changes_nothing_that_was_given():
    made = jobset(restarts=[0, 1, 0], towards_max=[0, 1, 0])
    jobs = [job(made, "head"), job(made, 0), job(made, 1, end="Failed"), job(made, 2)]
    before = copy.deepcopy((made, jobs))
    decide(made, jobs)
    assert (made, jobs) == before


def create(made, gates):
    made = copy.deepcopy(made)
    del made["status"], made["metadata"]["uid"]
    return asyncio.run(EmbeddedKube(VirtualClock(), hooks(gates)).create("jobsets", made, "default"))


def test_the_gate_decides_whether_the_rules_are_taken():
    assert create(jobset(), GATES)["spec"]["failurePolicy"]["rules"][0]["action"] == "RestartJob"
    with pytest.raises(StatusError, match="not allowed when RestartJob feature gate is disabled") as refusal:
        create(jobset(), ())
    assert refusal.value.code == 422


@pytest.mark.parametrize(
    ("action", "replicas", "taken"),
    [("RestartJob", 1024, True), ("RestartJob", 1025, False), ("FailJobSet", 1025, True)],
)
def test_so_many_jobs_may_be_restarted_alone(action, replicas, taken):
    made = jobset(rules=[{"name": "r", "action": action}])
    made["spec"]["replicatedJobs"][1]["replicas"] = replicas
    if taken:
        create(made, GATES)
        return
    with pytest.raises(StatusError) as refusal:
        create(made, GATES)
    assert (
        "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a"
        " replicated job with replicas > 1024"
    ) in refusal.value.message


def test_without_the_gate_nothing_else_of_the_rules_is_said():
    made = jobset(rules=[{"name": "r", "action": "RestartJob"}, {"name": "r", "action": "FailJobSet"}])
    with pytest.raises(StatusError) as refusal:
        create(made, ())
    assert "rule names are not unique" not in refusal.value.message
    with pytest.raises(StatusError, match="rule names are not unique"):
        create(made, GATES)
