"""A pod's own words: containers, exits, restarts, readiness, place."""

import pytest
from fakes.objects import pod, running, status, terminated, waiting

from xlaunch.core import pods as podlib
from xlaunch.core.pods import Exit

HEAD = pod(
    "pathways-head",
    statuses=[status(state=terminated(137, "OOMKilled"))],
    init_statuses=[status("pathways-proxy", restarts=2, last=terminated(139)), status("pathways-rm")],
)


def test_containers_main_first_then_the_native_sidecars():
    found = podlib.containers(HEAD)
    assert [(each.name, each.sidecar, each.state, each.restarts) for each in found] == [
        ("main", False, "terminated", 0),
        ("pathways-rm", True, "running", 0),
        ("pathways-proxy", True, "running", 2),
    ]
    assert [each.begun for each in found] == [True, True, True]


@pytest.mark.parametrize(
    ("ended", "words", "signal"),
    [
        (terminated(0), "exit 0", ""),
        (terminated(1), "exit 1", ""),
        (terminated(137, "OOMKilled"), "OOMKilled, exit 137 (SIGKILL)", "SIGKILL"),
        (terminated(143), "exit 143 (SIGTERM)", "SIGTERM"),
        (terminated(134), "exit 134 (SIGABRT)", "SIGABRT"),
        (terminated(0, signal=9), "exit 0 (SIGKILL)", "SIGKILL"),
        (terminated(255), "exit 255", ""),
        (terminated(1, signal=77), "exit 1 (signal 77)", "signal 77"),
        (terminated(128, "StartError"), "StartError, exit 128", ""),
    ],
)
def test_exits_in_words(ended, words, signal):
    found = podlib.containers(pod("pathways-head", statuses=[status(state=ended)]))[0].exit
    assert (str(found), found.signal) == (words, signal)


def test_what_the_kubelet_has_not_spoken_of_is_waiting():
    found = podlib.containers(pod("pathways-head", phase="Pending"))[0]
    assert (found.state, found.reason, found.begun, found.running) == ("waiting", "", False, False)


@pytest.mark.parametrize(
    ("told", "begun"),
    [
        (status(state=waiting("ContainerCreating")), False),
        (status(state=waiting("CrashLoopBackOff"), last=terminated(1)), True),
        (status(state=running()), True),
        (status(state=terminated(1)), True),
    ],
)
def test_there_is_a_log_once_there_was_a_process(told, begun):
    assert podlib.container(pod("pathways-head", statuses=[told]), "main").begun is begun


def test_one_container_by_name():
    assert podlib.container(HEAD, "pathways-proxy").last_exit == Exit(139, "SIGSEGV", "Error", "2026-11-29T12:00:00Z")
    assert podlib.container(HEAD, "nobody") is None


def test_a_plain_init_container_has_a_log_too():
    made = pod(
        "pathways-head",
        spec={"containers": [{"name": "main"}], "initContainers": [{"name": "setup"}]},
        init_statuses=[status("setup", state=terminated(0))],
    )
    assert podlib.container(made, "setup").exit.code == 0
    assert [each.name for each in podlib.containers(made)] == ["main"]


def test_the_essence_says_the_same():
    small = podlib.essence({**HEAD, "metadata": {**HEAD["metadata"], "managedFields": ["much"]}})
    assert podlib.containers(small) == podlib.containers(HEAD)
    assert podlib.in_place_restarts(small) == podlib.in_place_restarts(HEAD)
    assert small["metadata"] == HEAD["metadata"]
    assert small["spec"]["nodeName"] == "node-1"
    assert len(str(small)) < len(str(HEAD))


def test_in_place_restarts_are_summed_as_the_job_controller_does():
    assert podlib.in_place_restarts(HEAD) == 2


STATES = [
    ("running and ready", pod(), (True, False, True)),
    ("running, not ready", pod(ready=False), (False, False, True)),
    ("told to go", pod(deleted="2026-11-29T12:00:00Z"), (False, True, False)),
    ("failed", pod(phase="Failed"), (False, True, False)),
    ("succeeded", pod(phase="Succeeded"), (False, False, False)),
    ("succeeded and told to go", pod(phase="Succeeded", deleted="2026-11-29T12:00:00Z"), (False, False, False)),
    ("pending", pod(phase="Pending"), (False, False, True)),
]


@pytest.mark.parametrize(("made", "expected"), [case[1:] for case in STATES], ids=[case[0] for case in STATES])
def test_ready_lost_alive(made, expected):
    assert (podlib.is_ready(made), podlib.is_lost(made), podlib.is_alive(made)) == expected


def test_the_index_as_label_or_as_annotation():
    made = pod(index=3)
    assert podlib.completion_index(made) == 3
    del made["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
    assert podlib.completion_index(made) == -1
    made["metadata"]["annotations"] = {"batch.kubernetes.io/job-completion-index": "2"}
    assert podlib.completion_index(made) == 2


def test_pods_of_an_earlier_jobset_of_that_name_do_not_belong():
    assert podlib.belongs(pod(), "uid-train")
    assert not podlib.belongs(pod(), "uid-of-another")
    old = pod()
    del old["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-uid"]
    assert podlib.belongs(old, "uid-train")


def test_the_newest_is_the_one_that_stays():
    old, new = pod(suffix="a"), pod(suffix="b", created="2026-11-29T12:01:00Z", deleted="2026-11-29T12:02:00Z")
    assert podlib.newest([old, new]) is old
    assert podlib.newest([new]) is new
    assert podlib.newest([]) is None
