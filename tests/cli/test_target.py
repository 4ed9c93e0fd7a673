"""What every command does with the flags that say where to go."""

from types import SimpleNamespace

import pytest

from xlaunch.cli.session import Session
from xlaunch.cli.target import TargetOptions, connect


@pytest.fixture
def session(cluster, tmp_path):
    import io

    return Session(
        stderr=io.StringIO(), env={"KUBECONFIG": str(cluster.kubeconfig), "HOME": str(tmp_path)}, clock=cluster.clock
    )


def test_a_command_that_changes_something_says_where(session):
    connect(session, TargetOptions(namespace="team"), announce=True)
    assert session.stderr.getvalue() == "-> context dev, namespace team\n"


def test_a_command_that_reads_says_nothing(session):
    connect(session, TargetOptions())
    assert session.stderr.getvalue() == ""


def test_what_the_embedded_cluster_ignores_is_said(session, monkeypatch, cluster):
    running = SimpleNamespace(kubeconfig=cluster.kubeconfig, id="1", title="embedded cluster local")
    monkeypatch.setattr("xlaunch.local.lifecycle.find", lambda name, env: running)
    connect(session, TargetOptions(cluster="local", project="p", location="z"))
    assert session.stderr.getvalue() == "Note: --project and --zone mean nothing to the embedded cluster.\n"


@pytest.mark.parametrize("flag", ["--cluster", "--context", "--kubeconfig", "--namespace"])
@pytest.mark.parametrize("line", [("workload", "delete", "--all", "--yes"), ("workload", "list"), ("status", "x")])
def test_a_target_out_of_a_variable_that_is_not_set_is_refused(cluster, line, flag):
    """Never the current context in its place."""
    for words in ([f"{flag}="], [flag, ""]):
        done = cluster.run(*line, *words)
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"Error: {flag} is empty.")
    assert cluster.requests == []


@pytest.mark.parametrize("namespace", [".", "..", "../..", "a/b", "a?b", "A", "a b", "\udcff"])
@pytest.mark.parametrize("line", [("workload", "delete", "--all", "--yes"), ("workload", "list"), ("logs", "x")])
def test_a_namespace_is_never_another_path(cluster, line, namespace):
    """`..` would be all namespaces."""
    done = cluster.run(*line, f"--namespace={namespace}")
    assert (done.code, done.stdout) == (2, "")
    assert "name of a namespace" in done.stderr
    assert cluster.requests == []


@pytest.mark.parametrize("name", [".", "..", "a/b", "../x", "a#b", "a b", "\n", "A"])
@pytest.mark.parametrize("line", [("status",), ("logs",), ("wait",), ("workload", "delete", "--yes")])
def test_a_name_that_no_workload_can_have_is_not_found(cluster, line, name):
    done = cluster.run(*line, "--", name)
    assert (done.code, done.stdout) == (3, "")
    assert "There is no workload" in done.stderr
    assert cluster.requests == []


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        (TargetOptions(), ()),
        (TargetOptions("local", "p", "z"), ("--cluster=local",)),
        (TargetOptions("g", "p", "z", namespace="n"), ("--cluster=g", "--project=p", "--zone=z", "--namespace=n")),
        (TargetOptions(context="c", kubeconfig="f"), ("--context=c", "--kubeconfig=f")),
    ],
)
def test_the_flags_that_lead_there_again(options, flags):
    assert options.flags() == flags


@pytest.mark.parametrize("command", ["list", "delete"])
def test_every_command_takes_the_same_flags(cluster, command):
    help_text = cluster.run("workload", command, "--help").stdout
    for flag in ("--cluster", "--project", "--zone", "--location", "--context", "--kubeconfig", "--namespace", "-n"):
        assert flag in help_text


@pytest.mark.parametrize(
    "answer",
    [None, [], "x", 5, {}, {"metadata": None}, {"metadata": {}, "items": None}, {"metadata": {}, "items": "x"},
     {"metadata": {"resourceVersion": "1", "name": "other"}, "items": [5]},
     {"metadata": {"resourceVersion": "1", "name": "other"}, "items": [{}]}],
)  # fmt: skip
@pytest.mark.parametrize(
    "line", ["workload list", "workload delete x --yes", "status x", "wait x", "logs x", "version"]
)
def test_a_server_that_answers_something_else_is_told(cluster, line, answer):
    """A proxy, a portal, a server of another kind: never a bug of ours."""
    collection = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
    cluster.answers = {"/version": answer, collection: answer, f"{collection}/x": answer}
    done = cluster.run(*line.split())
    assert (done.code, done.stdout) == (1, "")
    assert "something else" in done.stderr
    assert "Next: " in done.stderr
