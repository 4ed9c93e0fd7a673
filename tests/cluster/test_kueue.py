"""Kueue is asked once for all, and whatever it answers stops nothing."""

import pytest
from fakes.api import ScriptedApi, object_list, status_error
from fakes.kueue import ADMITTED, QUEUE, evicted, pending, summary, workload
from fakes.objects import ended, jobset

from xlaunch.cluster.kueue import placed, with_queue, with_queues, workload_of
from xlaunch.core.errors import NetworkError
from xlaunch.core.queueing import Place, State
from xlaunch.core.workload import Phase

SUSPENDED = jobset(suspend=True, labels=QUEUE)
BY_PERSON = jobset(suspend=True)
NO_KUEUE = status_error(404, "NotFound", "the server could not find the requested resource")
NO_QUEUE = status_error(404, "NotFound", 'localqueue "team" not found', name="team")
FORBIDDEN = status_error(403, "Forbidden", "no")
UNAVAILABLE = status_error(503, "ServiceUnavailable", "no endpoints")
SILENT = NetworkError("Cannot reach it", why="timed out")
WAITS = workload(conditions=[pending()])
NAME = "jobset-train-c07e7"


def of(name, **more):
    return jobset(name, suspend=True, labels=QUEUE, **more)


def test_a_workload_that_waits_has_its_place():
    api = ScriptedApi(object_list(WAITS), summary("other", NAME))
    found = with_queue(api, SUSPENDED)
    assert (found.phase, found.queueing.state, found.queueing.place) == (Phase.QUEUED, State.PENDING, Place(1, 1, 2))
    assert [call.path for call in api.calls] == [
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads",
        "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/team/pendingworkloads",
    ]
    assert api.calls[0].query["labelSelector"] == "kueue.x-k8s.io/job-uid=uid-train"


def test_one_that_is_admitted_has_none_and_its_place_is_not_asked_for():
    found = with_queue(ScriptedApi(object_list(workload(conditions=ADMITTED))), jobset(labels=QUEUE))
    assert (found.phase, found.queueing.state, found.queueing.place) == (Phase.RUNNING, State.ADMITTED, None)


def test_one_without_a_queue_is_not_asked_for():
    assert with_queue(ScriptedApi(), jobset()).queueing is None


def test_a_queue_may_hold_one_that_has_no_label():
    """Kueue's manageJobsWithoutQueueName."""
    found = with_queue(ScriptedApi(object_list(workload(conditions=[pending()])), summary(NAME)), BY_PERSON)
    assert found.phase is Phase.QUEUED


@pytest.mark.parametrize(
    ("workloads", "body", "phase", "state"),
    [
        ([], SUSPENDED, Phase.QUEUED, State.UNSEEN),
        ([], BY_PERSON, Phase.SUSPENDED, State.UNSEEN),
        ([workload(conditions=evicted("Deactivated", "x"), active=False)], SUSPENDED, Phase.SUSPENDED, State.HELD),
        ([workload(uid="uid-of-an-earlier-one")], SUSPENDED, Phase.QUEUED, State.UNSEEN),
    ],
)
def test_who_holds_a_suspended_one_back(workloads, body, phase, state):
    found = with_queue(ScriptedApi(object_list(*workloads)), body)
    assert (found.phase, found.queueing.state) == (phase, state)


def test_older_versions_have_an_older_api():
    api = ScriptedApi(NO_KUEUE, object_list(WAITS), NO_KUEUE, summary(NAME))
    assert with_queue(api, SUSPENDED).queueing.place == Place(0, 0, 1)
    assert ["v1beta1" in call.path for call in api.calls] == [False, True, False, True]


def test_without_kueue_it_was_a_person_who_suspended_it():
    found = with_queue(ScriptedApi(NO_KUEUE, NO_KUEUE), SUSPENDED)
    assert (found.phase, found.queueing.state) == (Phase.SUSPENDED, State.NOT_QUEUED)


@pytest.mark.parametrize("error", [FORBIDDEN, UNAVAILABLE, SILENT])
def test_what_kueue_does_not_tell_is_left_out(error):
    found = with_queue(ScriptedApi(error), SUSPENDED)
    assert (found.phase, found.queueing) == (Phase.QUEUED, None)


@pytest.mark.parametrize("answers", [[FORBIDDEN], [UNAVAILABLE], [SILENT], [NO_QUEUE], [NO_KUEUE, NO_KUEUE], [b"no"]])
def test_a_place_that_is_not_told_is_left_out(answers):
    found = with_queue(ScriptedApi(object_list(WAITS), *answers), SUSPENDED)
    assert (found.queueing.state, found.queueing.place) == (State.PENDING, None)


def test_many_workloads_cost_one_list_and_one_request_for_each_queue():
    names = ["a", "b", "c"]
    api = ScriptedApi(
        object_list(*(workload(name, conditions=[pending()]) for name in names)),
        summary(*(f"jobset-{name}-c07e7" for name in names)),
    )
    jobsets = [jobset("plain"), *map(of, names), ended("Failed")]
    found = placed(api, with_queues(api, jobsets))
    assert [each.queueing.place.in_local_queue if each.queueing else None for each in found] == [None, 0, 1, 2, None]
    assert "labelSelector" not in api.calls[0].query


def test_all_namespaces_are_one_list_too():
    other = workload("b", conditions=[pending()])
    elsewhere = of("b")
    for each in (other, elsewhere):
        each["metadata"]["namespace"] = "team-b"
    api = ScriptedApi(object_list(workload("a", conditions=[pending()]), other), summary(), summary("jobset-b-c07e7"))
    found = placed(api, with_queues(api, [of("a"), elsewhere], everywhere=True))
    assert [bool(each.queueing.place) for each in found] == [False, True]
    assert [call.path.split("/")[-5:] for call in api.calls[1:]] == [
        ["namespaces", "default", "localqueues", "team", "pendingworkloads"],
        ["namespaces", "team-b", "localqueues", "team", "pendingworkloads"],
    ]
    assert api.calls[0].path == "/apis/kueue.x-k8s.io/v1beta2/workloads"


@pytest.mark.parametrize(("error", "asked"), [(SILENT, 1), (UNAVAILABLE, 1), (FORBIDDEN, 2), (NO_QUEUE, 2)])
def test_a_visibility_api_that_does_not_answer_is_asked_once(error, asked):
    """One that refuses a namespace may still answer for another."""
    second = workload("b", conditions=[pending()])
    second["spec"]["queueName"] = "other"
    api = ScriptedApi(object_list(workload("a", conditions=[pending()]), second), error, error)
    placed(api, with_queues(api, [of("a"), of("b")]))
    assert len(api.calls) == 1 + asked


def test_the_whole_workload_has_the_pod_templates():
    whole = workload(conditions=ADMITTED)
    whole["spec"]["podSets"] = [{"name": "worker", "template": {"spec": {}}}]
    assert workload_of(ScriptedApi(object_list(whole)), jobset(labels=QUEUE)) == whole


@pytest.mark.parametrize("answers", [[FORBIDDEN], [SILENT], [NO_KUEUE, NO_KUEUE], [object_list()]])
def test_a_whole_workload_that_cannot_be_read_is_unknown(answers):
    assert workload_of(ScriptedApi(*answers), jobset(labels=QUEUE)) is None
