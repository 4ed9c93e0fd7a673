"""Workloads as a real Kueue 0.17.0 wrote them (tests/data/kueue), and what is made of them."""

import json
from pathlib import Path

import pytest
from fakes.clock import START
from fakes.kueue import QUEUE
from fakes.objects import jobset

from xlaunch.core.kueue import owner, places, read
from xlaunch.core.queue_alarms import queue_alarms
from xlaunch.core.queueing import State, words
from xlaunch.core.workload import Phase, describe

DATA = Path(__file__).parents[1] / "data" / "kueue"
SHORT = (
    "couldn't assign flavors to pod set worker: insufficient unused quota for google.com/tpu in flavor lab, 16 more "
    "needed"
)
TOO_BIG = (
    "couldn't assign flavors to pod set worker: insufficient quota for google.com/tpu in flavor lab, previously "
    "considered podsets requests (0) + current podset request (32) > maximum capacity (16)"
)
LATE = "Exceeded the PodsReady timeout lab/jobset-train-c2456"
GIVEN_UP = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
WAITS, EVICTED = "it waits in queue team", "the queue has evicted it"

# file, state, words, phase of a suspended JobSet, alarms, evictions in all
RECORDED = [
    ("admitted", State.ADMITTED, "the queue has admitted it", Phase.QUEUED, [], 0),
    ("pending", State.PENDING, f"{WAITS}: {SHORT}", Phase.QUEUED, [], 0),
    ("never-fits", State.PENDING, f"{WAITS}: {TOO_BIG}", Phase.QUEUED, ["QueueNeverFits"], 0),
    (
        "no-queue",
        State.PENDING,
        "it waits in queue nobody: LocalQueue nobody doesn't exist",
        Phase.QUEUED,
        ["QueueMissing"],
        0,
    ),
    ("stopped", State.PENDING, f"{WAITS}: ClusterQueue lab is inactive", Phase.QUEUED, ["QueueStopped"], 0),
    (
        "drained",
        State.EVICTED,
        f"{EVICTED} (ClusterQueueStopped): The ClusterQueue is stopped",
        Phase.QUEUED,
        ["QueueStopped"],
        1,
    ),
    ("admitted-again", State.ADMITTED, "the queue has admitted it", Phase.QUEUED, [], 1),
    ("preempted", State.REQUEUED, f"{WAITS} again after an eviction: {SHORT}", Phase.QUEUED, [], 2),
    ("held", State.HELD, "it is held back: The workload is deactivated", Phase.SUSPENDED, [], 3),
    ("finished", State.FINISHED, "the queue is done with it: jobset completed successfully", Phase.QUEUED, [], 0),
    ("pods-ready", State.ADMITTED, "the queue has admitted it", Phase.QUEUED, [], 0),
    (
        "pods-ready-timeout",
        State.EVICTED,
        f"{EVICTED} (PodsReadyTimeout), until 03:57:56Z: {LATE}",
        Phase.QUEUED,
        [],
        1,
    ),
    ("recovered", State.ADMITTED, "the queue has admitted it", Phase.QUEUED, [], 1),
    ("given-up", State.HELD, f"it is held back: {GIVEN_UP}", Phase.SUSPENDED, ["QueueGaveUp"], 2),
]


def recorded(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "state", "told", "phase", "reasons", "times"), RECORDED, ids=[each[0] for each in RECORDED]
)
def test_a_recorded_workload(name, state, told, phase, reasons, times):
    found = read(recorded(name))
    assert (found.state, words(found), found.times_evicted) == (state, told, times)
    workload = describe(jobset(suspend=True, labels=QUEUE), found)
    assert workload.phase is phase
    assert [alarm.reason for alarm in queue_alarms(workload, START)] == reasons


def test_a_lost_slice_is_an_alarm_while_kueue_waits_for_it():
    found = read(recorded("recovering"))
    assert (found.state, str(found.recovering_since)) == (State.ADMITTED, "2026-11-30 03:57:48+00:00")
    running = describe(jobset(labels=QUEUE), found)
    assert [alarm.reason for alarm in queue_alarms(running, found.recovering_since)] == ["QueueMayEvict"]


def test_the_reason_of_an_eviction_outlives_it():
    assert str(read(recorded("preempted")).last_eviction).startswith("Preempted: Preempted to accommodate a workload (")
    assert str(read(recorded("admitted-again")).last_eviction) == "The ClusterQueue is stopped"


def test_every_recording_is_used():
    used = {each[0] for each in RECORDED} | {"recovering", "pending-workloads"}
    assert {path.stem for path in DATA.glob("*.json")} == used


def test_the_places_of_a_queue():
    waiting = recorded("pending-workloads")
    names = [item["metadata"]["name"] for item in waiting["items"]]
    assert [(place.in_local_queue, place.in_cluster_queue) for place in places(waiting).values()] == [(0, 0), (1, 1)]
    assert list(places(waiting)) == names
    assert str(places(waiting)[names[1]]) == "2nd of 2"
    assert owner(waiting["items"][0])
