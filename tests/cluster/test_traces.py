"""Lost pods that are gone get their names back from events."""

from datetime import timedelta

import pytest
from fakes.api import ScriptedApi, object_list, status_error
from fakes.clock import START
from fakes.objects import condition, job, jobset, pod

from xlaunch.cluster.traces import with_traces
from xlaunch.core.errors import NetworkError
from xlaunch.core.ledger import ledger
from xlaunch.core.losses import Loss

RUNNING = jobset(conditions=[condition("StartupPolicyCompleted", "False")])
# What a server, or something before it, says in place of events
UNREADABLE = [
    status_error(403, "Forbidden", "events is forbidden"),
    status_error(500, "InternalError"),
    NetworkError("No answer in 5 s"),
    b"<html>",
    {"kind": "EventList"},
    {},
    [],
]
JOBS = [job("worker", index, failed=index) for index in range(3)]


def created(host, slice_index=2):
    text = f"Created pod: train-worker-{slice_index}-{host}-aaaaa"
    return {"reason": "SuccessfulCreate", "message": text, "lastTimestamp": "2026-11-29T12:00:00Z"}


def traced(api, *there, jobs=JOBS):
    pods = [pod("worker", index, host) for index, host in there]
    counted = ledger(RUNNING, jobs, pods, START + timedelta(seconds=5))
    return with_traces(api, counted, jobs)


ALL = [(index, host) for index in range(3) for host in range(4)]


def test_a_lost_pod_gets_its_name_and_who_ended_it():
    preempted = {"reason": "Preempted", "message": "Preempted by pod 1 on node n"}
    api = ScriptedApi(object_list(created(1), created(3)), object_list(preempted))
    found = traced(api, *ALL[:-1])
    why = "Preempted: Preempted by pod 1 on node n"
    assert found.slices[2].losses == (Loss(3, "train-worker-2-3-aaaaa", None, why),)
    assert [call.query["fieldSelector"] for call in api.calls] == [
        "involvedObject.uid=uid-train-worker-2,reason=SuccessfulCreate",
        "involvedObject.kind=Pod,involvedObject.name=train-worker-2-3-aaaaa",
    ]


def test_nothing_is_asked_where_no_host_is_missing():
    assert traced(ScriptedApi(), *ALL).slices[2].losses == ()


def test_without_events_or_jobs_the_host_is_all_that_is_known():
    for api, jobs in ((ScriptedApi(object_list()), JOBS), (ScriptedApi(), None)):
        assert traced(api, *ALL[:-1], jobs=jobs).slices[2].losses == (Loss(3, "", None, ""),)


@pytest.mark.parametrize("answer", UNREADABLE)
def test_where_events_cannot_be_read_they_are_asked_for_once(answer):
    api = ScriptedApi(answer)
    found = traced(api, *ALL[:4])
    assert [loss.pod for each in found.slices for loss in each.losses] == [""] * 8
    assert len(api.calls) == 1


@pytest.mark.parametrize("answer", UNREADABLE)
def test_what_was_found_before_is_kept(answer):
    api = ScriptedApi(object_list(created(3, 1)), object_list(), answer)
    found = traced(api, *ALL[:7])
    assert [loss.pod for each in found.slices for loss in each.losses] == ["train-worker-1-3-aaaaa", *[""] * 4]
    assert len(api.calls) == 3


def test_only_the_first_few_are_asked_about():
    none = object_list()
    api = ScriptedApi(object_list(*(created(host, 1) for host in range(4))), none, none, none, none)
    found = traced(api, *ALL[:4])
    assert [bool(loss.pod) for each in found.slices for loss in each.losses] == [True] * 4 + [False] * 4
