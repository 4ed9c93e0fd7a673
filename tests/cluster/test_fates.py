"""Why one pod took the place of another: by the container's end, by JobSet's condition, by its event."""

import pytest
from fakes.api import ScriptedApi, object_list, status_error
from fakes.objects import condition, jobset, pod, status, terminated

from xlaunch.cluster.fates import Fates
from xlaunch.core.workload import describe

APPLIED = "applying RestartJobSet failure policy action (first failed job: train-worker-1)"
BEFORE, AFTER = (pod("pathways-head", suffix=suffix, attempt=n) for n, suffix in enumerate(("aaaaa", "bbbbb")))
UIDS = [each["metadata"]["uid"] for each in (BEFORE, AFTER)]


def event(reason, message, second):
    return {
        "type": "Warning",
        "reason": reason,
        "message": message,
        "eventTime": f"2026-11-29T12:00:{second:02}.000000Z",
    }


EVENTS = [
    event("RestartJobSetFailurePolicyAction", "applying of an earlier restart", 1),
    event("RestartJobSetFailurePolicyAction", APPLIED, 9),
    event("JobCreationFailed", 'jobs.batch "train-worker-0" already exists', 10),
]


def test_the_condition_is_enough_and_is_told_once():
    api = ScriptedApi()
    fates = Fates(api, "uid-train", "main")
    fates.look([BEFORE], describe(jobset(conditions=[condition("RestartingJobSet", message=APPLIED)])))
    fates.look([AFTER], describe(jobset()))
    assert fates.take(*UIDS) == [APPLIED]
    assert (fates.take(UIDS[1], UIDS[1]), api.calls) == ([], [])


def test_a_restart_that_was_not_seen_is_looked_up_in_the_events():
    api = ScriptedApi(object_list(*EVENTS))
    fates = Fates(api, "uid-train", "main")
    ended = pod("pathways-head", suffix="aaaaa", statuses=[status(state=terminated(3))])
    fates.look([ended, AFTER], None)
    assert fates.take(*UIDS) == ["main ended with exit code 3", APPLIED]
    assert api.calls[0].query["fieldSelector"] == "involvedObject.uid=uid-train,type=Warning"


@pytest.mark.parametrize("answer", [object_list(), object_list(EVENTS[2]), status_error(403, "Forbidden", "no")])
def test_without_an_event_nothing_is_said(answer):
    fates = Fates(ScriptedApi(answer), "uid-train", "main")
    fates.look([BEFORE, AFTER], None)
    assert fates.take(*UIDS) == []


def test_a_pod_that_is_replaced_without_a_restart_asks_nobody():
    api = ScriptedApi()
    fates = Fates(api, "uid-train", "main")
    fates.look([BEFORE], describe(jobset()))
    assert fates.take(UIDS[0], "another") == []
    assert api.calls == []
