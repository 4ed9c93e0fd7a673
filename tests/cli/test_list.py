"""`workload list`: what people and programs read, and xpk's filters."""

import json

import pytest
from fakes import objects
from fakes.server import Answer


@pytest.fixture
def filled(cluster):
    """Three workloads of different state, queue and owner."""
    labels = {"kueue.x-k8s.io/queue-name": "fast", "xlaunch.dev/owner": "alice"}
    cluster.store.put(objects.jobset("train", labels=labels))
    cluster.store.put(objects.jobset("pretrain", suspend=True))
    cluster.store.put({**objects.ended("Failed", "Why", "because"), "metadata": objects.jobset("old")["metadata"]})
    cluster.clock.seconds = 7200
    return cluster


def names(outcome):
    assert outcome.code == 0, outcome.stderr
    return [item["name"] for item in json.loads(outcome.stdout)["items"]]


def test_the_table(filled, golden):
    outcome = filled.run("workload", "list")
    assert (outcome.code, outcome.stderr) == (0, "")
    golden("list.txt", outcome.stdout)


def test_the_object(filled):
    body = json.loads(filled.run("workload", "list", "old", "-o", "json").stdout)
    assert (body["apiVersion"], body["kind"], body["metadata"]) == (
        "xlaunch.dev/v1",
        "WorkloadList",
        {"namespace": "default"},
    )
    assert body["items"] == [
        {
            "name": "old",
            "namespace": "default",
            "phase": "Failed",
            "reason": "Why",
            "message": "because",
            "slices": 3,
            "chips": 48,
            "restarts": 0,
            "restartsTowardMax": 0,
            "maxRestarts": 3,
            "queue": None,
            "queueing": None,
            "owner": None,
            "created": "2026-11-29T12:00:00Z",
            "finished": "2026-11-29T13:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ([], ["old", "pretrain", "train"]),
        (["train"], ["train"]),
        (["*train"], ["pretrain", "train"]),
        (["train", "old"], ["old", "train"]),
        (["gone"], []),
        (["--filter-by-job=train"], ["train"]),
        (["--filter-by-job", "*train"], ["pretrain", "train"]),
        (["--workload=train"], ["train"]),
        (["--filter-by-status=EVERYTHING"], ["old", "pretrain", "train"]),
        (["--filter-by-status=FINISHED"], ["old"]),
        (["--filter-by-status", "RUNNING"], ["train"]),
        (["--filter-by-status=QUEUED"], ["pretrain"]),
        (["--filter-by-status=FAILED"], ["old"]),
        (["--filter-by-status=SUCCESSFUL"], []),
        (["--status=running,suspended"], ["pretrain", "train"]),
        (["--queue=fast"], ["train"]),
        (["--owner=alice"], ["train"]),
        (["--owner=bob"], []),
    ],
)
def test_filters(filled, flags, found):
    assert names(filled.run("workload", "list", "-o", "json", *flags)) == found


def test_an_empty_namespace(cluster):
    outcome = cluster.run("workload", "list", "-n", "empty")
    assert (outcome.code, outcome.stdout) == (0, "There is no workload in namespace empty.\n")


def test_nothing_matches(filled):
    assert filled.run("workload", "list", "gone").stdout == "No workload matches (3 in namespace default).\n"


def test_all_namespaces(cluster):
    items = [objects.jobset("a"), objects.jobset("b")]
    items[1]["metadata"]["namespace"] = "team"
    every = {"metadata": {"resourceVersion": "1"}, "items": items}
    cluster.answers["/apis/jobset.x-k8s.io/v1alpha2/jobsets"] = every
    lines = cluster.run("workload", "list", "-A").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["NAMESPACE", "NAME"], ["default", "a"], ["team", "b"]]


def test_xpks_wait_is_a_command_of_its_own(cluster):
    outcome = cluster.run("workload", "list", "--wait-for-job-completion=train", "--context=dev")
    assert outcome.code == 2
    assert "xlaunch wait train --context=dev" in outcome.stderr
    outcome = cluster.run("workload", "list", "--wait-for-job-completion=$(id)")
    assert "xlaunch wait '$(id)'" in outcome.stderr


def test_a_wrong_status_is_refused_before_any_request(cluster):
    assert cluster.run("workload", "list", "--status=done").code == 2
    assert cluster.requests == []


def test_a_cluster_without_jobset(cluster):
    path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
    cluster.answers[path] = Answer(404, b"404 page not found\n", content_type="text/plain")
    outcome = cluster.run("workload", "list")
    assert outcome.code == 4
    assert "This cluster has no JobSet" in outcome.stderr


def test_who_may_not_list_is_told_so(cluster):
    said = {"message": "jobsets is forbidden: User bob cannot list", "reason": "Forbidden"}
    cluster.answers["/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"] = Answer(403, said)
    outcome = cluster.run("workload", "list")
    assert outcome.code == 4
    assert "User bob cannot list" in outcome.stderr
