"""A GKE name on the command line, all the way: Google's API, its token, the cluster's own authority, the answer."""

import json

import pytest
from fakes import objects
from fakes.certificates import Authority
from fakes.gke import FakeGoogle, at
from fakes.server import Server

TARGET = ("--cluster=my-gke", "--project=p")


@pytest.fixture
def gke(cluster, tmp_path, monkeypatch, xlaunch):
    """`gke(*line)` runs a line on a machine whose Google has the cluster my-gke in europe-west4."""
    authority = Authority(tmp_path)
    cluster.store.put(objects.jobset("train"))
    with (
        Server(cluster.reply, tls=authority.server("127.0.0.1")) as server,
        FakeGoogle(tmp_path, [("europe-west4", "my-gke", at(server, authority.ca))]) as google,
    ):
        for name, value in google.env.items():
            monkeypatch.setenv(name, value)

        def run(*line):
            return xlaunch(*line, env=google.env, clock=cluster.clock)

        run.server, run.google = server, google
        yield run


def test_list(gke):
    outcome = gke("workload", "list", *TARGET, "-o", "json")
    assert outcome.code == 0, outcome.stderr
    assert [item["name"] for item in json.loads(outcome.stdout)["items"]] == ["train"]
    assert gke.server.requests[0].headers["authorization"] == "Bearer google-1"


def test_delete_says_where(gke):
    outcome = gke("workload", "delete", "train", "--yes", *TARGET)
    assert (outcome.code, outcome.stdout) == (0, "Deleted train.\n")
    assert "-> cluster my-gke (europe-west4), namespace default\n" in outcome.stderr


def test_a_wrong_name_is_not_found_and_goes_nowhere_else(gke, cluster):
    outcome = gke("workload", "list", "--cluster=other", "--project=p")
    assert outcome.code == 3
    assert "Project p has no cluster other. It has my-gke." in outcome.stderr
    assert cluster.requests == gke.server.requests == []


def test_when_google_says_no_nothing_else_is_touched(gke, cluster):
    gke.google.fail = 403
    outcome = gke("workload", "delete", "train", "--yes", *TARGET)
    assert outcome.code == 4
    assert "Google does not let you see the clusters of p" in outcome.stderr
    assert cluster.requests == gke.server.requests == []


def test_next_commands_lead_to_the_same_cluster(gke):
    outcome = gke("workload", "delete", "gone", "--yes", *TARGET, "--zone=europe-west4", "-n", "default")
    assert outcome.code == 3
    flags = "--cluster=my-gke --project=p --zone=europe-west4 --namespace=default"
    assert f"Next: xlaunch workload list {flags}\n" in outcome.stderr
