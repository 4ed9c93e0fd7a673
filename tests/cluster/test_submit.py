"""Submitting a plan into every state its name may be in, through what may happen on the way."""

import pytest
from fakes.api import status_error
from fakes.clock import FakeClock
from fakes.kueue import evicted, workload
from fakes.store import LOST, StoreApi, bodies

from xlaunch import __version__
from xlaunch.cluster.api import ApiError
from xlaunch.cluster.submit import submit
from xlaunch.core.errors import (
    ConflictError,
    DeadlineError,
    NetworkError,
    NotFoundError,
    RefusedError,
    WorkloadFailedError,
    XlaunchError,
)
from xlaunch.core.plan import HASH_ANNOTATION, finished

DONE_AT = "2026-11-29T11:00:00Z"


def manifest(image="a", namespace="default"):
    job = {"completions": 1, "template": {"spec": {"containers": [{"name": "main", "image": image}]}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "run", "namespace": namespace},
        "spec": {"replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": job}}]},
    }


def condition(kind):
    return {"conditions": [{"type": kind, "status": "True", "message": "so it is", "lastTransitionTime": DONE_AT}]}


# What the name may be in: status, and what else differs from a JobSet that was just made
STATES = {
    "new": {},
    "running": {"status": {"replicatedJobsStatus": [{"name": "worker", "ready": 1}]}},
    "queued": {"spec": {"suspend": True}, "labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "completed": {"status": {"terminalState": "Completed", **condition("Completed")}},
    "failed": {"status": {"terminalState": "Failed", **condition("Failed")}},
    "suspended": {"spec": {"suspend": True}},
    "deleting": {"metadata": {"deletionTimestamp": DONE_AT}},
}


class Stage:
    """A server, a clock, and what was told."""

    def __init__(self):
        self.clock = FakeClock()
        self.api = StoreApi(self.clock)
        self.plan = finished(manifest())
        self.notices, self.confirmed = [], []

    def existing(self, state, plan=None):
        item = {**(plan or self.plan).manifest, "status": STATES[state].get("status", {})}
        item["spec"] = {**item["spec"], **STATES[state].get("spec", {})}
        item["metadata"] = {
            **item["metadata"],
            **STATES[state].get("metadata", {}),
            "labels": STATES[state].get("labels", {}),
        }
        stored = self.api.put(item)
        if state == "deleting":
            self.api.leaving[self.path] = self.clock.monotonic() + 30
        return stored

    @property
    def path(self):
        return "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/run"

    def submit(self, if_exists="", **options):
        options = {"timeout": 60, "replace_timeout": 100, "flags": ("--cluster=local",), **options}
        return submit(
            self.api,
            options.pop("plan", self.plan),
            if_exists=if_exists,
            clock=self.clock,
            notice=self.notices.append,
            confirm=options.pop("confirm", self.confirmed.append),
            **options,
        )


@pytest.fixture
def stage():
    return Stage()


OTHER = finished(manifest(image="b"))


def test_a_new_name_is_created(stage):
    stage.api.warnings = ("spec.x: unknown field",)
    done = stage.submit()
    assert (done.action, done.name, done.namespace) == ("created", "run", "default")
    assert done.warnings == ("spec.x: unknown field",)
    assert done.jobset["metadata"]["uid"]
    (sent,) = bodies(stage.api, "POST")
    assert sent["metadata"]["annotations"].pop("xlaunch.dev/version") == __version__
    assert sent == stage.plan.manifest
    assert stage.api.calls[-1].query == {"fieldManager": "xlaunch", "fieldValidation": "Strict"}
    assert stage.clock.slept == []


def test_the_plans_namespace_wins(stage):
    stage.submit(plan=finished(manifest(namespace="team")))
    assert {call.path.split("/")[5] for call in stage.api.calls} == {"team"}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("new", "run is unchanged (Pending)"),
        ("running", "run is unchanged (Running)"),
        ("queued", "run is unchanged (Queued)"),
        ("completed", f"run has already completed at {DONE_AT}"),
    ],
)
def test_the_same_plan_again_changes_nothing(stage, state, message):
    there = stage.existing(state)
    done = stage.submit()
    assert (done.action, done.message) == ("unchanged", message)
    assert done.jobset["metadata"]["uid"] == there["metadata"]["uid"]
    assert bodies(stage.api, "POST") == bodies(stage.api, "DELETE") == []


@pytest.mark.parametrize(
    ("state", "error", "next"),
    [
        ("failed", WorkloadFailedError, "Add --if-exists=replace-finished to run the same again"),
        ("suspended", ConflictError, "kubectl patch jobset run --namespace default --type=merge"),
        ("deleting", ConflictError, "xlaunch wait run --for=deleted --cluster=local, then again"),
    ],
)
def test_the_same_plan_again_where_that_is_no_success(stage, state, error, next):
    stage.existing(state)
    with pytest.raises(error) as caught:
        stage.submit()
    assert next in caught.value.next
    assert bodies(stage.api, "POST") == []


def test_the_same_plan_again_where_its_queue_holds_it_back(stage):
    uid = stage.existing("queued")["metadata"]["uid"]
    held = workload("run", uid=uid, conditions=evicted("Deactivated", "The workload is deactivated"), active=False)
    stage.api.put(held, "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")
    with pytest.raises(ConflictError) as caught:
        stage.submit()
    assert caught.value.message == "run exists and is suspended"
    assert "kubectl patch workload.kueue.x-k8s.io jobset-run-c07e7 -n default" in caught.value.next


def test_a_failed_one_says_when_and_why(stage):
    stage.existing("failed")
    with pytest.raises(WorkloadFailedError) as caught:
        stage.submit()
    assert (caught.value.message, caught.value.why) == (f"run has failed already at {DONE_AT}", "so it is")


@pytest.mark.parametrize("state", ["new", "running", "queued", "completed", "failed", "suspended"])
def test_another_plan_is_a_conflict(stage, state):
    stage.existing(state, OTHER)
    with pytest.raises(ConflictError) as caught:
        stage.submit()
    assert caught.value.message == "run exists already and differs"
    assert "it was made from another plan" in caught.value.why
    assert "xlaunch workload delete run --cluster=local" in caught.value.next
    assert bodies(stage.api, "DELETE") == []


def test_one_that_xlaunch_did_not_make(stage):
    theirs = manifest()
    stage.api.put(theirs)
    with pytest.raises(ConflictError) as caught:
        stage.submit()
    assert "it was not made by xlaunch" in caught.value.why


def test_one_of_another_version_may_differ_by_its_template_alone(stage):
    theirs = finished(manifest(image="b")).manifest
    theirs["metadata"]["annotations"]["xlaunch.dev/version"] = "0.0.1"
    stage.api.put(theirs)
    with pytest.raises(ConflictError) as caught:
        stage.submit()
    assert f"xlaunch 0.0.1 made it and this is {__version__}" in caught.value.why


@pytest.mark.parametrize("state", STATES)
def test_skip_leaves_everything_alone(stage, state):
    stage.existing(state, OTHER)
    done = stage.submit("skip")
    assert done.action == "unchanged"
    assert "left alone" in done.message
    assert {call.method for call in stage.api.calls} == {"GET"}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("plan", [None, OTHER], ids=["same", "other"])
def test_replace_waits_until_the_old_one_is_gone(stage, state, plan):
    old = stage.existing(state, plan)
    stage.api.linger = 40
    done = stage.submit("replace")
    assert done.action == "replaced"
    assert done.jobset["metadata"]["uid"] != old["metadata"]["uid"]
    assert [workload.uid for workload in stage.confirmed] == [old["metadata"]["uid"]]
    assert stage.clock.seconds == (30 if state == "deleting" else 40)
    for body in bodies(stage.api, "DELETE"):
        assert body["preconditions"] == {"uid": old["metadata"]["uid"]}
        assert body["propagationPolicy"] == "Foreground"


@pytest.mark.parametrize("state", ["completed", "failed"])
def test_replace_finished_replaces_what_has_ended(stage, state):
    stage.existing(state)
    assert stage.submit("replace-finished").action == "replaced"


def test_replace_finished_leaves_the_living(stage):
    stage.existing("running")
    assert stage.submit("replace-finished").action == "unchanged"
    with pytest.raises(ConflictError):
        stage.submit("replace-finished", plan=OTHER)
    assert bodies(stage.api, "DELETE") == []


def test_nothing_happens_without_a_yes(stage):
    stage.existing("running", OTHER)

    def refuse(workload):
        raise ConflictError("no")

    with pytest.raises(ConflictError, match="no"):
        stage.submit("replace", confirm=refuse)
    assert {call.method for call in stage.api.calls} == {"GET"}


def test_an_old_one_that_hangs_is_told(stage):
    stage.existing("running", OTHER)
    stage.api.linger = None
    with pytest.raises(DeadlineError, match="run is not gone after 100 s"):
        stage.submit("replace")
    assert bodies(stage.api, "POST") == []


# --- somebody else is quicker ---


@pytest.mark.parametrize(("plan", "action"), [(None, "unchanged"), (OTHER, None)], ids=["same", "other"])
def test_another_creator_is_quicker(stage, plan, action):
    stage.api.meanwhile("POST", lambda: stage.existing("new", plan))
    if action:
        assert stage.submit().action == action
    else:
        with pytest.raises(ConflictError, match="differs"):
            stage.submit()


def test_somebody_takes_the_name_that_was_made_free(stage):
    stage.existing("running", OTHER)
    stage.api.meanwhile("POST", lambda: stage.existing("new", OTHER))
    done = stage.submit("replace")
    assert done.action == "replaced"
    assert len(bodies(stage.api, "DELETE")) == 2


def test_the_old_one_is_replaced_by_somebody_while_we_ask(stage):
    """The precondition keeps us from deleting what we did not ask about."""
    old = stage.existing("running", OTHER)

    def swap():
        stage.api.remove(stage.path)
        stage.existing("new", OTHER)

    stage.api.meanwhile("DELETE", swap)
    stage.submit("replace")
    asked = [body["preconditions"]["uid"] for body in bodies(stage.api, "DELETE")]
    assert asked[0] == old["metadata"]["uid"]
    assert [workload.uid for workload in stage.confirmed] == asked


def test_a_controller_that_makes_it_again_and_again_ends_it(stage):
    stage.existing("running", OTHER)
    remove = stage.api.remove

    def come_back(path):
        remove(path)
        stage.existing("new", OTHER)

    stage.api.remove = come_back
    with pytest.raises(ConflictError, match="comes back as fast as it is deleted"):
        stage.submit("replace")
    assert len(bodies(stage.api, "DELETE")) == 4


def test_the_time_for_failures_begins_when_the_old_one_is_gone(stage):
    stage.existing("running", OTHER)
    stage.api.linger = 90
    stage.api.fail("POST", LOST)
    assert stage.submit("replace", timeout=60).action == "replaced"


# --- transient failures ---

NO_AGENT = 'Internal error occurred: failed calling webhook "mjobset.kb.io": No agent available'


@pytest.mark.parametrize(
    "error",
    [
        status_error(500, "InternalError", NO_AGENT),
        status_error(429, "TooManyRequests"),
        status_error(502, "BadGateway"),
        status_error(503, "ServiceUnavailable"),
        status_error(504, "Timeout"),
        LOST,
    ],
    ids=["webhook", "429", "502", "503", "504", "network"],
)
def test_what_passes_by_itself_is_tried_again(stage, error):
    stage.api.fail("POST", error, error)
    assert stage.submit().action == "created"
    assert stage.clock.slept == [1, 2]
    assert stage.notices[0].startswith("Not yet: ")
    assert stage.notices[0].endswith("Trying again in 1 s")


def test_retry_after_is_honoured(stage):
    stage.api.fail("POST", ApiError(429, "TooManyRequests", "slow down", retry_after=9.0))
    stage.submit()
    assert stage.clock.slept == [9]


def test_it_is_not_tried_for_ever(stage):
    stage.api.fail("POST", *[status_error(500, "InternalError", NO_AGENT)] * 99)
    with pytest.raises(NetworkError) as caught:
        stage.submit(timeout=60)
    assert (caught.value.code, caught.value.message) == (1, "Nothing but failures for 60 s")
    assert "No agent available" in caught.value.why
    assert stage.clock.seconds == 60


def test_a_server_that_never_answered_is_not_waited_for(stage):
    stage.api.fail("GET", LOST)
    with pytest.raises(NetworkError, match="Cannot reach"):
        stage.submit()
    assert stage.clock.slept == []


def test_a_server_that_is_busy_from_the_start_is_waited_for(stage):
    stage.api.fail("GET", status_error(503, "ServiceUnavailable"))
    assert stage.submit().action == "created"


def test_an_answer_that_got_lost_is_no_conflict_with_oneself(stage):
    stage.api.lose("POST")
    done = stage.submit()
    assert (done.action, done.message) == ("created", "")
    assert len(bodies(stage.api, "POST")) == 1


def test_an_answer_that_got_lost_after_a_replacement(stage):
    stage.existing("failed")
    stage.api.lose("POST")
    assert stage.submit("replace").action == "replaced"
    assert len(bodies(stage.api, "DELETE")) == 1


# --- refusals ---


def test_a_refusal_is_one_readable_sentence(stage):
    long = 'admission webhook "vjobset.kb.io" denied the request: [' + "x, " * 2000 + "]:\n Value is immutable"
    stage.api.fail("POST", status_error(422, "Invalid", long))
    with pytest.raises(RefusedError) as caught:
        stage.submit()
    error = caught.value
    assert (error.code, error.message, error.reason) == (4, "The API server refuses run", "Invalid")
    assert error.why.startswith('admission webhook "vjobset.kb.io" denied the request')
    assert error.why.endswith("Value is immutable")
    assert len(error.why) <= 300
    assert "\n" not in error.why
    assert stage.clock.slept == []


def test_a_webhooks_causes_are_told_without_their_values(stage):
    cause = {"field": "spec.replicatedJobs", "message": f"Invalid value: {[{}] * 99}: field is immutable"}
    stage.api.fail("POST", status_error(422, "Invalid", "the whole list", causes=[cause]))
    with pytest.raises(RefusedError) as caught:
        stage.submit()
    assert caught.value.why == "spec.replicatedJobs: Invalid value: field is immutable"


@pytest.mark.parametrize("status", [400, 403, 409, 413, 422])
def test_every_refusal_is_exit_4(stage, status):
    stage.api.fail("POST", status_error(status, "Invalid", "no"))
    with pytest.raises(RefusedError):
        stage.submit()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_jobset(stage, method):
    stage.api.fail(method, status_error(404, "NotFound", "the server could not find the requested resource"))
    with pytest.raises(RefusedError, match="has no JobSet"):
        stage.submit()


def test_without_the_namespace(stage):
    stage.api.fail(
        "POST", status_error(404, "NotFound", 'namespaces "default" not found', name="default", kind="namespaces")
    )
    with pytest.raises(NotFoundError) as caught:
        stage.submit()
    assert caught.value.next == "kubectl create namespace default"


def test_credentials_that_are_refused(stage):
    stage.api.fail("GET", status_error(401, "Unauthorized"))
    with pytest.raises(XlaunchError) as caught:
        stage.submit()
    assert caught.value.code == 1


def test_the_stored_annotation_is_what_is_compared(stage):
    done = stage.submit()
    assert done.jobset["metadata"]["annotations"][HASH_ANNOTATION] == stage.plan.hash
    assert stage.submit().action == "unchanged"
