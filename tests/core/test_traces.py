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
