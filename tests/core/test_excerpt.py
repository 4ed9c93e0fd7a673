"""Other people's texts stay on one line, and steer no terminal."""

import pytest
from fakes.objects import condition, jobset, pod, status, terminated
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.ending import disruption, messages
from xlaunch.core.events import message
from xlaunch.core.excerpt import LENGTH, excerpt, one_line, reason_and_message
from xlaunch.core.kueue import read
from xlaunch.core.pods import containers
from xlaunch.core.workload import describe

HOSTILE = "a\x1b[2J\n b\x07 [bold]c[/bold]\u202e\x9b1m"
TOLD = r"a^[[2J b\x07 [bold]c[/bold]\u202e\x9b1m"


@given(st.text(st.characters()))
def test_any_text_becomes_one_printable_line(text):
    assert one_line(text).isprintable()


@given(st.text(st.characters(blacklist_categories=("C", "Z"))))
def test_a_printable_word_stays_as_it_is(text):
    assert one_line(text) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [(HOSTILE, TOLD), ("\tone\r\ntwo  three ", "one two three"), ("\ud800", r"\ud800"), ("Käse 漢字", "Käse 漢字")],
)
def test_controls_are_shown(text, line):
    assert (one_line(text), excerpt(text), reason_and_message({"message": text})) == (line, line, line)


def test_a_long_text_loses_its_middle():
    told = excerpt("\x1b" * LENGTH)
    assert len(told) <= LENGTH
    assert " ... " in told


def test_no_message_is_none():
    waits = [condition("QuotaReserved", "False", "Pending", None), condition("Evicted", "True", "Why", None)]
    queue = read({"metadata": {"name": "w"}, "status": {"conditions": waits}})
    assert describe(jobset(conditions=[condition("Failed", message=None)])).message == ""
    assert (queue.message, queue.refusal, str(queue.last_eviction)) == ("", "", "Why")


def test_messages_of_containers_conditions_and_queues():
    ended = pod("pathways-head", statuses=[status(state=terminated(1, message=HOSTILE))])
    ends = [condition("DisruptionTarget", reason="Why", message=HOSTILE)]
    failed = jobset(conditions=[condition("Failed", reason="Why", message=HOSTILE)])
    waits = [condition("QuotaReserved", "False", "Pending", HOSTILE), condition("Evicted", "True", "Why", HOSTILE)]
    queue = read({"metadata": {"name": "w"}, "status": {"conditions": waits}})
    assert messages(containers(ended)) == [f"main ended with exit code 1: {TOLD}"]
    assert disruption(pod(conditions=ends)) == f"Why: {TOLD}"
    assert describe(failed).message == message({"note": HOSTILE}) == TOLD
    assert (queue.message, queue.refusal, str(queue.last_eviction)) == (TOLD, TOLD, f"Why: {TOLD}")
