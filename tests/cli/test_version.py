"""`version`: the client always, the cluster where there is one."""

import json
import platform

import pytest
from fakes.server import Answer

from xlaunch import __version__
from xlaunch.cluster import versions

CONTROLLER = {"spec": {"template": {"spec": {"containers": [{"image": "registry.k8s.io/jobset/jobset:v0.12.0"}]}}}}


def test_client_cluster_and_jobset(cluster):
    cluster.answers[versions.DEPLOYMENTS] = {"items": [CONTROLLER]}
    outcome = cluster.run("version")
    assert outcome.code == 0
    assert outcome.stdout.splitlines() == [
        f"xlaunch {__version__} (Python {platform.python_version()})",
        "Kubernetes v1.35.4 (context dev)",
        "JobSet v0.12.0",
    ]


def test_the_object(cluster):
    cluster.answers[versions.DEPLOYMENTS] = {"items": [CONTROLLER]}
    body = json.loads(cluster.run("version", "-o", "json").stdout)
    assert (body["kind"], body["client"], body["kubernetes"], body["jobset"]) == (
        "Version",
        __version__,
        "v1.35.4",
        "v0.12.0",
    )


def test_a_version_that_nobody_has_written_down_is_told_with_its_source(cluster):
    field = {"status": {"properties": {"replicatedJobsStatus": {"properties": {"jobRestarts": {}}}}}}
    schema = {"openAPIV3Schema": {"properties": field}}
    cluster.answers[versions.DEPLOYMENTS] = {"items": []}
    cluster.answers[versions.CRD] = {"metadata": {}, "spec": {"versions": [{"name": "v1alpha2", "schema": schema}]}}
    assert cluster.run("version").stdout.endswith("JobSet 0.12 or later (by the fields of its schema)\n")
    body = json.loads(cluster.run("version", "-o", "json").stdout)
    assert [body[each] for each in ("jobset", "jobsetSource", "jobsetBound")] == ["0.12", "schema", "or later"]


def test_without_jobset(cluster):
    missing = Answer(404, b"404 page not found", content_type="text/plain")
    for path in (versions.DEPLOYMENTS, versions.CRD, "/apis/jobset.x-k8s.io"):
        cluster.answers[path] = missing
    assert cluster.run("version").stdout.endswith("JobSet not installed\n")
    assert json.loads(cluster.run("version", "-o", "json").stdout)["jobset"] is None


def test_the_client_alone_asks_nobody(cluster):
    outcome = cluster.run("version", "--client", "-o", "json")
    assert (outcome.code, json.loads(outcome.stdout)["client"]) == (0, __version__)
    assert cluster.requests == []


def test_a_machine_without_any_cluster(xlaunch):
    outcome = xlaunch("version")
    assert outcome.code == 0
    assert outcome.stdout.startswith(f"xlaunch {__version__}")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (None, "No cluster is named, and there is no kubeconfig."),
        ({"contexts": [{"name": "a", "context": {"cluster": "c"}}]}, "No context is chosen. There are: a."),
        ({"current-context": "b"}, "The kubeconfig has no context b."),
        (
            {"contexts": [{"name": "a", "context": {"cluster": "c"}}], "current-context": "a"},
            "Context a names the cluster 'c', which the kubeconfig does not have.",
        ),
    ],
)
def test_why_no_cluster_is_asked_is_said(xlaunch, tmp_path, config, said):
    path = tmp_path / "kubeconfig"
    if config is not None:
        path.write_text(json.dumps(config))
    outcome = xlaunch("version", env={"KUBECONFIG": str(path), "HOME": str(tmp_path)})
    assert (outcome.code, outcome.stdout.count("\n")) == (0, 2)
    assert said in outcome.stdout


def test_a_target_that_is_not_there_is_an_error(xlaunch, cluster):
    assert xlaunch("version", "--cluster=local").code == 3
    assert cluster.run("version", "--context=other").code == 3


def test_a_server_that_does_not_answer_is_an_error(xlaunch, cluster):
    path = cluster.kubeconfig
    path.write_text(path.read_text().replace(cluster.url, "http://127.0.0.1:1"))
    outcome = cluster.run("version")
    assert outcome.code == 1
    assert "Cannot reach the API server at http://127.0.0.1:1" in outcome.stderr
