"""How a container ended, in a sentence that says why."""

import pytest
from fakes.objects import condition, pod, running, status, terminated, waiting

from xlaunch.core import pods as podlib
from xlaunch.core.ending import disruption, ending_of, fate, messages

NOT_FOUND = 'exec: "python3 train.py a=b": executable file not found in $PATH'


def head(*statuses, **more):
    return pod("pathways-head", statuses=list(statuses), **more)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (status(state=terminated(3)), "main ended with exit code 3"),
        (status(state=terminated(0)), "main ended with exit code 0"),
        (status(state=terminated(137, "OOMKilled")), "main ended with exit code 137 (OOMKilled, SIGKILL)"),
        (status(state=terminated(143)), "main ended with exit code 143 (SIGTERM)"),
        (
            status(state=terminated(128, "StartError", message=NOT_FOUND)),
            f"main ended with exit code 128 (StartError): {NOT_FOUND}",
        ),
        (status(state=waiting("CrashLoopBackOff"), last=terminated(2)), "main ended with exit code 2"),
        (status(state=running(), last=terminated(2)), "main ended with exit code 2"),
        (status(state=running()), ""),
    ],
)
def test_the_ending(told, words):
    assert ending_of([head(told)], "main") == words


def test_of_several_pods_the_newest_counts():
    old, new = head(status(state=terminated(1))), head(status(), suffix="bbbbb", created="2026-11-29T13:00:00Z")
    assert ending_of([new, old], "main") == ""
    assert ending_of([], "main") == ""
    assert ending_of([old], "other") == ""


def test_a_long_message_keeps_its_begin_and_its_end_on_one_line():
    words = ending_of([head(status(state=terminated(1, message="begin\n" + "x" * 4000 + "\nend")))], "main")
    assert words.startswith("main ended with exit code 1: begin xx")
    assert words.endswith("xx end")
    assert len(words) < 350


def test_only_endings_with_a_message_are_worth_a_line_beside_a_table():
    made = head(status(state=terminated(128, "StartError", message=NOT_FOUND)))
    made["status"]["initContainerStatuses"] = [status("pathways-rm", state=terminated(143))]
    assert messages(podlib.containers(made)) == [f"main ended with exit code 128 (StartError): {NOT_FOUND}"]


EVICTED = condition("DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")
CALLED_OFF = condition("DisruptionTarget", "False", "DeletionByTaintManager", "Taint manager: deleting")


def test_who_ends_a_pod():
    assert disruption(head(conditions=[EVICTED])) == "EvictionByEvictionAPI: Eviction API: evicting"
    assert (disruption(head()), disruption(head(conditions=[CALLED_OFF]))) == ("", "")


def test_the_fate_is_how_it_ended_and_who_ended_its_pod():
    killed = status(state=terminated(143))
    assert fate(head(killed), "main") == "main ended with exit code 143 (SIGTERM)"
    assert fate(head(status(), conditions=[EVICTED]), "main") == "EvictionByEvictionAPI: Eviction API: evicting"
    both = "main ended with exit code 143 (SIGTERM); EvictionByEvictionAPI: Eviction API: evicting"
    assert fate(head(killed, conditions=[EVICTED]), "main") == both
    assert (fate(head(status()), "main"), fate(head(killed), "other")) == ("", "")
