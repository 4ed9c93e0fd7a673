"""What a living workload's JobSet lets be changed by kubectl, and what not; xlaunch reads what was changed."""

import pytest
from following import counting
from looking import conditions
from losing import limit
from refusing import Asking
from worlds import until

pytestmark = pytest.mark.e2e

POLICY = "spec.failurePolicy: Invalid value: Value is immutable"
JOBS = "spec.replicatedJobs: Invalid value: field is immutable"


def replicated_jobs(cluster, name, change):
    """All replicated jobs with a change in the last one: lists are replaced as a whole."""
    found = cluster.get("jobset", name)["spec"]["replicatedJobs"]
    change(found[-1])
    return {"replicatedJobs": found}


def more_replicas(job):
    job["replicas"] += 1


def another_image(job):
    job["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = "other"


def another_selector(job):
    job["template"]["spec"]["template"]["spec"]["nodeSelector"]["zone"] = "a"


@pytest.mark.verified("11.5", "11.6", "11.7", "11.8")
def test_what_may_change_and_what_not(cluster):
    patch = Asking(cluster).of_change
    counting(cluster, "fixed", "--queue=none")
    refused = [replicated_jobs(cluster, "fixed", change) for change in (more_replicas, another_image, another_selector)]
    assert [patch("fixed", {"failurePolicy": {"maxRestarts": 9}}), *(patch("fixed", each) for each in refused)] == [
        POLICY,
        JOBS,
        JOBS,
        JOBS,
    ]
    assert patch("fixed", {"ttlSecondsAfterFinished": 60}) == ""
    assert patch("fixed", {"coordinator": {"replicatedJob": "worker"}}) == ""
    limit(cluster, "fixed-worker-0", 99)
    status = cluster.json("status", "fixed")
    assert (status["phase"], status["slices"][0]["budgetLeft"]) == ("Running", 99)

    assert patch("fixed", {"suspend": True}) == ""
    until(lambda: conditions(cluster, "jobset", "fixed").get("Suspended", ("",))[0] == "True", "the suspension")
    assert patch("fixed", {"failurePolicy": {"maxRestarts": 9}}) == POLICY
    assert patch("fixed", refused[0]) == JOBS
    assert patch("fixed", refused[1]) == JOBS
    assert patch("fixed", refused[2]) == ""
