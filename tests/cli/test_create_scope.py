"""--restart-scope on a cluster: what auto becomes, what is said of it, and that the same line is the same workload."""

import json

import pytest
import yaml
from fakes.api import status_error
from support.pathways import COMMAND, IMAGE, LINE

from xlaunch.cluster import versions
from xlaunch.core.errors import RefusedError
from xlaunch.core.plan import HASH_ANNOTATION
from xlaunch.core.restart_scope import SCOPE_ANNOTATION, restarts_slices
from xlaunch.local import lifecycle

LINE = ("workload", "create-pathways", *LINE, *IMAGE, *COMMAND, "--num-slices=3", "--elastic-slices=3")
AUTO = (*LINE, "--restart-scope=auto")
SLICE = (*LINE, "--restart-scope=slice")
GATE = status_error(422, "Invalid", "actions are not allowed when RestartJob feature gate is disabled")
ENUM = status_error(422, "Invalid", 'spec.failurePolicy.rules[0].action: Unsupported value: "RestartJob"')
SCHEMA_OF_0_11 = {"properties": {"spec": {"properties": {"volumeClaimPolicies": {}}}}}
KIND = {"x-kubernetes-group-version-kind": [{"kind": "JobSet"}]}


def turn(cluster, gate):
    """Turns the gate on (True) or off (False), or makes the cluster an older one (None)."""
    cluster.answers[versions.OPENAPI] = {"components": {"schemas": {"JobSet": {**SCHEMA_OF_0_11, **KIND}}}}
    refusal = ENUM if gate is None else GATE
    cluster.store.verdicts["JobSet"] = lambda made: None if gate or not restarts_slices(made) else refusal


def demo(cluster):
    (found,) = cluster.store.objects.values()
    return found


def submitted(cluster, *line, code=0):
    done = cluster.run(*line, "-o", "json")
    assert done.code == code, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(
    ("gate", "scope", "why"),
    [
        (True, "slice", "JobSet's feature gate RestartJob is on"),
        (False, "pod", "JobSet's feature gate RestartJob is off"),
        (None, "pod", "RestartJob came with JobSet 0.12, and this is 0.11"),
    ],
)
def test_auto_is_what_the_cluster_is_able_to(cluster, gate, scope, why):
    turn(cluster, gate)
    body, said = submitted(cluster, *AUTO)
    assert (body["action"], body["restartScope"]) == ("created", scope)
    assert f"Note: --restart-scope=auto means {scope} here: {why}." in said
    assert demo(cluster)["metadata"]["annotations"][SCOPE_ANNOTATION] == scope
    assert restarts_slices(demo(cluster)) == (scope == "slice")
    policy = demo(cluster)["spec"]["failurePolicy"]
    assert policy["maxRestarts"] == (3 + 1 * 3 if scope == "slice" else 3)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_the_same_line_is_unchanged_also_when_the_gate_has_changed(cluster, before, after):
    turn(cluster, before)
    first, _ = submitted(cluster, *AUTO)
    turn(cluster, after)
    second, said = submitted(cluster, *AUTO)
    assert second["action"] == "unchanged"
    assert [second[each] for each in ("planHash", "restartScope")] == [first["planHash"], first["restartScope"]]
    kept = f"demo was submitted with the restart scope {first['restartScope']}, and keeps it"
    assert (kept in said) == (before != after)


def test_another_line_still_differs(cluster):
    turn(cluster, True)
    submitted(cluster, *AUTO)
    assert submitted(cluster, *AUTO, "--max-restarts=1", code=5)[0]["kind"] == "Error"


def test_auto_and_the_scope_that_it_means_are_the_same_plan(cluster):
    turn(cluster, True)
    submitted(cluster, *AUTO)
    assert submitted(cluster, *SLICE)[0]["action"] == "unchanged"
    assert submitted(cluster, *LINE, code=5)[0]["code"] == 5


def test_what_is_replaced_takes_what_the_cluster_is_able_to_now(cluster):
    turn(cluster, True)
    submitted(cluster, *AUTO)
    turn(cluster, False)
    body, _ = submitted(cluster, *AUTO, "--if-exists=replace", "--yes")
    assert (body["action"], body["restartScope"]) == ("replaced", "pod")
    assert not restarts_slices(demo(cluster))


@pytest.mark.parametrize("gate", [True, False])
def test_the_file_has_what_was_submitted(cluster, tmp_path, gate):
    turn(cluster, gate)
    file = tmp_path / "m.yaml"
    body, _ = submitted(cluster, *AUTO, f"--output-manifest-file={file}")
    kept = yaml.safe_load(file.read_text())
    assert kept["metadata"]["annotations"][HASH_ANNOTATION] == body["planHash"]
    assert kept["metadata"]["annotations"][SCOPE_ANNOTATION] == body["restartScope"]


def test_more_slices_than_jobset_restarts_alone_are_pod_without_asking(cluster):
    turn(cluster, True)
    line = [flag for flag in AUTO if not flag.startswith(("--num-slices", "--elastic-slices"))]
    body, said = submitted(cluster, *line, "--num-slices=1025")
    assert body["restartScope"] == "pod"
    assert "no more than 1024" in said
    assert not [request for request in cluster.requests if "dryRun" in request.query]


def test_a_refusal_for_another_reason_is_the_users(cluster):
    cluster.store.verdicts["JobSet"] = status_error(403, "Forbidden", "exceeded quota: team")
    done = cluster.run(*AUTO)
    assert done.code == 4
    assert "exceeded quota: team" in done.stderr
    assert cluster.store.objects == {}


def test_a_client_dry_run_means_pod_and_says_so(cluster):
    done = cluster.run(*AUTO, "--dry-run")
    assert "--restart-scope=auto means pod where no cluster is asked" in done.stderr
    assert yaml.safe_load(done.stdout)["metadata"]["annotations"][SCOPE_ANNOTATION] == "pod"
    assert cluster.requests == []


@pytest.mark.parametrize("mode", [(), ("--diff",), ("--dry-run=server",)])
def test_what_a_workload_keeps_is_said_and_stands_in_the_file(cluster, tmp_path, mode):
    """Not what the cluster is able to now."""
    turn(cluster, False)
    submitted(cluster, *AUTO)
    turn(cluster, True)
    file = tmp_path / "m.yaml"
    done = cluster.run(*AUTO, *mode, f"--output-manifest-file={file}")
    assert done.code == 0, done.stderr
    assert "demo was submitted with the restart scope pod, and keeps it" in done.stderr
    assert not restarts_slices(yaml.safe_load(file.read_text()))


@pytest.mark.parametrize("flag", ["--if-exists=replace", "--if-exists=replace-finished"])
def test_a_diff_shows_the_scope_that_a_replaced_one_gets(cluster, flag):
    turn(cluster, False)
    submitted(cluster, *AUTO)
    demo(cluster)["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    turn(cluster, True)
    assert (cluster.run(*AUTO, "--diff").code, cluster.run(*AUTO, "--diff", flag).code) == (0, 5)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("mode", ["--diff", "--dry-run=server"])
def test_what_is_compared_is_what_the_workload_was_made_from(cluster, before, mode):
    turn(cluster, before)
    submitted(cluster, *AUTO)
    turn(cluster, True)
    done = cluster.run(*AUTO, mode)
    assert done.code == 0, done.stdout
    if mode == "--diff":
        assert done.stdout == ""
    else:
        assert restarts_slices(yaml.safe_load(done.stdout)) == before
        assert "demo exists already" in done.stderr
        assert "of the same plan" in done.stderr


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        (False, "JobSet's feature gate RestartJob is off"),
        (None, "RestartJob came with JobSet 0.12, and this is 0.11"),
    ],
)
def test_slice_where_it_cannot_be_is_one_sentence_and_the_way_out(cluster, gate, why):
    turn(cluster, gate)
    assert submitted(cluster, *SLICE, code=4)[0]["reason"] == "NoRestartJob"
    said = cluster.run(*SLICE).stderr
    assert f"Error: The API server refuses demo. {why}.\nNext: Take --restart-scope=pod, or auto" in said


@pytest.mark.parametrize("scope", ["pod", "auto"])
@pytest.mark.parametrize("mode", [(), ("--dry-run=server",), ("--diff",)])
def test_a_rule_of_a_patch_is_named_where_the_scope_is_not_the_reason(cluster, tmp_path, scope, mode):
    turn(cluster, False)
    patch = tmp_path / "patch.yaml"
    patch.write_text("spec: {failurePolicy: {rules: [{name: mine, action: RestartJob}]}}")
    done = cluster.run(*LINE, f"--restart-scope={scope}", f"--patch={patch}", *mode)
    assert done.code == 4
    assert "no such rule in a template or patch of your own" in done.stderr


@pytest.mark.parametrize(("scope", "gates"), [("slice", ["RestartJob"]), ("pod", []), ("auto", [])])
def test_an_embedded_cluster_is_asked_for_the_gate_that_is_needed(xlaunch, monkeypatch, scope, gates):
    asked = []

    def ensure(name, **options):
        asked.extend(options["feature_gates"])
        raise RefusedError("enough")

    monkeypatch.setattr(lifecycle, "ensure", ensure)
    assert xlaunch(*LINE, f"--restart-scope={scope}", "--cluster=local").code == 4
    assert asked == gates
