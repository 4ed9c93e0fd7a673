"""create-pathways against a cluster: what is made, what is told, what is asked, what goes on."""

import json

import pytest
import yaml
from support.pathways import COMMAND, IMAGE, LINE

from xlaunch.cli.create_pathways import command
from xlaunch.core.plan import HASH_ANNOTATION, OWNER_KEY
from xlaunch.local import lifecycle

ARGV = ("workload", "create-pathways", *LINE, *IMAGE, *COMMAND)


def made(cluster):
    return {item["metadata"]["name"]: item for item in cluster.store.objects.values()}


def test_a_workload_is_made_and_the_next_commands_are_told(cluster):
    done = cluster.run(*ARGV, "--context=dev", "--namespace=default")
    assert done.code == 0, done.stderr
    assert "demo" in made(cluster)
    first, *rest = done.stdout.splitlines()
    assert first == "Created demo in namespace default (1 x v5litepod-16)."
    flags = "--context=dev --namespace=default"
    assert rest == [
        "Next:",
        f"  xlaunch logs demo {flags}",
        f"  xlaunch status demo --watch {flags}",
        f"  xlaunch workload delete demo {flags}",
    ]
    assert "-> context dev, namespace default" in done.stderr


def test_json_says_the_action_and_the_hash(cluster):
    body = json.loads(cluster.run(*ARGV, "-o", "json").stdout)
    assert (body["kind"], body["action"]) == ("Submission", "created")
    assert body["metadata"] == {"name": "demo", "namespace": "default"}
    assert made(cluster)["demo"]["metadata"]["annotations"][HASH_ANNOTATION] == body["planHash"]
    assert json.loads(cluster.run(*ARGV, "-o", "json").stdout)["action"] == "unchanged"


def test_what_is_made_is_what_a_dry_run_prints(cluster, xlaunch, tmp_path):
    file = tmp_path / "m.yaml"
    cluster.run(*ARGV, f"--output-manifest-file={file}")
    printed = xlaunch(*ARGV, "--dry-run")
    assert file.read_bytes() == printed.stdout_bytes
    expected, found = yaml.safe_load(printed.stdout), made(cluster)["demo"]
    assert found["spec"] == expected["spec"]
    assert found["metadata"]["annotations"].items() >= expected["metadata"]["annotations"].items()


def test_a_dry_run_touches_no_cluster(cluster):
    assert cluster.run(*ARGV, "--dry-run").code == 0
    assert cluster.requests == []


def test_who_submits_stands_in_the_jobset_and_not_in_its_hash(cluster, xlaunch):
    cluster.run(*ARGV)
    hash_ = made(cluster)["demo"]["metadata"]["annotations"][HASH_ANNOTATION]
    assert hash_ == yaml.safe_load(xlaunch(*ARGV, "--dry-run").stdout)["metadata"]["annotations"][HASH_ANNOTATION]
    done = xlaunch(*ARGV, env={"KUBECONFIG": str(cluster.kubeconfig), "USER": "alice"}, clock=cluster.clock)
    assert done.stdout.startswith("demo is unchanged")


def test_the_owner_is_the_user(cluster, xlaunch):
    xlaunch(*ARGV, env={"KUBECONFIG": str(cluster.kubeconfig), "USER": "alice"}, clock=cluster.clock)
    assert made(cluster)["demo"]["metadata"]["labels"][OWNER_KEY] == "alice"


def test_another_plan_of_the_same_name_is_a_conflict(cluster):
    cluster.run(*ARGV)
    done = cluster.run(*ARGV, "--num-slices=2")
    assert done.code == 5
    assert "--if-exists=replace" in done.stderr


def test_replacing_asks_and_a_no_changes_nothing(cluster):
    cluster.run(*ARGV)
    before = made(cluster)["demo"]
    done = cluster.run(*ARGV, "--num-slices=2", "--if-exists=replace", tty=True, stdin="n\n")
    assert done.code == 1
    assert "Replace demo" in done.stderr
    assert "16 chips" in done.stderr
    assert made(cluster)["demo"] == before


@pytest.mark.parametrize("flag", ["--yes", "-y", "--quiet"])
def test_replacing_with_a_yes(cluster, flag):
    cluster.run(*ARGV)
    done = cluster.run(*ARGV, "--num-slices=2", "--if-exists=replace", flag)
    assert done.code == 0, done.stderr
    assert done.stdout.startswith("Replaced demo")
    assert made(cluster)["demo"]["spec"]["replicatedJobs"][1]["replicas"] == 2


def test_without_a_terminal_a_question_is_refused(cluster):
    cluster.run(*ARGV)
    done = cluster.run(*ARGV, "--num-slices=2", "--if-exists=replace")
    assert done.code == 2
    assert "--yes" in done.stderr


@pytest.mark.parametrize(
    "flags",
    [
        ["--if-exists=maybe"],
        ["--submit-timeout=soon"],
        ["--timeout=-1"],
        ["--restart-scope=host"],
        ["--dry-run=servers"],
    ],
)
def test_a_wrong_flag_is_found_before_the_cluster_is_touched(cluster, flags):
    done = cluster.run(*ARGV, *flags)
    assert (done.code, done.stdout) == (2, "")
    assert cluster.requests == []


def test_a_wrong_value_is_found_before_the_cluster_is_touched(cluster):
    assert cluster.run(*ARGV, "--num-slices=0").code == 2
    assert cluster.requests == []


def test_an_embedded_cluster_is_started_in_the_size_that_is_needed(xlaunch, monkeypatch):
    asked = {}

    class EnoughError(Exception):
        """Ends the command where the connection would begin."""

    def ensure(name, **size):
        asked.update(size, name=name)
        raise EnoughError

    monkeypatch.setattr(lifecycle, "ensure", ensure)
    done = xlaunch(*ARGV, "--cluster=local:ci", "--num-slices=3")
    assert done.code == 1
    assert (asked["name"], asked["tpu_type"], asked["slices"]) == ("ci", "v5litepod-16", 3)
    assert asked["machine_type"] == "ct5lp-hightpu-4t"


@pytest.mark.parametrize(("flag", "function"), [("--follow", "logs.follow_workload"), ("--wait", "wait.wait_for")])
def test_following_and_waiting_go_straight_on(cluster, monkeypatch, flag, function):
    from xlaunch.cli.output import Result

    def go_on(session, connection, name, *_more):
        session.stdout.write(f"on with {name}\n")
        return Result("Wait", {"result": "Completed"}, exit_code=10)

    monkeypatch.setattr(f"xlaunch.cli.{function}", go_on)
    done = cluster.run(*ARGV, flag)
    assert (done.code, done.stdout) == (10, "on with demo\n")
    assert "Created demo" in done.stderr


def test_the_help_has_examples_and_says_who_expands_variables(xlaunch):
    shown = xlaunch("workload", "create-pathways", "--help").stdout
    assert "Examples:" in shown
    assert "$(NAME)" in " ".join(shown.split())
    assert command.epilog


@pytest.mark.parametrize("flags", [["--context=other", "--cluster=local:x"], ["--cluster=local:x", "--kubeconfig=f"]])
def test_contradictions_are_told_before_a_cluster_is_started(xlaunch, flags, monkeypatch):
    monkeypatch.setattr("xlaunch.local.lifecycle.ensure", lambda *_, **__: pytest.fail("started a cluster"))
    words = [word for word in ARGV if not word.startswith(("--cluster", "--kubeconfig", "--context"))]
    done = xlaunch(*words, *flags)
    assert (done.code, "contradict each other" in done.stderr) == (2, True)


def test_a_log_and_an_object_do_not_share_stdout(cluster):
    done = cluster.run(*ARGV, "--follow", "-o", "json")
    assert done.code == 2
    assert "--wait instead of --follow" in done.stdout
    assert made(cluster) == {}


def test_what_a_plan_warns_of_is_in_the_object(cluster):
    done = cluster.run(*ARGV, "--env=HF_TOKEN=secret-value", "-o", "json")
    body = json.loads(done.stdout)
    assert any("HF_TOKEN" in notice for notice in body["notices"])
    assert "secret-value" not in done.stdout + done.stderr
