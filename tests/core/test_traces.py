"""What events tell of pods that are gone."""

import pytest

from xlaunch.core.traces import last_pod, who_ended


def event(reason, message, at="2026-11-29T12:00:00Z"):
    return {"reason": reason, "message": message, "lastTimestamp": at}


def created(name, at="2026-11-29T12:00:00Z"):
    return event("SuccessfulCreate", f"Created pod: {name}", at)


JOB = "train-worker-1"
MADE = [
    created("train-worker-1-2-bbbbb", "2026-11-29T12:05:00Z"),
    created("train-worker-1-2-aaaaa"),
    created("train-worker-1-20-ccccc", "2026-11-29T12:06:00Z"),
]


def test_the_pod_that_was_made_last_for_a_host():
    assert last_pod(MADE, JOB, 2) == "train-worker-1-2-bbbbb"
    assert last_pod(MADE, JOB, 20) == "train-worker-1-20-ccccc"
    assert (last_pod(MADE, JOB, 3), last_pod([], JOB, 2)) == ("", "")


def combined(name, at):
    return event("SuccessfulCreate", f"(combined from similar events): Created pod: {name}", at)


FIRST = [created(f"train-worker-1-{host}-aaaaa") for host in range(9)]


@pytest.mark.parametrize(
    ("last", "host", "told"),
    [
        # The last of those that were made together with the others
        (combined("train-worker-1-11-aaaaa", "2026-11-29T12:00:01Z"), 11, "train-worker-1-11-aaaaa"),
        (combined("train-worker-1-11-aaaaa", "2026-11-29T12:00:01Z"), 10, ""),
        (combined("train-worker-1-11-aaaaa", "2026-11-29T12:00:01Z"), 3, "train-worker-1-3-aaaaa"),
        # A later one: any host may have lost its pod again
        (combined("train-worker-1-3-bbbbb", "2026-11-29T12:05:00Z"), 3, "train-worker-1-3-bbbbb"),
        (combined("train-worker-1-3-bbbbb", "2026-11-29T12:05:00Z"), 4, ""),
    ],
)
def test_an_event_that_stands_for_many_may_hide_the_last_pod_of_a_host(last, host, told):
    assert last_pod([*FIRST, last], JOB, host) == told


def test_events_are_told_one_by_one_again_after_ten_minutes():
    hidden = combined("train-worker-1-3-bbbbb", "2026-11-29T12:05:00Z")
    again = created("train-worker-1-4-ccccc", "2026-11-29T12:20:00Z")
    assert last_pod([*FIRST, hidden, again], JOB, 4) == "train-worker-1-4-ccccc"


PREEMPTED = event("Preempted", "Preempted by pod 1234 on node tpu-1-2")
EVICTED = event("TaintManagerEviction", "Marking for deletion Pod default/x", "2026-11-29T12:00:05Z")
RECALLED = event("TaintManagerEviction", "Cancelling deletion of Pod default/x", "2026-11-29T12:00:09Z")
KILLING = event("Killing", "Stopping container pathways-worker")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([PREEMPTED, KILLING], "Preempted: Preempted by pod 1234 on node tpu-1-2"),
        ([EVICTED, PREEMPTED], "TaintManagerEviction: Marking for deletion Pod default/x"),
        ([EVICTED, RECALLED], ""),
        ([KILLING], ""),
        ([], ""),
    ],
)
def test_who_ended_it(events, told):
    assert who_ended(events) == told
