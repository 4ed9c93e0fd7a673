"""Deleting until all is gone, and saying what hangs when it is not."""

import pytest
from fakes.api import ScriptedApi, event, object_list, status_error, thing
from fakes.clock import FakeClock
from fakes.store import LOST, StoreApi, bodies

from xlaunch.cluster.delete import delete, hanging, wait_all_gone, wait_gone
from xlaunch.core.errors import DeadlineError, NetworkError

PODS = "/api/v1/namespaces/default/pods"
GONE_SOON = {"deletionTimestamp": "2026-11-29T12:00:00Z", "deletionGracePeriodSeconds": 30}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def api(clock):
    return StoreApi(clock)


def pod(name="run-worker-0-0", node="node-a", **metadata):
    return {"metadata": {"name": name, "uid": f"uid-{name}", **metadata}, "spec": {"nodeName": node}}


def node(name, ready):
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


def run(api, clock, *jobsets, timeout=60):
    notices = []
    for jobset in jobsets:
        delete(api, jobset, clock=clock, notice=notices.append)
    wait_all_gone(api, jobsets, clock=clock, timeout=timeout, notice=notices.append, flags=("--context=x",))
    return notices


def test_it_deletes_this_very_jobset_with_all_that_it_owns(api, clock):
    jobset = api.put(thing("run"))
    run(api, clock, jobset)
    assert bodies(api, "DELETE") == [
        {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": "uid-run"},
        }
    ]
    assert api.objects == {}


def test_it_returns_the_moment_it_is_gone(api, clock):
    api.linger = 7.5
    run(api, clock, api.put(thing("run")))
    assert clock.seconds == 7.5


def test_several_go_at_once(api, clock):
    api.linger = 20
    run(api, clock, *[api.put(thing(f"run-{index}")) for index in range(5)])
    assert clock.seconds == 20


def test_one_that_is_gone_already_is_fine(api, clock):
    jobset = api.put(thing("run"))
    api.objects.clear()
    assert run(api, clock, jobset) == []


def test_another_of_the_same_name_is_left_alone(api, clock):
    jobset = api.put(thing("run"))
    api.objects.clear()
    api.put(thing("run", uid="another"))
    run(api, clock, jobset)
    assert [item["metadata"]["uid"] for item in api.objects.values()] == ["another"]


def test_one_that_comes_again_under_the_name_is_another(clock):
    jobset = thing("run")
    api = ScriptedApi(
        object_list(thing("run"), version="5"),
        [event("DELETED", thing("run", "6")) + event("ADDED", thing("run", "7", uid="another"))],
    )
    wait_gone(api, jobset, clock=clock, timeout=60, notice=lambda _: None)
    assert api.answers == []


def test_a_deletion_that_was_missed_shows_in_the_fresh_list(clock):
    expired = event("ERROR", {"code": 410, "reason": "Expired", "message": "too old"})
    api = ScriptedApi(object_list(thing("run"), version="5"), [expired], object_list(version="9"))
    wait_gone(api, thing("run"), clock=clock, timeout=60, notice=lambda _: None)
    assert api.answers == []


def test_a_passing_failure_is_tried_again(api, clock):
    jobset = api.put(thing("run"))
    api.fail("DELETE", LOST, status_error(503, "ServiceUnavailable"))
    assert len(run(api, clock, jobset)) == 2
    assert api.objects == {}


def test_a_refusal_is_not(api, clock):
    api.fail("DELETE", status_error(403, "Forbidden", "no"))
    with pytest.raises(Exception, match="no") as caught:
        run(api, clock, api.put(thing("run")))
    assert caught.value.code == 4


def test_a_server_that_stays_away_ends_it(api, clock):
    api.fail("DELETE", *[LOST] * 99)
    with pytest.raises(NetworkError):
        run(api, clock, api.put(thing("run")))
    assert clock.seconds == 60


# --- what hangs ---


def stuck(api, clock, *pods, timeout=60):
    """The error when the JobSet and these pods do not go."""
    api.linger = None
    jobset = api.put(thing("run"))
    for each in pods:
        api.put(each, PODS)
    with pytest.raises(DeadlineError) as caught:
        run(api, clock, jobset, timeout=timeout)
    return caught.value


def test_a_pod_on_a_dead_node_is_named_with_the_way_out(api, clock):
    api.put(node("node-a", "Unknown"), "/api/v1/nodes")
    error = stuck(api, clock, pod(**GONE_SOON))
    assert (error.code, error.message) == (124, "run is not gone after 60 s")
    assert error.why == "pod run-worker-0-0 is on node node-a, which does not answer"
    assert error.next == "kubectl delete pod run-worker-0-0 --namespace default --force --grace-period=0"
    assert clock.seconds == 60


def test_a_node_that_is_no_more(api, clock):
    assert "which does not answer" in stuck(api, clock, pod(**GONE_SOON)).why


def test_a_pod_that_is_ending_on_a_living_node(api, clock):
    api.put(node("node-a", "True"), "/api/v1/nodes")
    error = stuck(api, clock, pod(**GONE_SOON))
    assert error.why == "pod run-worker-0-0 is ending (grace period 30 s)"
    assert error.next == "xlaunch wait run --for=deleted --context=x"


def test_a_pod_with_a_finalizer(api, clock):
    api.put(node("node-a", "True"), "/api/v1/nodes")
    error = stuck(api, clock, pod(finalizers=["example.com/hold"], **GONE_SOON))
    assert error.why == "pod run-worker-0-0 has the finalizers example.com/hold"


def test_a_jobset_with_a_finalizer(api, clock):
    api.linger = None
    jobset = api.put(thing("run", finalizers=["foregroundDeletion", "example.com/hold"]))
    with pytest.raises(DeadlineError) as caught:
        run(api, clock, jobset)
    assert caught.value.why == "the JobSet has the finalizers example.com/hold"


def test_of_many_pods_three_are_named(api, clock):
    assert stuck(api, clock, *[pod(f"run-worker-0-{index}") for index in range(12)]).why.endswith("and 9 more pods")


def test_no_pod_is_left(api, clock):
    assert "No pod of it is left" in stuck(api, clock).why


def test_who_may_not_read_pods_is_told_so():
    api = ScriptedApi(status_error(403, "Forbidden", "pods is forbidden"))
    assert hanging(api, thing("run")) == (["What hangs cannot be read: pods is forbidden"], "")


def test_who_may_not_read_nodes_gets_no_advice_to_force(api, clock):
    api.put(node("node-a", "Unknown"), "/api/v1/nodes")
    api.linger = None
    jobset = api.put(thing("run"))
    api.put(pod(**GONE_SOON), PODS)
    read = api.request

    def guarded(method, path, **options):
        if path.startswith("/api/v1/nodes"):
            raise status_error(403, "Forbidden")
        return read(method, path, **options)

    api.request = guarded
    assert hanging(api, jobset) == (["pod run-worker-0-0 is ending (grace period 30 s)"], "")


def test_several_that_hang_are_all_told_within_one_time_limit(api, clock):
    api.linger = None
    jobsets = [api.put(thing("a")), api.put(thing("b"))]
    with pytest.raises(DeadlineError) as caught:
        run(api, clock, *jobsets)
    assert caught.value.message == "a, b are not gone after 60 s"
    assert caught.value.why.startswith("a: No pod of it is left")
    assert ". b: No pod of it is left" in caught.value.why
    assert clock.seconds == 60


def test_one_of_several_hangs(api, clock):
    api.linger = None
    hung = api.put(thing("a"))
    delete(api, hung, clock=clock, notice=lambda _: None)
    api.linger = 5
    goes = api.put(thing("b"))
    with pytest.raises(DeadlineError, match=r"^a is not gone"):
        run(api, clock, hung, goes)
