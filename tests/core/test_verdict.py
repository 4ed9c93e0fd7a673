"""A wait ends when its condition holds, or when it can no longer come true."""

import pytest
from fakes.objects import condition, ended, jobset

from xlaunch.core.verdict import judge
from xlaunch.core.workload import describe

STARTING = jobset(ready=(1, 0), conditions=[condition("StartupPolicyInProgress")])
RUNNING = jobset(conditions=[condition("StartupPolicyCompleted")])
RESTARTING = jobset(conditions=[condition("StartupPolicyCompleted"), condition("RestartingJobSet")])
COMPLETED, FAILED = ended("Completed", "AllJobsCompleted"), ended("Failed", "ReachedMaxRestarts")
DELETING, SUSPENDED = jobset(deleting=True), jobset(suspend=True)
OPEN = None

CASES = [
    ("running", STARTING, OPEN),
    ("running", RUNNING, ("Running", True)),
    ("running", RESTARTING, OPEN),
    ("running", SUSPENDED, OPEN),
    ("running", COMPLETED, ("Completed", False)),
    ("running", FAILED, ("Failed", False)),
    ("running", DELETING, ("Deleting", False)),
    ("running", None, ("Deleted", False)),
    ("done", STARTING, OPEN),
    ("done", RUNNING, OPEN),
    ("done", RESTARTING, OPEN),
    ("done", COMPLETED, ("Completed", True)),
    ("done", FAILED, ("Failed", False)),
    ("done", DELETING, ("Deleting", False)),
    ("done", None, ("Deleted", False)),
    ("deleted", RUNNING, OPEN),
    ("deleted", DELETING, OPEN),
    ("deleted", FAILED, OPEN),
    ("deleted", None, ("Deleted", True)),
]


@pytest.mark.parametrize(("goal", "body", "expected"), CASES)
def test_judge(goal, body, expected):
    found = judge(goal, describe(body) if body else None)
    assert (found and (found.result, found.holds)) == expected


def test_the_reason_is_jobsets_own():
    found = judge("done", describe(ended("Failed", "ReachedMaxRestarts", "reached max (first failed job: x)")))
    assert (found.reason, found.message) == ("ReachedMaxRestarts", "reached max (first failed job: x)")
