"""What kubectl needs of the API beyond its everyday verbs: create, wait, diff, explain, server-side apply, drain."""

from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.e2e

REFERENCE = Path(__file__).parents[1] / "data" / "jobset-elastic-v5e16x3.yaml"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "containers": [
            {"name": "main", "image": "busybox", "command": ["sleep", "60"], "ports": [{"containerPort": 80}]}
        ]
    },
}


@pytest.fixture
def team(embedded):
    """A namespace made as kubectl makes one: in protobuf."""
    assert embedded.kubectl("create", "namespace", "team") == "namespace/team created\n"
    yield "--namespace=team"
    assert embedded.kubectl("delete", "namespace", "team") == 'namespace "team" deleted\n'


def test_what_kubectl_builds_itself(embedded, team):
    embedded.kubectl(team, "create", "configmap", "c", "--from-literal=a=b")
    embedded.kubectl(team, "create", "secret", "generic", "s", "--from-literal=a=b")
    embedded.kubectl(team, "create", "job", "j", "--image=busybox", "--", "sleep", "0")
    assert embedded.get("configmap", "c", team)["data"] == {"a": "b"}
    assert embedded.get("secret", "s", team)["data"] == {"a": "Yg=="}
    assert "condition met" in embedded.kubectl(team, "wait", "--for=condition=Complete", "job/j", "--timeout=60s")
    assert embedded.kubectl(team, "get", "job", "j").splitlines()[1].split()[1:3] == ["Complete", "1/1"]


def test_apply_twice_then_server_side_then_by_somebody_else(embedded, team):
    body = yaml.safe_dump(POD)
    told = [embedded.kubectl(team, "apply", "-f", "-", stdin=body) for _ in range(2)]
    assert told == ["pod/web created\n", "pod/web unchanged\n"]
    assert embedded.kubectl(team, "diff", "-f", "-", stdin=body) == ""
    embedded.kubectl(team, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=body)
    assert embedded.get("pod", "web", team)["spec"]["containers"][0]["ports"] == [
        {"containerPort": 80, "protocol": "TCP"}
    ]
    embedded.kubectl(team, "label", "pod", "web", "app=mine", "--overwrite")
    embedded.kubectl(team, "apply", "--server-side", "-f", "-", stdin=body, code=1)
    embedded.kubectl(team, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=body)
    assert embedded.get("pod", "web", team)["metadata"]["labels"] == {"app": "web"}


def test_a_list_in_one_file_is_applied(embedded, team):
    items = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in ("one", "two")]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    for outcome in ("created", "unchanged"):
        told = embedded.kubectl(team, "apply", "-f", "-", stdin=text)
        assert told == f"configmap/one {outcome}\nconfigmap/two {outcome}\n"


def test_what_is_wrong_is_said_before_anything_happens(embedded, team):
    jobset = yaml.safe_load(REFERENCE.read_text())
    jobset["spec"]["replicatedJob"] = jobset["spec"].pop("replicatedJobs")
    embedded.kubectl(team, "apply", "-f", "-", stdin=yaml.safe_dump(jobset), code=1)
    assert embedded.get("jobsets", None, team) == []
    embedded.kubectl(team, "apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(POD))
    assert embedded.get("pods", None, team) == []


def test_fields_are_explained(embedded):
    assert "maxRestarts\t<integer>" in embedded.kubectl("explain", "jobset.spec.failurePolicy")
    assert "limits\t<map[string]string>" in embedded.kubectl("explain", "pod.spec.containers.resources")


def test_drain_evicts_and_cordons(embedded, team):
    pod = {**POD, "spec": {**POD["spec"], "nodeName": "cpu-np-0", "terminationGracePeriodSeconds": 1}}
    embedded.kubectl(team, "apply", "-f", "-", stdin=yaml.safe_dump(pod))
    embedded.kubectl(team, "wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
    try:
        embedded.kubectl("drain", "cpu-np-0", "--force", "--ignore-daemonsets", "--timeout=60s")
        assert embedded.get("node", "cpu-np-0")["spec"]["unschedulable"] is True
        assert embedded.get("pods", None, team) == []
    finally:
        embedded.kubectl("uncordon", "cpu-np-0")


@pytest.mark.parametrize(
    "argv", [("create", "deployment", "d", "--image=x"), ("create", "quota", "q", "--hard=pods=1")]
)
def test_what_is_not_here_is_refused_by_name(embedded, team, argv):
    assert embedded.kubectl(team, *argv, code=1) == ""


def test_every_kind_that_is_listed_can_be_described(embedded):
    for kind in ("pods", "jobs", "jobsets", "nodes", "services", "events", "namespaces", "configmaps"):
        embedded.kubectl("describe", kind, timeout=300)  # events of all scenarios so far
