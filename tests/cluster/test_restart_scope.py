"""--restart-scope=auto: what the cluster's answers to a dry run mean."""

import copy

import pytest
from fakes.api import status_error
from fakes.clock import FakeClock
from fakes.cluster import reference_jobset
from fakes.store import LOST, TOO_LONG, StoreApi, bodies

from xlaunch.cluster.dry_run import DryRun
from xlaunch.cluster.restart_scope import choose
from xlaunch.core.errors import NetworkError, NotFoundError, RefusedError
from xlaunch.core.plan import finished

GATE = status_error(
    422, "Invalid", "actions are not allowed when RestartJob feature gate is disabled", causes=[{"message": "x"}]
)
ENUM = status_error(422, "Invalid", 'spec.failurePolicy.rules[0].action: Unsupported value: "RestartJob"')
QUOTA = status_error(403, "Forbidden", "exceeded quota: team")
NO_DRY_RUN = status_error(400, "BadRequest", 'admission webhook "x" does not support dry run')
BUSY = status_error(429, "TooManyRequests", "slow down")


@pytest.fixture
def api():
    return StoreApi(FakeClock())


def plan(action="RestartJob"):
    rules = [{"name": "slice_only", "action": action, "targetReplicatedJobs": ["worker"]}]
    made = reference_jobset(failurePolicy={"maxRestarts": 3, "rules": rules})
    made["metadata"]["namespace"] = "default"
    return finished(made)


def chosen(api, made=None, timeout=60.0):
    server = DryRun(api, made or plan(), clock=api.clock, timeout=timeout, notice=lambda _: None)
    return choose(server)


def test_accepted_is_slice_and_nothing_is_stored(api):
    assert chosen(api).scope == "slice"
    assert api.objects == {}
    assert {call.query["dryRun"] for call in api.calls if call.method == "POST"} == {"All"}


def test_a_workload_of_that_name_does_not_stand_in_the_way(api):
    api.put(copy.deepcopy(plan().manifest))
    assert chosen(api).scope == "slice"
    api.verdicts["JobSet"] = GATE
    assert chosen(api).scope == "pod"


@pytest.mark.parametrize(
    ("refusal", "why"), [(GATE, "feature gate RestartJob is off"), (ENUM, "came with JobSet 0.12")]
)
def test_refused_for_want_of_restart_job_is_pod(api, refusal, why):
    api.verdicts["JobSet"] = refusal
    choice = chosen(api)
    assert choice.scope == "pod"
    assert why in choice.why


def test_a_template_without_such_a_rule_is_pod(api):
    assert chosen(api, plan("RestartJobSet")).scope == "pod"


@pytest.mark.parametrize(
    ("answer", "scope"),
    [
        (None, "pod"),
        (status_error(403, "Forbidden", TOO_LONG), "pod"),
        (status_error(422, "Invalid", TOO_LONG), "slice"),
        (QUOTA, "slice"),
    ],
)
def test_a_schema_that_is_newer_than_its_controller_is_not_believed(api, answer, scope):
    """Its rules would be stored, and a failed slice would leave the controller without an answer for ever."""
    api.on_probe = answer
    choice = chosen(api)
    assert choice.scope == scope
    assert ("older than its schema" in choice.why) == (scope == "pod")


def test_any_other_refusal_is_the_plans_own(api):
    api.verdicts["JobSet"] = QUOTA
    with pytest.raises(RefusedError, match="The API server refuses demo-elastic") as refusal:
        chosen(api)
    assert refusal.value.why == "exceeded quota: team"


def test_a_webhook_that_takes_no_dry_run_leaves_the_choice_to_the_user(api):
    api.verdicts["JobSet"] = NO_DRY_RUN
    with pytest.raises(RefusedError, match="--restart-scope=auto can't ask") as refusal:
        chosen(api)
    assert refusal.value.next.startswith("Take --restart-scope=pod")


def test_no_namespace_and_no_jobset_are_said_as_by_a_submission(api):
    api.verdicts["JobSet"] = status_error(404, "NotFound", "namespaces not found", kind="namespaces")
    with pytest.raises(NotFoundError, match="There is no namespace default"):
        chosen(api)
    api.verdicts["JobSet"] = status_error(404, "NotFound", "404 page not found")
    with pytest.raises(RefusedError, match="JobSet"):
        chosen(api)


def test_what_passes_is_tried_again(api):
    api.fail("POST", BUSY, LOST, BUSY)
    assert chosen(api).scope == "slice"
    api.fail("POST", LOST)
    assert chosen(api).scope == "slice"
    assert len(bodies(api, "POST")) == 5 + 3


def test_a_server_that_never_answers_is_not_waited_for(api):
    api.fail("GET", LOST)
    with pytest.raises(NetworkError):
        chosen(api)
    assert api.clock.monotonic() == FakeClock().monotonic()
