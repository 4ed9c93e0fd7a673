"""Decoding and checking by the published schemas."""

import pytest

from xlaunch.local.apiserver.decoding import decode
from xlaunch.local.apiserver.resources import DEFINITIONS, SERVED
from xlaunch.local.apiserver.schema import check, definition, immutable_changes, with_zero_values

JOBSET = {"spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": {"containers": []}}}}}]}}


TOO_SMALL = (
    "spec.ttlSecondsAfterFinished: Invalid value: -1: "
    "spec.ttlSecondsAfterFinished in body should be greater than or equal to 0"
)


def with_spec(**parts):
    return {"spec": {**JOBSET["spec"], **parts}}


def test_every_served_kind_but_the_crd_has_a_schema_and_all_references_lead_somewhere():
    assert {each.kind for each in SERVED if each.schema not in DEFINITIONS} == {"CustomResourceDefinition"}

    def references(node):
        if isinstance(node, dict):
            yield from [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            for each in node.values():
                yield from references(each)
        elif isinstance(node, list):
            for each in node:
                yield from references(each)

    assert set(references(DEFINITIONS)) <= DEFINITIONS.keys()


@pytest.mark.parametrize(
    ("kind", "value", "unknown"),
    [
        ("Pod", {"bogus": 1}, ["bogus"]),
        ("Pod", {"spec": {"containers": [{"name": "a", "imag": "x"}]}}, ["spec.containers[0].imag"]),
        ("Pod", {"metadata": {"labels": {"anything": "x"}}}, []),
        ("Pod", {"spec": {"volumes": [{"name": "v", "emptyDir": {"x": 1}}]}}, ["spec.volumes[0].emptyDir.x"]),
        ("JobSet", with_spec(networks={}), ["spec.networks"]),
        ("Job", {"spec": {"template": {"spec": {"restartPolcy": "Never"}}}}, ["spec.template.spec.restartPolcy"]),
        ("CustomResourceDefinition", {"spec": {"anything": 1}}, []),
    ],
)
def test_unknown_fields_are_dropped_and_named(kind, value, unknown):
    found = decode(value, kind)
    assert found.unknown == unknown
    assert decode(found.value, kind).unknown == []


def test_decoding_copies_and_drops_nulls():
    value = {"metadata": {"creationTimestamp": None, "labels": {"a": "1"}}}
    found = decode(value, "Pod").value
    assert found == {"metadata": {"labels": {"a": "1"}}}
    found["metadata"]["labels"]["a"] = "2"
    assert value["metadata"]["labels"]["a"] == "1"


@pytest.mark.parametrize(
    ("kind", "value", "field"),
    [
        ("Job", {"spec": {"parallelism": "4"}}, "spec.parallelism"),
        ("Job", {"spec": {"parallelism": True}}, "spec.parallelism"),
        ("Job", {"spec": {"suspend": 1}}, "spec.suspend"),
        ("Pod", {"spec": {"containers": {}}}, "spec.containers"),
        ("Pod", {"metadata": {"labels": {"a": 1}}}, "metadata.labels.a"),
        ("Pod", {"spec": {"containers": [{"env": [{"name": "A", "value": 1}]}]}}, "spec.containers[0].env[0].value"),
        ("JobSet", with_spec(suspend="yes"), "spec.suspend"),
    ],
)
def test_wrong_types_are_named(kind, value, field):
    assert [each.field for each in decode(value, kind).problems] == [field]


def test_a_quantity_may_be_a_number_and_gets_its_one_form():
    value = {"spec": {"containers": [{"resources": {"limits": {"google.com/tpu": 4, "memory": "1.5Gi"}}}]}}
    found = decode(value, "Pod")
    assert found.problems == []
    assert found.value["spec"]["containers"][0]["resources"]["limits"] == {"google.com/tpu": "4", "memory": "1536Mi"}


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (
            "Job",
            {"spec": {"backoffLimit": "six"}},
            "string into Go struct field JobSpec.spec.backoffLimit of type int32",
        ),
        ("Job", {"spec": {"backoffLimit": 2**40}}, f"number {2**40} into Go struct field JobSpec.spec.backoffLimit of"),
        (
            "Pod",
            {"metadata": {"labels": {"a": 1}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "Pod",
            {"spec": {"containers": [{"args": "x"}]}},
            "string into Go struct field Container.spec.containers.args of",
        ),
        ("JobSet", with_spec(suspend="yes"), "string into Go struct field JobSetSpec.spec.suspend of type bool"),
    ],
)
def test_a_wrong_type_is_told_as_go_does(kind, value, message):
    assert decode(value, kind).problems[0].message.startswith(f"json: cannot unmarshal {message}")


def test_a_crd_knows_little_of_a_templates_metadata():
    metadata = {"name": "x", "labels": {"a": "b"}, "creationTimestamp": None}
    jobs = [{"name": "w", "template": {"spec": {"template": {"metadata": metadata, "spec": {"containers": []}}}}}]
    unknown = "spec.replicatedJobs[0].template.spec.template.metadata.creationTimestamp"
    assert decode(with_spec(replicatedJobs=jobs), "JobSet").unknown == [unknown]
    assert decode({"spec": {"template": {"metadata": metadata}}}, "Job").unknown == []


def test_a_go_program_writes_the_fields_that_its_types_require():
    jobs = [{"template": {"spec": {"template": {"spec": {}}}}, "dependsOn": [{"name": "x"}]}]
    filled = with_zero_values(with_spec(replicatedJobs=jobs), definition("JobSet"))["spec"]["replicatedJobs"][0]
    assert filled["template"]["spec"]["template"]["spec"] == {"containers": None}
    assert (filled["name"], filled["dependsOn"]) == ("", [{"name": "x", "status": ""}])


def test_a_required_field_of_two_types_is_missed():
    main = {"name": "main", "image": "x", "livenessProbe": {"httpGet": {"path": "/"}}}
    jobs = [{"name": "w", "template": {"spec": {"template": {"spec": {"containers": [main]}}}}}]
    filled = with_zero_values(with_spec(replicatedJobs=jobs), definition("JobSet"))
    [missed] = check(filled, "JobSet")
    assert (missed.field.rpartition(".")[2], missed.message) == ("port", "Required value")


def test_an_int_or_string_may_be_both():
    for port in (80, "http"):
        assert decode({"spec": {"ports": [{"targetPort": port}]}}, "Service").problems == []


def test_the_crds_defaults_are_filled():
    found = decode(with_spec(failurePolicy={}), "JobSet").value["spec"]
    assert found["failurePolicy"] == {"restartStrategy": "Recreate"}
    assert (found["replicatedJobs"][0]["replicas"], found["replicatedJobs"][0]["groupName"]) == (1, "default")


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("JobSet", {"spec": {"replicatedJobs": [{"name": "w", "template": {"spec": {}}}]}},
         "spec.replicatedJobs[0].template.spec.template: Required value"),
        ("JobSet", with_spec(startupPolicy={"startupPolicyOrder": "Some"}),
         'spec.startupPolicy.startupPolicyOrder: Unsupported value: "Some": supported values: "AnyOrder", "InOrder"'),
        ("JobSet", with_spec(ttlSecondsAfterFinished=-1), TOO_SMALL),
        ("JobSet", with_spec(replicatedJobs=JOBSET["spec"]["replicatedJobs"] * 2),
         'spec.replicatedJobs[1]: Duplicate value: {"name":"w"}'),
        ("JobSet", with_spec(coordinator={}), "spec.coordinator.replicatedJob: Required value"),
        ("JobSet", with_spec(volumeClaimPolicies=[{}] * 51),
         "spec.volumeClaimPolicies: Too many: 51: must have at most 50 items"),
    ],
)  # fmt: skip
def test_what_the_schema_demands(kind, value, problem):
    assert [f"{each.field}: {each.message}" for each in check(value, kind)] == [problem]


def test_a_list_may_have_two_keys():
    ports = [{"containerPort": 80, "protocol": each} for each in ("TCP", "UDP", "TCP")]
    pod = {"spec": {"containers": [{"name": "a", "ports": ports}]}}
    assert [each.field for each in check(pod, "Pod")] == ["spec.containers[0].ports[2]"]


def test_the_crds_immutable_fields():
    old, new = with_spec(failurePolicy={"maxRestarts": 3}, suspend=True), with_spec(failurePolicy={"maxRestarts": 4})
    found = list(immutable_changes(new, old, definition("JobSet")))
    assert [(each.field, each.message) for each in found] == [
        ("spec.failurePolicy", "Invalid value: Value is immutable")
    ]
    assert not list(immutable_changes(old, old, definition("JobSet")))
