"""What people and programs are told of a queue."""

from datetime import UTC, datetime

import pytest
from fakes.kueue import SHORT, TOO_BIG

from xlaunch.core.queueing import Evictions, Place, QueueState, State, as_data, evictions_words, release, words

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
HEAD = (
    "couldn't assign flavors to pod set pathways-head: insufficient unused quota for cpu in flavor cpu, 2 more needed"
)


def queue(state=State.PENDING, message="", **more):
    return QueueState(state, message=message, local_queue="team", **more)


WORDS = [
    (queue(), "it waits in queue team"),
    (queue(message="no quota"), "it waits in queue team: no quota"),
    (queue(message="no quota", place=Place(1, 1, 3)), "it waits in queue team (2nd of 3): no quota"),
    (queue(place=Place(0, 4, 2)), "it waits in queue team (1st of 2, 5th in its ClusterQueue)"),
    (queue(reason="Misconfigured"), "it waits in queue team: Misconfigured"),
    (queue(State.REQUEUED, "no quota"), "it waits in queue team again after an eviction: no quota"),
    (queue(State.EVICTED, "stopped", reason="Stop"), "the queue has evicted it (Stop): stopped"),
    (
        queue(State.EVICTED, "late", reason="PodsReadyTimeout", requeue_at=NOON),
        "the queue has evicted it (PodsReadyTimeout), until 12:00:00Z: late",
    ),
    (queue(State.QUOTA_RESERVED, "dws: Pending"), "it has its quota, and waits for the queue's checks: dws: Pending"),
    (queue(State.ADMITTED, "The workload is admitted"), "the queue has admitted it"),
    (queue(State.HELD, "The workload is deactivated"), "it is held back: The workload is deactivated"),
    (queue(State.UNSEEN), "Kueue has not taken note of it yet"),
    (QueueState(State.PENDING), "it waits in a queue"),
]


@pytest.mark.parametrize(("given", "told"), WORDS)
def test_words(given, told):
    assert words(given) == told


@pytest.mark.parametrize(
    ("refusal", "never"),
    [
        (TOO_BIG, True),
        (SHORT, False),
        ("", False),
        (f"{TOO_BIG}, insufficient unused quota for google.com/tpu in flavor spot, 8 more needed", False),
        (f"{HEAD}; {TOO_BIG}", True),
        (f"{HEAD}; {SHORT}", False),
        ("couldn't assign flavors to pod set worker: resource google.com/tpu unavailable in ClusterQueue", True),
    ],
)
def test_what_never_fits_is_told_from_what_does_not_fit_now(refusal, never):
    assert queue(refusal=refusal).never_fits is never


def test_newer_versions_have_a_reason_for_it():
    assert queue(reason="ExceedsMaxQuota").never_fits


@pytest.mark.parametrize(
    ("refusal", "missing", "stopped"),
    [
        ("LocalQueue team doesn't exist", True, False),
        ("ClusterQueue cq doesn't exist", True, False),
        ("LocalQueue team is terminating or missing", True, False),
        ("LocalQueue team is inactive", False, True),
        ("ClusterQueue cq is stopped", False, True),
        (SHORT, False, False),
    ],
)
def test_a_queue_that_is_not_there_or_stopped(refusal, missing, stopped):
    found = queue(refusal=refusal)
    assert (found.queue_is_missing, found.queue_is_stopped) == (missing, stopped)


@pytest.mark.parametrize(
    ("state", "reason", "by_kueue"),
    [
        (State.HELD, "Deactivated", False),
        (State.HELD, "DeactivatedDueToRequeuingLimitExceeded", True),
        (State.EVICTED, "DeactivatedDueToRequeuingLimitExceeded", True),
        (State.EVICTED, "Preempted", False),
    ],
)
def test_who_holds_it(state, reason, by_kueue):
    assert queue(state, reason=reason).given_up is by_kueue


def test_evictions_are_counted_by_reason():
    counts = (Evictions("Preempted", "", 2), Evictions("Deactivated", "AdmissionCheck", 1))
    assert evictions_words(counts) == "2 x Preempted, 1 x Deactivated (AdmissionCheck)"


def test_programs_read_positions_from_0():
    found = as_data(queue(place=Place(0, 4, 2), evictions=(Evictions("Preempted", "", 2),), requeue_at=NOON))
    assert (found["positionInLocalQueue"], found["positionInClusterQueue"], found["pendingInLocalQueue"]) == (0, 4, 2)
    assert found["evictions"] == [{"reason": "Preempted", "underlyingCause": None, "count": 2}]
    assert (found["requeueAt"], found["neverFits"], found["clusterQueue"]) == ("2026-11-29T12:00:00Z", False, None)
    assert as_data(None) is None


@pytest.mark.parametrize(
    ("reason", "command"),
    [
        ("Deactivated", 'kubectl patch workload.kueue.x-k8s.io w -n ns --type=merge -p \'{"spec":{"active":true}}\''),
        ("DeactivatedDueToAdmissionCheck", "kubectl delete workload.kueue.x-k8s.io w -n ns --wait=false"),
    ],
)
def test_how_one_that_is_held_back_goes_on(reason, command):
    assert release(queue(State.HELD, reason=reason, workload="w"), "ns") == command
