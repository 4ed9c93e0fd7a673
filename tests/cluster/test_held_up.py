"""What keeps pods from running, or from being created: pods say the one, events of JobSet and of Jobs the other."""

import pytest
from fakes.api import ScriptedApi, object_list, status_error, thing
from fakes.objects import condition, jobset, pod

from xlaunch.cluster.held_up import held_up, why_uncreated
from xlaunch.core.errors import NetworkError
from xlaunch.core.workload import describe

FORBIDDEN = status_error(403, "Forbidden", "no")
MISSING = status_error(404, "NotFound", "no such Job")
HEAD = pod("pathways-head")
SLICES = [pod("worker", index, host) for index in range(3) for host in range(4)]
REFUSED = 'job "train-worker-1" creation failed with error: Job.batch "train-worker-1" is invalid: no volume'
TAKEN = 'job "train-worker-1" creation failed with error: jobs.batch "train-worker-1" already exists'
QUOTA = 'Error creating: pods "train-worker-1-0-x7k2p" is forbidden: exceeded quota'


UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/5 nodes")


def test_what_holds_a_workload_up_is_told_of_the_head_first():
    worker = pod("worker", 0, 0, phase="Pending", conditions=[UNSCHEDULABLE])
    head = pod("pathways-head", phase="Pending", conditions=[UNSCHEDULABLE])
    told = "pod {} is not scheduled: Unschedulable: 0/5 nodes"
    for pods, name in (([worker, head], head), ([worker, pod("pathways-head")], worker)):
        found = held_up(ScriptedApi(object_list(*pods)), describe(jobset()))
        assert found == told.format(name["metadata"]["name"])
    assert held_up(ScriptedApi(object_list(HEAD, *SLICES)), describe(jobset())) == ""
    assert held_up(ScriptedApi(FORBIDDEN), describe(jobset())) == ""


def job(name="train-worker-1", kind="JobSet", owner="train", **metadata):
    """A Job, the workload's own where nothing else is said."""
    owners = [{"kind": kind, "name": owner, "controller": True}] if kind else []
    return thing(name, ownerReferences=owners, **metadata)


def event(reason, text, second):
    return {"type": "Warning", "reason": reason, "message": text, "eventTime": f"2026-11-29T12:00:{second:02}.000000Z"}


def why(*answers, pods=(HEAD, *SLICES[:4]), body=None):
    api = ScriptedApi(*answers)
    return why_uncreated(api, describe(body or jobset(ready=(1, 1))), pods), api.calls


def test_a_job_that_jobset_could_not_create():
    """Only the first that is short of pods is asked about: what is said of others is not its reason."""
    other = event("JobCreationFailed", REFUSED.replace("worker-1", "worker-2"), 9)
    told, calls = why(MISSING, object_list(event("JobCreationFailed", REFUSED, 1), other))
    assert told == f"Job train-worker-1 is not created: JobCreationFailed: {REFUSED}"
    assert [call.path.rpartition("/")[2] for call in calls] == ["train-worker-1", "events"]
    assert calls[1].query["fieldSelector"] == "involvedObject.uid=uid-train,reason=JobCreationFailed"


def test_who_knows_the_jobs_is_asked_for_events_alone():
    refused = event("FailedCreate", QUOTA, 5)
    workload, pods = describe(jobset(ready=(1, 1))), (HEAD, *SLICES[:4])
    api = ScriptedApi(object_list(refused), object_list(event("JobCreationFailed", REFUSED, 1)))
    assert why_uncreated(api, workload, pods, [job()]).startswith("Job train-worker-1 lacks pods: FailedCreate")
    assert why_uncreated(api, workload, pods, []).startswith("Job train-worker-1 is not created: JobCreationFailed")
    assert [call.path.rpartition("/")[2] for call in api.calls] == ["events", "events"]


def test_a_job_whose_old_one_still_goes_is_no_refusal():
    told = object_list(event("JobCreationFailed", TAKEN, 1))
    for meanwhile in (MISSING, job(), job(owner="train", deletionTimestamp="2026-11-29T12:00:00Z"), FORBIDDEN):
        assert why(MISSING, told, meanwhile)[0] == ""


@pytest.mark.parametrize(
    ("found", "keeper"),
    [
        (job(kind="CronJob", owner="nightly"), "CronJob nightly has a Job of that name"),
        (job(kind="JobSet", owner="other"), "JobSet other has a Job of that name"),
        (job(kind=""), "a Job of that name is there, which nothing controls"),
    ],
)
def test_a_job_of_somebody_else_keeps_the_workloads_own_from_being_created(found, keeper):
    """Also where it has just come."""
    told = object_list(event("JobCreationFailed", TAKEN, 1))
    for first in (found, MISSING):
        said, calls = why(first, told, found)
        assert said == f"Job train-worker-1 is not created: {keeper}"
    assert [call.path.rpartition("/")[2] for call in calls] == ["train-worker-1", "events", "train-worker-1"]


def test_pods_that_the_job_controller_could_not_create():
    refused = event("FailedCreate", QUOTA, 5)
    made = event("SuccessfulCreate", "Created pod: train-worker-1-0-x", 3)
    told, calls = why(job(), object_list(made, refused))
    assert told == f"Job train-worker-1 lacks pods: FailedCreate: {QUOTA.replace('x7k2p', '')}"
    assert calls[1].query["fieldSelector"] == "involvedObject.uid=uid-train-worker-1"
    made["eventTime"] = "2026-11-29T12:00:06.000000Z"
    assert why(job(), object_list(refused, made))[0] == ""


def test_a_follower_whose_leader_has_no_node_yet_is_no_refusal():
    """It is part of every start: on a real control plane 399 such events came with a healthy one of 512 slices."""
    words = (
        'Error creating: admission webhook "vpod.kb.io" denied the request: follower pod node selector for topology '
        "domain not found. missing selector: cloud.google.com/gke-nodepool"
    )
    assert why(job(), object_list(event("FailedCreate", words, 1)))[0] == ""


@pytest.mark.parametrize("pod_name", ["train-worker-1-0-x7k2p", "train-worker-1-0-9zz2p", "train-worker-1-0-"])
def test_the_same_refusal_has_the_same_words_whatever_the_pods_random_name(pod_name):
    words = f'Error creating: pods "{pod_name}" is forbidden: exceeded quota'
    told, _ = why(job(), object_list(event("FailedCreate", words, 1)))
    assert 'pods "train-worker-1-0-" is forbidden' in told


def test_the_heads_job_comes_first():
    _, calls = why(job("train-pathways-head-0"), object_list(), pods=())
    assert calls[0].path.endswith("/train-pathways-head-0")


def test_pods_that_are_done_are_there():
    done = [pod("worker", 1, host, phase="Succeeded") for host in range(4)]
    _, calls = why(job("train-worker-2"), object_list(), pods=(HEAD, *SLICES[:4], *done))
    assert calls[0].path.endswith("/train-worker-2")


@pytest.mark.parametrize("body", [{"suspend": True}, {"deleting": True}, {"conditions": [condition("Failed")]}])
def test_who_is_not_to_run_lacks_nothing(body):
    assert why(body=jobset(**body)) == ("", [])


def test_whole_asks_nobody():
    assert why(pods=(HEAD, *SLICES)) == ("", [])


@pytest.mark.parametrize(
    "answers",
    [
        [FORBIDDEN],
        [NetworkError("cut")],
        [MISSING, FORBIDDEN],
        [MISSING, NetworkError("cut")],
        [MISSING, object_list()],
        [MISSING, object_list(event("JobCreationFailed", TAKEN, 1)), NetworkError("cut")],
        [job(), FORBIDDEN],
    ],
)
def test_who_may_not_or_can_not_know_says_nothing(answers):
    assert why(*answers)[0] == ""
