"""Any JobSet is read for what it is: phase, head, workers, main container."""

import copy
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from fakes import objects
from fakes.objects import condition, ended, jobset

from xlaunch.core.roles import main_container
from xlaunch.core.workload import Phase, describe

DATA = Path(__file__).parents[1] / "data"
NEVER = condition("StartupPolicyCompleted", "True", at="2026-11-29T12:00:30Z")
ONCE = condition("StartupPolicyCompleted", "False")
IN_PROGRESS = condition("StartupPolicyInProgress")
RESTARTING = condition("RestartingJobSet", reason="DefaultFailurePolicy", message="applying RestartJobSet")
SUSPENDED = condition("Suspended", reason="SuspendedJobs", message="jobset is suspended")
QUEUE = {"kueue.x-k8s.io/queue-name": "multislice-queue"}

PHASES = [
    ("no status yet", jobset(ready=None), Phase.PENDING),
    ("nothing ready", jobset(ready=(0, 0), conditions=[IN_PROGRESS]), Phase.PENDING),
    ("the head is ready, the slices are not", jobset(ready=(1, 0), conditions=[IN_PROGRESS]), Phase.STARTING),
    ("all ready", jobset(conditions=[condition("StartupPolicyInProgress", "False"), NEVER]), Phase.RUNNING),
    ("all ready, any order", jobset(), Phase.RUNNING),
    ("a slice is down after all were up", jobset(ready=(1, 2), conditions=[IN_PROGRESS, ONCE]), Phase.RUNNING),
    (
        "JobSet 0.11 restarts it: no condition says so",
        jobset(ready=(0, 0), conditions=[ONCE], restarts=1),
        Phase.RESTARTING,
    ),
    ("JobSet 0.12 restarts it", jobset(ready=(0, 0), conditions=[NEVER, RESTARTING], restarts=1), Phase.RESTARTING),
    ("restart is over", jobset(conditions=[NEVER, condition("RestartingJobSet", "False", "JobsReady")]), Phase.RUNNING),
    ("suspended by a person", jobset(ready=(0, 0), suspend=True, conditions=[NEVER, SUSPENDED]), Phase.SUSPENDED),
    ("held by Kueue", jobset(ready=None, suspend=True, labels=QUEUE), Phase.QUEUED),
    ("resumed, not all ready", jobset(ready=(1, 0), suspend=False, conditions=[NEVER, SUSPENDED]), Phase.STARTING),
    ("suspended while restarting", jobset(suspend=True, conditions=[RESTARTING, SUSPENDED]), Phase.SUSPENDED),
    ("completed", ended("Completed", "AllJobsCompleted"), Phase.COMPLETED),
    ("failed while starting: InProgress stays True", ended("Failed", "ReachedMaxRestarts"), Phase.FAILED),
    (
        "an old JobSet without terminalState",
        jobset(conditions=[condition("Failed", reason="FailedJobs")]),
        Phase.FAILED,
    ),
    (
        "a condition that nobody knows",
        jobset(conditions=[NEVER, condition("Shiny", at="2027-01-01T00:00:00Z")]),
        Phase.RUNNING,
    ),
    (
        "a condition that is False is not its phase",
        jobset(conditions=[NEVER, condition("Failed", "False")]),
        Phase.RUNNING,
    ),
    ("being deleted", jobset(deleting=True, conditions=[NEVER]), Phase.DELETING),
    ("deleted after its end", {**ended("Failed", "X"), "metadata": jobset(deleting=True)["metadata"]}, Phase.FAILED),
    ("deleted while suspended", jobset(deleting=True, suspend=True, conditions=[SUSPENDED]), Phase.DELETING),
]


@pytest.mark.parametrize(("body", "phase"), [case[1:] for case in PHASES], ids=[case[0] for case in PHASES])
def test_the_phase_is_decided_in_a_fixed_order(body, phase):
    assert describe(body).phase is phase


def test_the_order_of_the_conditions_does_not_matter():
    body = ended("Failed", "ReachedMaxRestarts", "reached max")
    body["status"]["conditions"] = [NEVER, *body["status"]["conditions"], condition("RestartingJobSet", "False")]
    for _ in range(3):
        body["status"]["conditions"].append(body["status"]["conditions"].pop(0))
        found = describe(body)
        assert (found.phase, found.reason, found.message) == (Phase.FAILED, "ReachedMaxRestarts", "reached max")
        assert found.finished == datetime(2026, 11, 29, 13, tzinfo=UTC)


def test_the_reference_workload():
    found = describe(jobset(labels={**QUEUE, "xlaunch.dev/owner": "ada"}, restarts=2, restartsCountTowardsMax=1))
    assert (found.name, found.namespace, found.uid) == ("train", "default", "uid-train")
    assert (found.head.name, found.head.job(found.name), found.main_container) == (
        "pathways-head",
        "train-pathways-head-0",
        "main",
    )
    assert found.head.sidecars == ("pathways-rm", "pathways-proxy")
    [workers] = found.workers
    assert (workers.name, workers.replicas, workers.hosts, workers.backoff_limit) == ("worker", 3, 4, 40)
    assert (found.slices, found.chips) == (3, 48)
    assert (found.restarts, found.restarts_toward_max, found.max_restarts) == (2, 1, 3)
    assert (found.queue, found.owner) == ("multislice-queue", "ada")
    assert found.created == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert found.finished is None


def test_restarts_of_single_jobs_count_towards_the_same_limit():
    body = jobset(restartsCountTowardsMax=1)
    body["status"]["replicatedJobsStatus"][1]["jobRestartsCountTowardsMax"] = [0, 5, 1]
    assert describe(body).restarts_toward_max == 7


def containers(*names, **more):
    return {"spec": {"containers": [{"name": name} for name in names]}, **more}


def annotated(name):
    return {"metadata": {"annotations": {"kubectl.kubernetes.io/default-container": name}}}


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (containers("anything"), "anything"),
        (containers("a", "b", **annotated("b")), "b"),
        (containers("a", "b", **annotated("gone")), ""),
        (containers("a", "b"), ""),
        (containers("jax-tpu", "pathways-proxy", "pathways-rm"), "jax-tpu"),
        (containers("helper", "workload-container"), "workload-container"),
        (containers("pathways-proxy", "pathways-rm"), ""),
        ({}, ""),
    ],
)
def test_the_main_container(template, name):
    assert main_container(template) == name


def replicated(name, *, replicas=1, chips=0, hosts=1, names=("c",)):
    limits = {"limits": {"google.com/tpu": str(chips)}} if chips else {}
    pod = {"containers": [{"name": each, "resources": limits} for each in names]}
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {"completions": hosts, "parallelism": hosts, "template": {"spec": pod}}},
    }


def made(*jobs, **spec):
    return {"metadata": {"name": "x", "namespace": "n"}, "spec": {"replicatedJobs": list(jobs), **spec}}


@pytest.mark.parametrize(("typed", "chips"), [("4", 4), (4, 4), ("4000m", 4), ("1k", 1000), ("many", 0), ("1e0", 1)])
def test_chips_in_any_form_of_a_quantity(typed, chips):
    assert describe(made(replicated("worker", chips=typed))).chips == chips


ROLES = [
    (
        "xpk's Pathways",
        made(replicated("pathways-head", names=("jax-tpu",)), replicated("worker", replicas=2, chips=4)),
        "pathways-head",
        ["worker"],
    ),
    (
        "pathwaysutils",
        made(replicated("pathways-worker", chips=4), replicated("pathways-head")),
        "pathways-head",
        ["pathways-worker"],
    ),
    (
        "another name, found by the success policy",
        made(
            replicated("main"),
            replicated("rm"),
            replicated("worker", chips=4),
            successPolicy={"targetReplicatedJobs": ["main"]},
        ),
        "main",
        ["worker"],
    ),
    (
        "another name, found by the coordinator",
        made(replicated("driver"), replicated("worker", replicas=2, chips=4), coordinator={"replicatedJob": "driver"}),
        "driver",
        ["worker"],
    ),
    ("plain multislice", made(replicated("slice-job", replicas=4, chips=4, hosts=2)), None, ["slice-job"]),
    (
        "plain multislice whose first slice coordinates",
        made(replicated("slice-job", replicas=1, chips=4), coordinator={"replicatedJob": "slice-job"}),
        None,
        ["slice-job"],
    ),
    ("two kinds of slices", made(replicated("a", chips=4), replicated("b", chips=8)), None, ["a", "b"]),
    ("no TPU at all", made(replicated("pathways-head"), replicated("worker", replicas=2)), "pathways-head", ["worker"]),
    ("a head alone", made(replicated("pathways-head")), "pathways-head", []),
    ("nothing", made(), None, []),
]


@pytest.mark.parametrize(("body", "head", "workers"), [case[1:] for case in ROLES], ids=[case[0] for case in ROLES])
def test_roles_are_discovered(body, head, workers):
    found = describe(body)
    assert (found.head.name if found.head else None) == head
    assert [role.name for role in found.workers] == workers


def test_without_a_head_the_first_worker_carries_the_command():
    found = describe(made(replicated("slice-job", replicas=4, chips=4, hosts=2, names=("jax-tpu",))))
    assert (found.target.name, found.main_container, found.slices, found.chips) == ("slice-job", "jax-tpu", 4, 32)


def test_a_manifest_of_xpk_is_read_like_ours():
    body = yaml.safe_load((DATA / "xpk-pathways.yaml").read_text(encoding="utf-8"))
    found = describe(body)
    assert (found.head.name, found.main_container, found.slices) == ("pathways-head", "jax-tpu", 3)
    assert found.max_restarts == 0
    assert found.phase is Phase.PENDING


def test_describing_changes_nothing():
    body = objects.jobset()
    before = copy.deepcopy(body)
    describe(body)
    assert body == before
