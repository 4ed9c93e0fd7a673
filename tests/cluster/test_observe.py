"""A workload is read in pages, as far as the caller may, and without what is only weight."""

import pytest
from fakes.api import ScriptedApi, object_list, status_error
from fakes.objects import job, jobset, pod

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.observe import events_about, observe, target_pods
from xlaunch.core.errors import NetworkError, NotFoundError
from xlaunch.core.workload import describe

FORBIDDEN = status_error(403, "Forbidden", "no")


def seen(*answers):
    api = ScriptedApi(*answers)
    return observe(Connection(api, "context dev"), "train"), api


def test_jobs_and_pods_come_in_pages_and_light():
    pages = [object_list(pod(index=0), pod(index=1), token="more"), object_list(pod(index=2))]
    found, api = seen(jobset(), object_list(job("worker", 0)), *pages)
    assert [each["metadata"]["name"][-7] for each in found.pods] == ["0", "1", "2"]
    assert set(found.pods[0]["spec"]["containers"][0]) == {"name"}
    assert "template" not in found.jobs[0]["spec"]
    assert found.jobs[0]["spec"]["backoffLimit"] == 40
    assert {call.query["labelSelector"] for call in api.calls[1:]} == {"jobset.sigs.k8s.io/jobset-name=train"}
    assert all(call.query["limit"] == "500" for call in api.calls[1:])


def test_what_an_earlier_jobset_of_that_name_left_is_not_counted():
    old = pod(index=3)
    old["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-uid"] = "uid-of-another"
    found, _ = seen(jobset(), object_list(), object_list(pod(), old))
    assert len(found.pods) == 1


@pytest.mark.parametrize(
    ("answers", "forbidden"),
    [
        ([FORBIDDEN, object_list()], ("jobs",)),
        ([object_list(), FORBIDDEN], ("pods",)),
        ([FORBIDDEN, FORBIDDEN], ("jobs", "pods")),
        ([object_list(), object_list()], ()),
    ],
)
def test_what_may_not_be_listed_is_left_out_and_named(answers, forbidden):
    found, _ = seen(jobset(), *answers)
    assert found.forbidden == forbidden


def test_other_errors_are_errors():
    with pytest.raises(ApiError):
        seen(jobset(), status_error(500, "InternalError"))
    with pytest.raises(NotFoundError):
        seen(status_error(404, "NotFound", name="train"))


def test_the_pods_that_carry_the_log_are_those_of_index_0():
    api = ScriptedApi(object_list(pod("pathways-head"), pod("pathways-head", index=1)))
    assert [each["metadata"]["name"] for each in target_pods(api, describe(jobset()))] == [
        "train-pathways-head-0-0-aaaaa"
    ]
    assert api.calls[0].query["labelSelector"] == (
        "jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/replicatedjob-name=pathways-head,"
        "jobset.sigs.k8s.io/job-index=0"
    )


@pytest.mark.parametrize("answer", [FORBIDDEN, NetworkError("away"), status_error(501, "NotImplemented"), b"<html>"])
def test_events_only_add_detail(answer):
    assert events_about(ScriptedApi(answer), "uid") == ()
