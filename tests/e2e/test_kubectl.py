"""kubectl's own verbs, and xlaunch on a JobSet that kubectl made."""

import subprocess
from pathlib import Path

import pytest
import yaml
from looking import uids
from worlds import until

pytestmark = pytest.mark.e2e

REFERENCE = Path(__file__).parents[1] / "data" / "jobset-elastic-v5e16x3.yaml"


@pytest.fixture
def applied(cluster, tmp_path):
    """The reference manifest as somebody else would apply it; only its main runs something short-lived here."""
    jobset = yaml.safe_load(REFERENCE.read_text())
    del jobset["metadata"]["labels"]
    main = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    main["args"] = ["i=0; while :; do echo line $i; i=$((i+1)); sleep 0.1; done"]
    path = tmp_path / "jobset.yaml"
    path.write_text(yaml.safe_dump(jobset))
    assert "created" in cluster.kubectl("apply", "-f", str(path))
    until(lambda: cluster.json("status", "demo-elastic")["phase"] == "Running", "the JobSet to run")
    yield path
    cluster.kubectl("delete", "jobset", "demo-elastic", "--ignore-not-found", "--cascade=foreground")


def test_get_prints_tables(cluster, applied):
    pods = cluster.kubectl("get", "pods").splitlines()
    assert pods[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert len(pods) == 14
    assert [line for line in pods[1:] if "Running" not in line] == []
    jobset = cluster.kubectl("get", "jobset").splitlines()
    assert jobset[0].split() == ["NAME", "TERMINALSTATE", "RESTARTS", "COMPLETED", "SUSPENDED", "AGE"]
    assert len(cluster.kubectl("get", "pods", "-l", "jobset.sigs.k8s.io/replicatedjob-name=worker").splitlines()) == 13
    assert len(cluster.kubectl("get", "pods", "-l", "jobset.sigs.k8s.io/job-index=2", "-o", "name").splitlines()) == 4
    assert len(cluster.kubectl("get", "nodes").splitlines()) >= 14


def test_describe_tells_the_events(cluster, applied):
    told = cluster.kubectl("describe", "pod", cluster.pod("demo-elastic-pathways-head"))
    assert "pathways-proxy:" in told
    assert "Scheduled" in told.partition("Events:")[2]
    assert "InOrderStartupPolicyCompleted" in cluster.kubectl("describe", "jobset", "demo-elastic")
    assert "SuccessfulCreate" in cluster.kubectl("describe", "job", "demo-elastic-worker-0")


def test_watch_and_logs_follow(cluster, applied):
    head = cluster.pod("demo-elastic-pathways-head")
    with subprocess.Popen(cluster.kubectl_line("logs", "-f", head), stdout=subprocess.PIPE, text=True) as logs:
        lines = [logs.stdout.readline() for _ in range(20)]
        logs.terminate()
    assert lines == [f"line {number}\n" for number in range(20)]
    with subprocess.Popen(cluster.kubectl_line("get", "pods", "-w"), stdout=subprocess.PIPE, text=True) as watch:
        [watch.stdout.readline() for _ in range(14)]
        victim = cluster.pod("demo-elastic-worker-1-0")
        cluster.kubectl("delete", "pod", victim, "--grace-period=0", "--force", "--wait=false")
        seen = [watch.stdout.readline() for _ in range(3)]
        watch.terminate()
    assert any(victim in line for line in seen)


def test_a_forced_deletion_is_replaced(cluster, applied):
    before = cluster.pod("demo-elastic-worker-2-0")
    cluster.kubectl("delete", "pod", before, "--grace-period=0", "--force", "--wait=false")
    assert until(lambda: replaced(cluster, before), "the replacement") != before
    until(lambda: cluster.get("job", "demo-elastic-worker-2")["status"].get("failed") == 1, "the loss to be counted")


def replaced(cluster, before):
    names = [pod["metadata"]["name"] for pod in cluster.get("pods")]
    new = [name for name in names if name.startswith("demo-elastic-worker-2-0") and name != before]
    return new[0] if new else None


def test_wait_label_and_delete(cluster, applied):
    head = cluster.pod("demo-elastic-pathways-head")
    assert "condition met" in cluster.kubectl("wait", "--for=condition=Ready", f"pod/{head}", "--timeout=20s")
    assert "labeled" in cluster.kubectl("label", "jobset", "demo-elastic", "team=a")
    assert "demo-elastic" in cluster.kubectl("get", "jobset", "-l", "team=a", "-o", "name")
    cluster.kubectl("delete", "jobset", "demo-elastic")
    until(lambda: not cluster.get("pods"), "the pods to go")


def test_xlaunch_understands_what_kubectl_made(cluster, applied):
    status = cluster.json("status", "demo-elastic")
    assert [each["name"] for each in status["head"]["containers"]] == ["main", "pathways-rm", "pathways-proxy"]
    assert [(each["index"], each["hosts"], each["ready"]) for each in status["slices"]] == [
        (0, 4, 4),
        (1, 4, 4),
        (2, 4, 4),
    ]
    assert status["slices"][0]["budgetLeft"] == 40
    assert cluster.xlaunch("logs", "demo-elastic", "--no-follow", "--tail=1").stdout.startswith("line ")
    names = [each["name"] for each in cluster.json("workload", "list")["items"]]
    assert names == ["demo-elastic"]


def test_apply_again_changes_nothing_and_a_change_of_replicas_is_refused(cluster, applied):
    before = uids(cluster, "pods")
    cluster.kubectl("apply", "-f", str(applied))
    assert cluster.json("status", "demo-elastic")["phase"] == "Running"
    assert uids(cluster, "pods") == before
    applied.write_text(applied.read_text().replace("replicas: 3", "replicas: 2"))
    line = cluster.kubectl_line("apply", "-f", str(applied))
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "immutable" in done.stderr
