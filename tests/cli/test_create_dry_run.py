"""create-pathways --dry-run=server: what is printed, what is told, what the exit code is."""

import json

import jsonschema
import pytest
import yaml
from fakes.api import status_error
from support.pathways import COMMAND, IMAGE, LINE
from worlds import SCHEMA

from xlaunch.cluster.api import ApiError

ARGV = ("workload", "create-pathways", *LINE, *IMAGE, *COMMAND)
SERVER = (*ARGV, "--dry-run=server")
INVALID = ApiError(422, "Invalid", 'volumeMounts[0].name: Not found: "scratch"')
QUOTA = status_error(403, "Forbidden", "exceeded quota: team")


def test_the_manifest_of_a_client_dry_run_is_printed(cluster, xlaunch):
    done = cluster.run(*SERVER)
    assert done.code == 0, done.stderr
    assert done.stdout_bytes == xlaunch(*ARGV, "--dry-run").stdout_bytes
    assert "-> context dev, namespace default" in done.stderr
    assert (
        "Accepted by the API server, and nothing was created: JobSet demo, Job demo-pathways-head-0, "
        "Pod demo-pathways-head-0-0, Job demo-worker-0, Pod demo-worker-0-3."
    ) in done.stderr


def test_nothing_is_created_and_nothing_but_dry_runs_is_sent(cluster):
    cluster.run(*SERVER)
    assert cluster.store.objects == {}
    changing = [request for request in cluster.requests if request.method != "GET"]
    assert len(changing) == 5
    assert all(request.query["dryRun"] == "All" for request in changing)


def test_json_and_yaml_are_the_manifest_as_the_server_would_store_it(cluster):
    printed = json.loads(cluster.run(*SERVER, "-o", "json").stdout)
    assert (printed["kind"], printed["metadata"]["name"]) == ("JobSet", "demo")
    assert "xlaunch.dev/version" in printed["metadata"]["annotations"]
    assert yaml.safe_load(cluster.run(*SERVER, "-o", "yaml").stdout) == printed


def test_the_file_gets_the_manifest_too(cluster, tmp_path):
    file = tmp_path / "m.yaml"
    done = cluster.run(*SERVER, f"--output-manifest-file={file}")
    assert file.read_bytes() == done.stdout_bytes


def test_the_namespace_is_the_targets(cluster):
    done = cluster.run(*SERVER, "--namespace=team")
    assert yaml.safe_load(done.stdout)["metadata"]["namespace"] == "team"
    assert all("/namespaces/team/" in request.path for request in cluster.requests)


def test_one_refusal_is_one_sentence(cluster):
    cluster.store.verdicts = {"JobSet": INVALID}
    done = cluster.run(*SERVER)
    assert (done.code, done.stdout) == (4, "")
    assert f"Error: The API server refuses JobSet demo. {INVALID.message}." in done.stderr
    assert "Refused:" not in done.stderr


def test_several_refusals_are_all_told(cluster):
    cluster.store.verdicts = {"Job": INVALID, "Pod": QUOTA}
    done = cluster.run(*SERVER)
    assert done.code == 4
    names = ("Job demo-pathways-head-0", "Pod demo-pathways-head-0-0", "Job demo-worker-0", "Pod demo-worker-0-3")
    said = {line for line in done.stderr.splitlines() if line.startswith("Refused: ")}
    assert said == {f"Refused: {name}: {(INVALID if name.startswith('Job') else QUOTA).message}" for name in names}
    assert f"Error: The API server refuses 4 objects of demo. {', '.join(names)}." in done.stderr


def test_programs_get_all_refusals(cluster):
    cluster.store.verdicts = {"Pod": QUOTA}
    done = cluster.run(*SERVER, "-o", "json")
    body = json.loads(done.stdout)
    jsonschema.validate(body, {"$ref": "#/$defs/Error", "$defs": SCHEMA["$defs"]})
    assert (done.code, body["code"], body["reason"]) == (4, 4, "Forbidden")
    assert [(each["kind"], each["name"]) for each in body["refusals"]] == [
        ("Pod", "demo-pathways-head-0-0"),
        ("Pod", "demo-worker-0-3"),
    ]


def test_warnings_are_told(cluster):
    cluster.store.cautions = {"Job": ["would violate PodSecurity"]}
    done = cluster.run(*SERVER)
    assert done.code == 0
    told = "Warning from the API server: would violate PodSecurity (Job demo-pathways-head-0, Job demo-worker-0)"
    assert told in done.stderr.splitlines()


def test_what_is_not_checked_is_told(cluster):
    cluster.store.forbidden = {"Pod"}
    done = cluster.run(*SERVER)
    assert done.code == 0
    assert "Not checked: Pod demo-worker-0-3: you may not create pods in namespace default" in done.stderr
    assert "Pod demo-worker-0-3." not in done.stderr


def test_where_nothing_can_be_checked_nothing_is_said_to_be_accepted(cluster):
    cluster.store.verdicts = {"JobSet": status_error(400, "BadRequest", 'webhook "x" does not support dry run')}
    cluster.store.forbidden = {"Job", "Pod"}
    done = cluster.run(*SERVER, "-o", "json")
    assert (done.code, done.stderr.count("Not checked: ")) == (0, 5)
    assert "Accepted" not in done.stderr
    assert json.loads(done.stdout)["kind"] == "JobSet"


@pytest.mark.parametrize(("flag", "said"), [((), "of the same plan"), (("--num-slices=2",), "of another plan")])
def test_a_name_that_is_taken_is_told_and_does_no_harm(cluster, flag, said):
    cluster.run(*ARGV)
    before = dict(cluster.store.objects)
    done = cluster.run(*SERVER, *flag)
    assert done.code == 0, done.stderr
    assert f"Note: demo exists already (Pending), {said}" in done.stderr
    assert cluster.store.objects == before


def test_no_embedded_cluster_is_started(xlaunch):
    done = xlaunch(*SERVER, "--cluster=local")
    assert (done.code, done.stdout) == (3, "")
    assert "xlaunch local up" in done.stderr


@pytest.mark.parametrize("flag", ["--submit-timeout=soon", "--timeout=-1", "--if-exists=maybe"])
def test_what_a_submission_refuses_is_refused_without_a_cluster(xlaunch, flag):
    done = xlaunch(*ARGV, "--dry-run", flag)
    assert (done.code, done.stdout) == (2, "")
    assert flag.partition("=")[0] in done.stderr


def test_the_manifest_of_a_followed_submission_may_be_printed(xlaunch):
    done = xlaunch(*ARGV, "--dry-run", "--follow", "-o", "json")
    assert (done.code, json.loads(done.stdout)["kind"]) == (0, "JobSet"), done.stderr


@pytest.mark.parametrize("mode", ["--dry-run=server", "--diff"])
@pytest.mark.parametrize(
    "flag", ["--submit-timeout=soon", "--timeout=-1", "--if-exists=maybe", "--zone=europe-west4", "--cluster=x"]
)
def test_what_a_submission_refuses_is_found_before_the_cluster_is_touched(cluster, mode, flag):
    done = cluster.run(*ARGV, mode, flag, "--context=dev")
    assert (done.code, done.stdout, cluster.requests) == (2, "", [])
    assert cluster.run(*ARGV, flag, "--context=dev").stderr == done.stderr
