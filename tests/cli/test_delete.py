"""`workload delete`: what is named goes, after a yes, and nothing else."""

import json

import pytest
from fakes import objects
from fakes.server import Answer


@pytest.fixture
def filled(cluster):
    labels = {"xlaunch.dev/owner": "alice"}
    cluster.store.put(objects.jobset("train", labels=labels))
    cluster.store.put(objects.jobset("pretrain"))
    cluster.store.put({**objects.ended("Failed"), "metadata": objects.jobset("old")["metadata"]})
    cluster.clock.seconds = 7200
    return cluster


def left(cluster):
    return sorted(item["metadata"]["name"] for item in cluster.store.objects.values())


@pytest.mark.parametrize(
    ("flags", "stay"),
    [
        (["train"], ["old", "pretrain"]),
        (["train", "old"], ["pretrain"]),
        (["*train"], ["old"]),
        (["--all"], []),
        (["--workload=train"], ["old", "pretrain"]),
        (["--filter-by-job=train"], ["old", "pretrain"]),
        (["--filter-by-status=FAILED"], ["pretrain", "train"]),
        (["*", "--status=RUNNING"], ["old"]),
        (["train", "train"], ["old", "pretrain"]),
    ],
)
def test_what_is_meant_goes_and_the_rest_stays(filled, flags, stay):
    outcome = filled.run("workload", "delete", "--yes", *flags)
    assert (outcome.code, left(filled)) == (0, stay), outcome.stderr
    assert "-> context dev, namespace default" in outcome.stderr


@pytest.mark.parametrize("flag", ["-y", "--yes", "--force", "--quiet"])
def test_every_word_for_yes(filled, flag):
    assert filled.run("workload", "delete", "train", flag).code == 0


def test_no_name_never_means_all(filled):
    outcome = filled.run("workload", "delete", "--yes")
    assert (outcome.code, len(left(filled))) == (2, 3)
    assert "--all" in outcome.stderr
    assert filled.run("workload", "delete", "--yes", "--status=EVERYTHING").code == 2


def test_all_and_a_name_contradict_each_other(filled):
    assert filled.run("workload", "delete", "train", "--all", "--yes").code == 2
    assert len(left(filled)) == 3


def test_a_name_that_is_missing_stops_everything(filled):
    outcome = filled.run("workload", "delete", "train", "gone", "--yes")
    assert (outcome.code, len(left(filled))) == (3, 3)
    assert "There is no workload gone in namespace default" in outcome.stderr
    assert "Nothing was deleted" in outcome.stderr


def test_a_pattern_that_means_nothing_is_not_found(filled):
    assert filled.run("workload", "delete", "x-*", "--yes").code == 3


def test_who_may_not_list_may_delete_by_name(filled):
    collection = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"

    def guarded(request):
        if request.path == collection and "fieldSelector" not in request.query:
            return Answer(403, {"message": "jobsets is forbidden", "reason": "Forbidden"})
        return filled.reply(request)

    filled.answer = guarded
    assert filled.run("workload", "delete", "train", "--yes").code == 0
    assert filled.run("workload", "delete", "pre*", "--yes").code == 4
    assert left(filled) == ["old", "pretrain"]


def test_ignore_not_found(filled):
    outcome = filled.run("workload", "delete", "train", "gone", "x-*", "--yes", "--ignore-not-found")
    assert (outcome.code, left(filled)) == (0, ["old", "pretrain"])
    outcome = filled.run("workload", "delete", "gone", "--yes", "--ignore-not-found", "-o", "json")
    assert outcome.code == 0
    assert json.loads(outcome.stdout)["action"] == "unchanged"


def test_all_of_nothing(cluster):
    outcome = cluster.run("workload", "delete", "--all", "--yes")
    assert (outcome.code, outcome.stdout) == (0, "There was nothing to delete.\n")


def test_a_terminal_is_asked_with_owner_age_and_chips(filled):
    outcome = filled.run("workload", "delete", "train", tty=True, stdin="y\n")
    assert (outcome.code, left(filled)) == (0, ["old", "pretrain"])
    assert "Delete train (Running, 48 chips, of alice, 120m old)? [y/N]" in outcome.stderr


def test_several_are_shown_before_the_question(filled):
    outcome = filled.run("workload", "delete", "*train", tty=True, stdin="yes\n")
    assert outcome.code == 0
    assert "  pretrain (Running, 48 chips, 120m old)\n" in outcome.stderr
    assert "Delete these 2 workloads? [y/N]" in outcome.stderr


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_a_no_deletes_nothing(filled, answer):
    outcome = filled.run("workload", "delete", "train", tty=True, stdin=answer)
    assert (outcome.code, len(left(filled))) == (1, 3)


def test_without_a_terminal_the_flag_is_named(filled):
    outcome = filled.run("workload", "delete", "train")
    assert (outcome.code, len(left(filled))) == (2, 3)
    assert "--yes" in outcome.stderr


def test_the_object(filled):
    outcome = filled.run("workload", "delete", "train", "old", "--yes", "-o", "json")
    body = json.loads(outcome.stdout)
    assert (body["kind"], body["action"], body["metadata"]) == ("Deletion", "deleted", {"namespace": "default"})
    assert body["items"] == [{"name": "train"}, {"name": "old"}]


def test_one_that_hangs_is_124(filled):
    filled.store.linger = None
    outcome = filled.run("workload", "delete", "train", "--yes", "--timeout=90s", "-o", "json")
    error = json.loads(outcome.stdout)
    assert (outcome.code, error["code"], error["reason"]) == (124, 124, "Timeout")
    assert error["message"].startswith("train is not gone after 90 s")


@pytest.mark.parametrize("timeout", ["soon", "-1", "5x"])
def test_a_timeout_that_is_none(filled, timeout):
    assert filled.run("workload", "delete", "train", "--yes", f"--timeout={timeout}").code == 2
    assert filled.requests == []


def test_ctrl_c_leaves_the_deletion_going(filled, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("xlaunch.cli.delete.wait_all_gone", interrupt)
    outcome = filled.run("workload", "delete", "train", "--yes")
    assert outcome.code == 130
    assert "The deletion goes on" in outcome.stderr
    assert "xlaunch workload list" in outcome.stderr
