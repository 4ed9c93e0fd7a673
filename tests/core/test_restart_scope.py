"""The restart scope: what refuses it, and what a plan records of it."""

import pytest
import yaml

from xlaunch.cli import shipped
from xlaunch.core.manifest import make_plan
from xlaunch.core.restart_scope import GATE_OFF, SCOPE_ANNOTATION, TOO_OLD, lacking, restarts_slices
from xlaunch.core.spec import PathwaysSpec
from xlaunch.core.tpu import lookup

REFUSALS = {
    'admission webhook "vjobset.kb.io" denied the request: <nil>: Internal error: RestartJob and'
    " RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is"
    " disabled": GATE_OFF,
    'JobSet.jobset.x-k8s.io "x" is invalid: spec.failurePolicy.rules[0].action: Unsupported value: "RestartJob":'
    ' supported values: "FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"': TOO_OLD,
    'spec.failurePolicy.rules[0].action: Unsupported value: "RestartJobAndIgnoreMaxRestarts": supported values':
        TOO_OLD,
    'strict decoding error: unknown field "spec.failurePolicy.rules"': TOO_OLD,
    'spec.failurePolicy.rules[0].action: Unsupported value: "Restart": supported values: "RestartJob"': "",
    "exceeded quota": "",
    "": "",
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS)
def test_what_a_cluster_lacks(message):
    assert lacking(message) == REFUSALS[message]


@pytest.mark.parametrize(
    ("actions", "found"),
    [([], False), (["FailJobSet", "RestartJobSet"], False), (["FailJobSet", "RestartJob"], True),
     (["RestartJobAndIgnoreMaxRestarts"], True)],
)  # fmt: skip
def test_rules_that_restart_slices(actions, found):
    assert restarts_slices({"spec": {"failurePolicy": {"rules": [{"action": each} for each in actions]}}}) == found
    assert not restarts_slices({"spec": {}})


def plan(**options):
    usual = {"scratch": "gs://my-bucket/tmp", "image": "img", "command": ("true",)}
    spec = PathwaysSpec("demo", lookup("v5litepod-16"), **usual, **options)
    return make_plan(spec, shipped.text(shipped.PATHWAYS))


@pytest.mark.parametrize("scope", ["pod", "slice"])
def test_what_auto_has_chosen_is_recorded_and_is_no_part_of_what_runs(scope):
    chosen, asked = plan(restart_scope=scope, auto_scope=True), plan(restart_scope=scope)
    assert chosen.manifest["metadata"]["annotations"][SCOPE_ANNOTATION] == scope
    assert yaml.safe_load(chosen.text) == chosen.manifest
    assert SCOPE_ANNOTATION not in asked.manifest["metadata"]["annotations"]
    assert chosen.hash == asked.hash


def test_the_two_scopes_are_two_plans():
    assert plan(restart_scope="pod", auto_scope=True).hash != plan(restart_scope="slice", auto_scope=True).hash


@pytest.mark.parametrize(("auto", "needs"), [(True, False), (False, True)])
def test_the_budget_is_told_and_what_the_cluster_needs_unless_it_was_asked(auto, needs):
    made = plan(restart_scope="slice", auto_scope=auto, num_slices=3, elastic_slices=3, max_slice_restarts=10)
    (notice,) = made.notices
    assert "the 33 restarts are one budget" in notice
    assert ("feature gate" in notice) == needs
