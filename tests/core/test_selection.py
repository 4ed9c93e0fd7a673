"""A name means all of itself, a pattern what it matches, a status word what xpk's users expect."""

import pytest
from fakes import objects

from xlaunch.core.errors import UsageError
from xlaunch.core.selection import GROUPS, Selection, matches, phases_of
from xlaunch.core.workload import Phase, describe


@pytest.mark.parametrize(
    ("name", "wanted", "means"),
    [
        ("train", "train", True),
        ("pretrain", "train", False),
        ("train-2", "train", False),
        ("train", "tr", False),
        ("train-2", "train*", True),
        ("pretrain", "train*", False),
        ("pretrain", "*train", True),
        ("run-1", "run-?", True),
        ("run-12", "run-?", False),
        ("run-1", "run-[12]", True),
        ("run-3", "run-[12]", False),
        ("Run", "run", False),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
    ],
)
def test_names(name, wanted, means):
    assert matches(name, wanted) is means


@pytest.mark.parametrize(
    ("text", "phases"),
    [
        ("", set(Phase)),
        ("EVERYTHING", set(Phase)),
        ("FINISHED", {Phase.COMPLETED, Phase.FAILED}),
        ("successful", {Phase.COMPLETED}),
        ("Failed", {Phase.FAILED}),
        ("RUNNING", {Phase.RUNNING, Phase.STARTING, Phase.RESTARTING, Phase.DELETING}),
        ("QUEUED", {Phase.QUEUED, Phase.PENDING, Phase.SUSPENDED}),
        ("Suspended, failed", {Phase.SUSPENDED, Phase.FAILED}),
        ("restarting", {Phase.RESTARTING}),
    ],
)
def test_status_words(text, phases):
    assert phases_of("--status", text) == phases


def test_xpks_words_leave_no_workload_out():
    words = ("FINISHED", "RUNNING", "QUEUED")
    assert sorted(phase for word in words for phase in GROUPS[word]) == sorted(Phase)


def test_an_unknown_word_lists_the_known_ones():
    with pytest.raises(UsageError, match="--status done is no status") as caught:
        phases_of("--status", "running,done")
    assert "SUCCESSFUL" in caught.value.why


def workloads():
    labels = {"kueue.x-k8s.io/queue-name": "fast", "xlaunch.dev/owner": "alice"}
    return [
        describe(objects.jobset("train", labels=labels)),
        describe(objects.jobset("pretrain")),
        describe({**objects.ended("Failed"), "metadata": objects.jobset("smoke-1")["metadata"]}),
    ]


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(), ["train", "pretrain", "smoke-1"]),
        (Selection(("train",)), ["train"]),
        (Selection(("smoke-*", "train")), ["train", "smoke-1"]),
        (Selection(phases=phases_of("", "FAILED")), ["smoke-1"]),
        (Selection(queue="fast"), ["train"]),
        (Selection(owner="alice"), ["train"]),
        (Selection(owner="al"), []),
        (Selection(owner="a*"), ["train"]),
        (Selection(("*",), phases_of("", "FAILED"), owner="alice"), []),
    ],
)
def test_selections(selection, names):
    assert [workload.name for workload in selection.of(workloads())] == names


def test_names_that_are_not_there():
    assert Selection(("train", "gone", "no-*")).unmatched(workloads()) == ["gone"]
