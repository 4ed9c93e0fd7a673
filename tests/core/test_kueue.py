"""A Workload of Kueue is read in a fixed order of its conditions, since old ones stay."""

from datetime import UTC, datetime

import pytest
from fakes.kueue import ADMITTED, SHORT, evicted, pending, stats, summary, workload
from fakes.objects import condition

from xlaunch.core.kueue import current, essence, owner, places, read
from xlaunch.core.queueing import Eviction, Evictions, Place, State

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
STOPPED = ("ClusterQueueStopped", "The ClusterQueue is stopped")
RESERVED = ADMITTED[:1]
WAITING_CHECK = {"name": "dws", "state": "Pending", "message": "no machines yet"}

STATES = [
    ("not looked at yet", {}, State.PENDING, "", ""),
    ("over quota", {"conditions": [pending()]}, State.PENDING, "Pending", SHORT),
    ("quota", {"conditions": RESERVED}, State.QUOTA_RESERVED, "QuotaReserved", "Quota reserved in ClusterQueue cq"),
    (
        "quota, and a check that waits",
        {"conditions": RESERVED, "admissionChecks": [WAITING_CHECK, {"name": "b", "state": "Ready"}]},
        State.QUOTA_RESERVED,
        "AdmissionCheck",
        "dws: Pending: no machines yet",
    ),
    ("admitted", {"conditions": ADMITTED}, State.ADMITTED, "Admitted", "The workload is admitted"),
    (
        "admitted again",
        {"conditions": [*ADMITTED, condition("Evicted", "False", "QuotaReserved", "Previously: The …")]},
        State.ADMITTED,
        "Admitted",
        "The workload is admitted",
    ),
    ("being evicted", {"conditions": [*ADMITTED, *evicted(*STOPPED)]}, State.EVICTED, *STOPPED),
    (
        "being evicted, with the record of an earlier return",
        {"conditions": [*ADMITTED, *evicted(*STOPPED, requeued=True)]},
        State.EVICTED,
        *STOPPED,
    ),
    ("evicted", {"conditions": [pending(), *evicted(*STOPPED, requeued=False)]}, State.EVICTED, *STOPPED),
    (
        "back in the queue",
        {"conditions": [pending(), *evicted("Preempted", "for another", requeued=True)]},
        State.REQUEUED,
        "Pending",
        SHORT,
    ),
    (
        "deactivated by a person",
        {"conditions": [pending("x"), *evicted("Deactivated", "The workload is deactivated")], "active": False},
        State.HELD,
        "Deactivated",
        "The workload is deactivated",
    ),
    (
        "deactivated, and Kueue has not said so yet",
        {"conditions": ADMITTED, "active": False},
        State.HELD,
        "Deactivated",
        "The workload is deactivated",
    ),
    (
        "finished while deactivated",
        {"conditions": [*ADMITTED, condition("Finished", reason="Succeeded", message="done")], "active": False},
        State.FINISHED,
        "Succeeded",
        "done",
    ),
]


@pytest.mark.parametrize(
    ("given", "state", "reason", "message"), [each[1:] for each in STATES], ids=[each[0] for each in STATES]
)
def test_the_state_and_the_condition_that_decides_it(given, state, reason, message):
    found = read(workload(**given))
    assert (found.state, found.reason, found.message) == (state, reason, message)
    assert (found.workload, found.local_queue, found.priority) == ("jobset-train-c07e7", "team", 0)


def test_what_else_it_says():
    found = read(
        workload(
            conditions=[pending("Exceeded"), *evicted("PodsReadyTimeout", "Exceeded", requeued=False)],
            requeueState={"count": 2, "requeueAt": "2026-11-29T12:00:00Z"},
            schedulingStats=stats(("PodsReadyTimeout", "", 2), ("Deactivated", "AdmissionCheck", 1)),
            admission={"clusterQueue": "cq"},
        )
    )
    assert (found.requeues, found.requeue_at, found.cluster_queue) == (2, NOON, "cq")
    assert found.evictions == (Evictions("PodsReadyTimeout", "", 2), Evictions("Deactivated", "AdmissionCheck", 1))
    assert found.times_evicted == 3
    assert found.last_eviction == Eviction("PodsReadyTimeout", "Exceeded")
    assert found.refusal == "Exceeded"


def test_an_eviction_that_is_over_keeps_its_words():
    over = condition("Evicted", "False", "QuotaReserved", "Previously: The ClusterQueue is stopped")
    found = read(workload(conditions=[*ADMITTED, over]))
    assert found.last_eviction == Eviction("", "The ClusterQueue is stopped")
    assert found.times_evicted == 1  # a Kueue without schedulingStats
    assert found.refusal == ""


@pytest.mark.parametrize(
    ("conditions", "since"),
    [
        ([*ADMITTED, condition("PodsReady", "False", "WaitForRecovery")], NOON),
        ([*ADMITTED, condition("PodsReady", "False", "WaitForStart")], None),
        ([*ADMITTED, condition("PodsReady", "True", "Recovered")], None),
        ([pending(), condition("PodsReady", "False", "WaitForRecovery")], None),
        (ADMITTED, None),
    ],
)
def test_when_kueue_began_to_wait_for_lost_pods(conditions, since):
    assert read(workload(conditions=conditions)).recovering_since == since


def test_whose_it_is():
    made = workload()
    assert owner(made) == "uid-train"
    del made["metadata"]["labels"]
    assert owner(made) == "uid-train"
    made["metadata"]["ownerReferences"][0]["kind"] = "Job"
    assert owner(made) == ""


def test_the_one_that_counts_is_the_newest_that_is_not_finished():
    finished = [condition("Finished")]
    old, new = workload(name="old"), workload(name="new", created="2026-11-29T12:00:01Z")
    done = workload(name="done", created="2026-11-29T13:00:00Z", conditions=finished)
    assert current([new, done, old])["metadata"]["name"] == "new"
    assert current([done]) is done
    assert current([]) is None


def test_pod_templates_are_not_kept():
    light = essence(workload(conditions=ADMITTED))
    assert "podSets" not in light["spec"]
    assert read(light) == read(workload(conditions=ADMITTED))


def test_places():
    assert places(summary("a", "b")) == {"a": Place(0, 0, 2), "b": Place(1, 1, 2)}
    assert places({"items": None}) == {}
