"""The versions of a cluster, as far as the caller may read them."""

import pytest
from fakes.api import status_error

from xlaunch.cluster import versions
from xlaunch.cluster.api import Reply
from xlaunch.core.errors import NetworkError
from xlaunch.core.restart_scope import TOO_OLD

PROBE = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
REFUSED = status_error(
    403, "Forbidden", 'admission webhook "vjobset.kb.io" denied the request: spec will lead to invalid label value "x"'
)
FORBIDDEN = status_error(403, "Forbidden")
MISSING = status_error(404, "NotFound")


class Paths:
    """Answers by path; anything else is not there."""

    namespace = "default"

    def __init__(self, answers):
        self.answers = answers

    def request(self, method, path, **_):
        answer = self.answers.get(path, MISSING)
        if isinstance(answer, Exception):
            raise answer
        return Reply(200, answer)


def controller(*images):
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]
    return {"items": [{"spec": {"template": {"spec": {"containers": containers}}}}]}


def by_digest():
    """What the Helm chart installs where images are pinned."""
    (deployment,) = controller("registry.k8s.io/jobset/jobset@sha256:abc")["items"]
    return {**deployment, "metadata": {"labels": {"app.kubernetes.io/version": "0.10.1"}}}


def crd(*fields, **metadata):
    """A CustomResourceDefinition whose schema has these fields, each a path with dots; without any it has no schema."""
    versions = [{"name": "v1alpha2", "schema": {"openAPIV3Schema": schema(*fields)}}] if fields else []
    return {"metadata": metadata, "spec": {"versions": [{"name": "v1alpha1"}, *versions]}}


def schema(*fields):
    tree = {}
    for path in fields:
        node = tree
        for name in path.split("."):
            node = node.setdefault("properties", {}).setdefault(name, {})
    return tree


def published(*fields):
    kind = {"x-kubernetes-group-version-kind": [{"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"}]}
    listed = {"x-kubernetes-group-version-kind": [{"kind": "JobSetList"}]}
    return {"components": {"schemas": {"Meta": {}, "JobSetList": listed, "JobSet": {**schema(*fields), **kind}}}}


GROUP = {versions.GROUP: {}}
FIELD_OF_0_12 = "status.replicatedJobsStatus.jobRestarts"


@pytest.mark.parametrize(
    ("answers", "version"),
    [
        ({versions.DEPLOYMENTS: controller("registry.k8s.io/jobset/jobset:v0.12.0")}, ("v0.12.0", "image")),
        ({versions.DEPLOYMENTS: controller("mirror.example:5000/k8s/jobset:v0.10.1@sha256:abc")}, ("v0.10.1", "image")),
        (
            {versions.DEPLOYMENTS: controller("proxy:v1", "us-docker.pkg.dev/p/r/jobset-controller:0.11.0")},
            ("0.11.0", "image"),
        ),
        (
            {versions.DEPLOYMENTS: controller("example.com/other:v1"), versions.CRD: crd(FIELD_OF_0_12)},
            ("0.12 or later", "schema"),
        ),
        ({versions.DEPLOYMENTS: FORBIDDEN, versions.CRD: FORBIDDEN}, None),
        (
            {versions.DEPLOYMENTS: FORBIDDEN, versions.CRD: crd(labels={"app.kubernetes.io/version": "v0.12.0"})},
            ("v0.12.0", "label"),
        ),
        ({versions.DEPLOYMENTS: {"items": [by_digest()]}}, ("0.10.1", "label")),
        ({versions.CRD: crd("spec.volumeClaimPolicies")}, ("0.11", "schema")),
        ({versions.CRD: FORBIDDEN, **GROUP, versions.OPENAPI: published(FIELD_OF_0_12)}, ("0.12 or later", "schema")),
        ({versions.CRD: FORBIDDEN, **GROUP, versions.OPENAPI: published("spec")}, ("0.5 or older", "schema")),
        ({versions.CRD: FORBIDDEN, **GROUP, versions.OPENAPI: FORBIDDEN, PROBE: {}}, ("0.10 or older", "webhook")),
        ({versions.CRD: FORBIDDEN, **GROUP, versions.OPENAPI: FORBIDDEN, PROBE: REFUSED}, ("0.11", "webhook")),
        ({versions.CRD: FORBIDDEN, **GROUP, versions.OPENAPI: FORBIDDEN, PROBE: FORBIDDEN}, ("", "")),
        ({**GROUP}, ("", "")),
        ({}, None),
    ],
)
def test_jobset(answers, version):
    found = versions.jobset_version(Paths(answers))
    assert (found and (str(found), found.source)) == version


def test_the_schema_alone():
    assert str(versions.schema_version(Paths({versions.OPENAPI: published("spec.volumeClaimPolicies")}))) == "0.11"
    assert versions.schema_version(Paths({})) is None


@pytest.mark.parametrize("answer", [NetworkError("away"), FORBIDDEN, MISSING, b"<html>", []])
def test_a_refusal_is_told_also_where_the_schema_can_not_be_had(answer):
    refusal = 'spec.failurePolicy.rules[0].action: Unsupported value: "RestartJob"'
    assert versions.without_restart_job(Paths({versions.OPENAPI: answer}), refusal) == TOO_OLD


@pytest.mark.parametrize("answer", [b"<html>", [], "x"])
def test_what_is_no_object_tells_nothing(answer):
    paths = (versions.DEPLOYMENTS, versions.CRD, versions.OPENAPI, versions.GROUP)
    assert str(versions.jobset_version(Paths(dict.fromkeys(paths, answer)))) == ""


def test_kubernetes():
    assert versions.kubernetes_version(Paths({"/version": {"gitVersion": "v1.35.4-gke.1"}})) == "v1.35.4-gke.1"
