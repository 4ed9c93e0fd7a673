"""Refusals as servers word them: one sentence each."""

import json

import pytest

from xlaunch.core.excerpt import LENGTH
from xlaunch.core.refusals import sentence

DENIED = 'admission webhook "vjobset.kb.io" denied the request: '
INVALID = 'JobSet.jobset.x-k8s.io "x" is invalid: '
COORDINATOR = (
    'spec will lead to invalid label value "a.a" for coordinator label "jobset.sigs.k8s.io/coordinator" (long JobSet /'
    " ReplicatedJob / SubDomain name?): must be no more than 63 bytes"
)
UNFINISHED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
JOBS = json.dumps([{"name": "worker", "args": ['a "quoted": word', "b: c"]}] * 40)


def cause(field, message):
    return {"reason": "FieldValueInvalid", "field": field, "message": message}


@pytest.mark.parametrize(
    ("causes", "told"),
    [
        pytest.param([cause("<nil>", f"Internal error: {COORDINATOR}")], COORDINATOR, id="plain error of a webhook"),
        pytest.param(
            [cause("spec.replicatedJobs[0].name", 'Invalid value: "a-b-0": JobSet name is too long')],
            'spec.replicatedJobs[0].name: Invalid value: "a-b-0": JobSet name is too long',
            id="short value",
        ),
        pytest.param(
            [cause("spec.replicatedJobs", f"Invalid value: {JOBS}: field is immutable")],
            "spec.replicatedJobs: Invalid value: field is immutable",
            id="long list",
        ),
        pytest.param(
            [cause("spec.x", f"Invalid value: {json.dumps([{'a': 'b}: c' * 30}])}: wrong")],
            "spec.x: Invalid value: wrong",
            id="braces in JSON",
        ),
        pytest.param(
            [cause("spec.managedBy", f'Invalid value: "{"a" * 90}\\"": must have a domain')],
            "spec.managedBy: Invalid value: must have a domain",
            id="long string",
        ),
        pytest.param(
            [cause("spec.ports[1]", f"Duplicate value: {JOBS}")],
            "spec.ports[1]: Duplicate value",
            id="nothing follows the value",
        ),
        pytest.param(
            [cause("spec.x", f"Invalid value: {'x' * 90}: wrong")], "spec.x: Invalid value: wrong", id="Go's own form"
        ),
        pytest.param(
            [cause("spec.a", "Required value"), cause("spec.a", "Required value"), cause("spec.b", "Forbidden: no")],
            "spec.a: Required value (1 more)",
            id="several",
        ),
        pytest.param(
            [
                cause("spec.a", "Required value"),
                cause(
                    "<nil>",
                    f"Invalid value: null: {UNFINISHED}",
                ),
            ],
            "spec.a: Required value",
            id="a remark about the check itself",
        ),
    ],
)
def test_causes(causes, told):
    assert sentence(f"{DENIED}{INVALID}[all of them]", {"causes": causes}) == told


@pytest.mark.parametrize(
    "value",
    [
        'core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:""}, Env: []core.EnvVar{{Name:"T", Value:"%s: }: x"}}}',
        'map[string]interface {}{"a": "b: c", "env": "%s"}',
        '[]interface {}{map[string]interface {}{"name": "T", "value": "%s"}}',
        '&v1.Job{Spec: v1.JobSpec{Env: "%s"}}',
    ],
)
def test_long_objects_in_the_form_of_go_are_not_told(value):
    """The value of a variable may be one of theirs."""
    message = f"Invalid value: {value % ('hunter2' * 12)}: field is immutable"
    told = sentence("", {"causes": [cause("spec.template", message)]})
    assert told == "spec.template: Invalid value: field is immutable"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            'JobSet in version "v1alpha2" cannot be handled as a JobSet: strict decoding error: unknown field "spec.a"',
            'unknown field "spec.a"',
        ),
        (
            'jobsets.jobset.x-k8s.io "x" is forbidden: exceeded quota: q, requested: count/jobsets=1',
            'jobsets.jobset.x-k8s.io "x" is forbidden: exceeded quota: q, requested: count/jobsets=1',
        ),
        # JobSet before 0.12 joins its errors by line breaks
        (
            f'{DENIED}spec.replicatedJobs[0].name: Invalid value: "a": JobSet name is too long\nanother',
            f'{DENIED}spec.replicatedJobs[0].name: Invalid value: "a": JobSet name is too long another',
        ),
        ("", ""),
    ],
)
def test_without_causes(message, told):
    assert sentence(message, {}) == told


def test_a_strangers_essay_is_cut():
    told = sentence(f'admission webhook "policy.example.com" denied the request: {"because " * 100}so there', {})
    assert len(told) <= LENGTH
    assert told.startswith('admission webhook "policy.example.com" denied the request: ')
    assert told.endswith("so there")


def test_a_cause_without_a_field():
    assert sentence("m", {"causes": [{"message": "no room"}]}) == "no room"
