"""The versions of a cluster, as far as the caller may read them."""

import pytest
from fakes.api import status_error

from xlaunch.cluster import versions
from xlaunch.cluster.api import Reply

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


def crd(**metadata):
    return {"metadata": metadata}


@pytest.mark.parametrize(
    ("answers", "version"),
    [
        ({versions.DEPLOYMENTS: controller("registry.k8s.io/jobset/jobset:v0.12.0")}, "v0.12.0"),
        ({versions.DEPLOYMENTS: controller("mirror.example:5000/k8s/jobset:v0.10.1@sha256:abc")}, "v0.10.1"),
        ({versions.DEPLOYMENTS: controller("proxy:v1", "us-docker.pkg.dev/p/r/jobset-controller:0.11.0")}, "0.11.0"),
        ({versions.DEPLOYMENTS: controller("example.com/other:v1"), versions.CRD: crd()}, ""),
        ({versions.DEPLOYMENTS: FORBIDDEN, versions.CRD: FORBIDDEN}, ""),
        (
            {versions.DEPLOYMENTS: FORBIDDEN, versions.CRD: crd(labels={"app.kubernetes.io/version": "v0.12.0"})},
            "v0.12.0",
        ),
        ({versions.DEPLOYMENTS: {"items": [by_digest()]}}, "0.10.1"),
        ({versions.CRD: crd()}, ""),
        ({"/apis/jobset.x-k8s.io": {}}, ""),
        ({}, None),
    ],
)
def test_jobset(answers, version):
    assert versions.jobset_version(Paths(answers)) == version


def test_kubernetes():
    assert versions.kubernetes_version(Paths({"/version": {"gitVersion": "v1.35.4-gke.1"}})) == "v1.35.4-gke.1"
