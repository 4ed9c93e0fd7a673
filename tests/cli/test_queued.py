"""`list`, `status`, `wait` and `logs` of workloads that a queue holds back, evicts and admits again."""

import json

import jsonschema
import pytest
from fakes.kueue import ADMITTED, QUEUE, SHORT, TOO_BIG, evicted, pending, stats, summary, workload
from fakes.objects import condition, ended, jobset
from fakes.server import Answer
from worlds import SCHEMA

SUSPENDED_CONDITION = condition("Suspended", reason="SuspendedJobs", message="jobset is suspended")
SUSPENDED = jobset(ready=(0, 0), suspend=True, labels=QUEUE, conditions=[SUSPENDED_CONDITION])
RUNNING = jobset(labels=QUEUE, conditions=[condition("StartupPolicyCompleted")])
PREEMPTED = ("Preempted", "Preempted to accommodate a workload")
EVICTED = workload(
    conditions=[pending(), *evicted(*PREEMPTED, requeued=True)], schedulingStats=stats(("Preempted", "", 1))
)
NAME = "jobset-train-c07e7"
NAMESPACED = "namespaces/default"


@pytest.fixture
def train(train):
    """A workload that waits in a queue, the second of two."""
    train.jobset, train.workloads, train.places = SUSPENDED, [workload(conditions=[pending()])], ["other", NAME]
    return train


def admit(train):
    train.jobset, train.workloads = RUNNING, [workload(conditions=ADMITTED, schedulingStats=stats())]


def evict(train):
    train.jobset, train.workloads = SUSPENDED, [EVICTED]


# ---- list


@pytest.fixture
def queues(cluster):
    """One that runs, two that wait in one queue, and one whose queue is not known."""
    cluster.store.put(jobset("runs", labels=QUEUE))
    for name in ("first", "second"):
        cluster.store.put(jobset(name, suspend=True, labels=QUEUE))
    made = [
        workload("runs", conditions=ADMITTED),
        *(workload(each, conditions=[pending()]) for each in ("first", "second")),
    ]
    listed = {"metadata": {"resourceVersion": "1"}, "items": made}
    cluster.answers[f"/apis/kueue.x-k8s.io/v1beta2/{NAMESPACED}/workloads"] = listed
    visible = f"/apis/visibility.kueue.x-k8s.io/v1beta2/{NAMESPACED}/localqueues/team/pendingworkloads"
    cluster.answers[visible] = summary("jobset-first-c07e7", "jobset-second-c07e7")
    return cluster


def test_list_tells_the_place_and_the_reason(queues):
    outcome = queues.run("workload", "list")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert [line.split()[:7] for line in outcome.stdout.splitlines()[1:4]] == [
        ["first", "Queued", "3", "48", "0/3", "team", "1/2"],
        ["runs", "Running", "3", "48", "0/3", "team", "-"],
        ["second", "Queued", "3", "48", "0/3", "team", "2/2"],
    ]
    assert outcome.stdout.splitlines()[4:] == [
        "",
        f"first: it waits in queue team (1st of 2): {SHORT}",
        f"second: it waits in queue team (2nd of 2): {SHORT}",
    ]


def test_list_as_data(queues):
    items = json.loads(queues.run("workload", "list", "-o", "json").stdout)["items"]
    told = {each["name"]: each["queueing"] for each in items}
    assert (told["second"]["state"], told["second"]["positionInLocalQueue"]) == ("Pending", 1)
    assert (told["runs"]["state"], told["runs"]["positionInLocalQueue"]) == ("Admitted", None)


def test_many_that_wait_are_counted(queues):
    for number in range(12):
        queues.store.put(jobset(f"more-{number}", suspend=True, labels=QUEUE))
    last = queues.run("workload", "list").stdout.splitlines()[-1]
    assert last == "and 4 more; xlaunch status NAME tells why"


@pytest.mark.parametrize("status", [403, 404, 500])
def test_list_without_kueues_answer(queues, status):
    for version in ("v1beta2", "v1beta1"):
        queues.answers[f"/apis/kueue.x-k8s.io/{version}/{NAMESPACED}/workloads"] = Answer(status, {"message": "no"})
    outcome = queues.run("workload", "list")
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.count("\n") == 4


# ---- status


def test_status_of_one_that_waits(run, train):
    outcome = run("status", "train")
    assert outcome.code == 0
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("train   Queued in queue team   3 slices x 4 hosts   JobSet restarts 0 of 3")
    assert lines[1] == f"Waiting: it waits in queue team (2nd of 2): {SHORT}"


def test_status_of_one_that_was_evicted(run, train):
    evict(train)
    lines = run("status", "train").stdout.splitlines()
    assert lines[1:3] == [
        "Evicted by the queue: 1 x Preempted; these are no restarts",
        f"Waiting: it waits in queue team (2nd of 2) again after an eviction: {SHORT}",
    ]


def test_status_of_one_that_never_fits(run, train):
    train.workloads = [workload(conditions=[pending(TOO_BIG)])]
    outcome = run("status", "train")
    assert "! train asks for more than queue team has when it is empty, and will never be admitted" in outcome.stdout
    body = json.loads(run("status", "train", "-o", "json").stdout)
    assert body["queueing"]["neverFits"] is True
    assert [each["reason"] for each in body["alarms"]] == ["QueueNeverFits"]


STATES = [
    ("no Kueue", None, ("Suspended", "NotQueued")),
    ("no Workload", [], ("Queued", "Unseen")),
    ("pending", [workload(conditions=[pending()])], ("Queued", "Pending")),
    ("evicted", [EVICTED], ("Queued", "Requeued")),
    ("held", [workload(active=False)], ("Suspended", "Held")),
]


@pytest.mark.parametrize(("workloads", "expected"), [case[1:] for case in STATES], ids=[case[0] for case in STATES])
def test_status_as_data(run, train, workloads, expected):
    train.workloads = workloads
    body = json.loads(run("status", "train", "-o", "json").stdout)
    jsonschema.validate(body, {"$ref": "#/$defs/Status", "$defs": SCHEMA["$defs"]})
    assert (body["phase"], body["queueing"]["state"]) == expected
    assert (body["queue"], body["jobset"]["restarts"]) == ("team", 0)


# ---- wait


def test_wait_waits_through_the_queue_and_says_why(run, train):
    train.at(50, admit, train)
    train.at(70, train.start_pod, "aaaaa")
    outcome = run("wait", "train", "--for=running")
    assert outcome.code == 0
    assert outcome.stderr.splitlines()[0] == f"Waiting: train is Queued: it waits in queue team (2nd of 2): {SHORT}"


def test_wait_survives_an_eviction(run, train):
    admit(train)
    train.at(30, evict, train)
    train.at(90, admit, train)
    train.at(120, setattr, train, "jobset", ended("Completed", "AllJobsCompleted", labels=QUEUE))
    outcome = run("wait", "train")
    assert outcome.code == 0
    told = "train was evicted by its queue (1st time; no restart): Preempted: Preempted to accommodate a workload"
    assert outcome.stderr.splitlines().count(told) == 1


def test_wait_for_one_that_never_fits_goes_on_and_says_what_to_do(run, train):
    train.workloads = [workload(conditions=[pending(TOO_BIG)])]
    outcome = run("wait", "train", "--timeout", "5m")
    assert outcome.code == 124
    assert outcome.stderr.count("will never be admitted. Next: kubectl describe localqueue team -n default") == 1
    assert f"is over: train is Queued: it waits in queue team (2nd of 2): {TOO_BIG}" in outcome.stdout


# ---- logs


def test_logs_tell_an_eviction_and_go_on(run, train):
    admit(train)
    train.start_pod("aaaaa")
    train.write(b"before")
    train.at(10, train.remove_pod)
    train.at(10, evict, train)
    train.at(60, admit, train)
    train.at(61, train.start_pod, "bbbbb")
    train.at(62, train.write, b"after")
    train.at(63, train.end)
    train.at(64, train.finish)
    outcome = run("logs", "train")
    assert (outcome.code, outcome.stdout) == (0, "before\nafter\n")
    told = outcome.stderr.splitlines()
    why = "Preempted: Preempted to accommodate a workload"
    assert told[1] == f"train was evicted by its queue (1st time; no restart): {why}"
    assert f"Waiting: it waits in queue team (2nd of 2) again after an eviction: {SHORT}" in told
    replaced = next(line for line in told if "is replaced by" in line)
    assert replaced.endswith(f"bbbbb (JobSet restarts: 0): its queue evicted it: {why}")
    assert "Restarts: JobSet 0 of 3; main 0; pathways-rm 0; pathways-proxy 0" in told


def test_logs_of_one_that_waits_say_for_what(run, train):
    outcome = run("logs", "train", "--timeout", "30s")
    assert outcome.code == 124
    assert outcome.stderr.splitlines()[0] == f"Waiting: it waits in queue team (2nd of 2): {SHORT}"
    assert run("logs", "train", "--no-follow").stderr == (
        f"There is no log: it waits in queue team (2nd of 2): {SHORT}\n"
    )
