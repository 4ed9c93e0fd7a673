"""States that do not pass by themselves are found, and nothing else is called one."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, ended, job, jobset, on_silent_node, pod, status, terminated

from xlaunch.core.alarms import alarms
from xlaunch.core.workload import describe

FAILURE_TARGET = condition("FailureTarget", reason="BackoffLimitExceeded")
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"


def found(body=None, jobs=(), pods=(), after=60.0):
    body = body or jobset()
    told = alarms(describe(body), body, list(jobs), list(pods), START + timedelta(seconds=after))
    return [(alarm.reason, alarm.next) for alarm in told]


def leader(**more):
    made = pod("worker", 1, 0, **more)
    made["metadata"]["annotations"] = {EXCLUSIVE: "cloud.google.com/gke-nodepool"}
    return made


def sliced():
    made = jobset()
    rule = {"name": "slice_only", "action": "RestartJob", "targetReplicatedJobs": ["worker"]}
    made["spec"]["failurePolicy"]["rules"] = [rule, {"name": "rest", "action": "RestartJobSet"}]
    return made


SILENT = on_silent_node(pod("worker", 1, 3, deleted="2026-11-29T12:00:30Z"))
DEAD = pod("worker", 1, 3, deleted="2026-11-29T12:00:00Z")
SUCCEEDED = pod("worker", 1, 3, phase="Succeeded", statuses=[status(state=terminated(0))])
RESTART_JOB = ("WorkerSucceeded", "kubectl delete job train-worker-1 -n default")
FORCE = ("StuckOnDeadNode", "kubectl delete pod train-worker-1-3-aaaaa -n default --force --grace-period=0")
NEXT_LEADER = leader(suffix="bbbbb", phase="Pending")
MAKE_ANEW = ("SliceNotRestarted", "kubectl delete job train-worker-1 -n default")
DROP_LEADER = ("FailedLeader", "kubectl delete pod train-worker-1-0-aaaaa -n default")

FAILED = job("worker", 1, conditions=[condition("Failed")])
GONE_SOON = job("worker", 1, conditions=[condition("Failed")])
GONE_SOON["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:30Z"

CASES = [
    ("all is well", {}, []),
    ("B: a worker's pod has succeeded", {"pods": [SUCCEEDED]}, [RESTART_JOB]),
    ("B: its Job has counted it", {"jobs": [job("worker", 1, succeeded=1, completedIndexes="3")]}, [RESTART_JOB]),
    ("B: both say so, it is one", {"jobs": [job("worker", 1, succeeded=1)], "pods": [SUCCEEDED]}, [RESTART_JOB]),
    ("the head may succeed", {"jobs": [job("pathways-head", succeeded=1)]}, []),
    (
        "C: a Job that must end waits for a dead node",
        {"jobs": [job("worker", 1, conditions=[FAILURE_TARGET])], "pods": [DEAD]},
        [FORCE],
    ),
    (
        "C: a Job that has ended does not wait",
        {"jobs": [job("worker", 1, conditions=[FAILURE_TARGET, condition("Failed")])], "pods": [DEAD]},
        [],
    ),
    ("C: a Job that only replaces does not wait", {"jobs": [job("worker", 1)], "pods": [DEAD]}, []),
    (
        "C: the grace period is not over",
        {"jobs": [job("worker", 1, conditions=[FAILURE_TARGET])], "pods": [DEAD], "after": 20.0},
        [],
    ),
    (
        "C: the node is known to be silent, so nothing is to be waited for",
        {"jobs": [job("worker", 1, conditions=[FAILURE_TARGET])], "pods": [SILENT], "after": 20.0},
        [FORCE],
    ),
    (
        "C: a pod on a silent node has not been told to go yet",
        {"jobs": [job("worker", 1, conditions=[FAILURE_TARGET])], "pods": [on_silent_node(pod("worker", 1, 3))]},
        [],
    ),
    ("E: a failed leader beside the next", {"pods": [leader(phase="Failed"), NEXT_LEADER]}, [DROP_LEADER]),
    ("E: it waits to be replaced", {"pods": [leader(phase="Failed")]}, []),
    ("E: it is being deleted", {"pods": [leader(phase="Failed", deleted="2026-11-29T12:00:00Z"), NEXT_LEADER]}, []),
    ("E: the one of another slice", {"pods": [leader(phase="Failed"), pod("worker", 2, 0, suffix="bbbbb")]}, []),
    (
        "E: without exclusive placement it harms nobody",
        {"pods": [pod("worker", 1, 0, phase="Failed"), pod("worker", 1, 0, suffix="bbbbb")]},
        [],
    ),
    ("E: a failed follower harms nobody", {"pods": [pod("worker", 1, 2, phase="Failed")]}, []),
    (
        "no status for a minute",
        {"body": jobset(ready=None)},
        [("NoStatus", "kubectl logs -n jobset-system deployment/jobset-controller-manager")],
    ),
    ("a slice that JobSet should restart alone", {"body": sliced(), "jobs": [FAILED]}, [MAKE_ANEW]),
    ("it has not had the time yet", {"body": sliced(), "jobs": [FAILED], "after": 10.0}, []),
    ("it is at it", {"body": sliced(), "jobs": [GONE_SOON]}, []),
    ("the Job goes on", {"body": sliced(), "jobs": [job("worker", 1, conditions=[FAILURE_TARGET])]}, []),
    ("without such a rule JobSet restarts all", {"jobs": [FAILED]}, []),
    (
        "the head's Job is restarted with all",
        {"body": sliced(), "jobs": [job("pathways-head", conditions=[condition("Failed")])]},
        [],
    ),
    ("no status yet", {"body": jobset(ready=None), "after": 5.0}, []),
    ("suspended without a status", {"body": jobset(ready=None, suspend=True)}, []),
    (
        "after the end nothing calls",
        {"body": ended("Failed", "X"), "pods": [SUCCEEDED, leader(phase="Failed"), NEXT_LEADER]},
        [],
    ),
]


@pytest.mark.parametrize(("given", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_alarms(given, expected):
    assert found(**given) == expected


def test_workers_without_a_head_are_meant_to_succeed():
    body = jobset()
    body["spec"]["replicatedJobs"] = [each for each in body["spec"]["replicatedJobs"] if each["name"] == "worker"]
    del body["spec"]["coordinator"]
    assert found(body, pods=[SUCCEEDED]) == []
