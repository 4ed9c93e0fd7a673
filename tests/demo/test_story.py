from types import SimpleNamespace

import pytest

from tests.fakes.clock import FakeClock
from xlaunch.core.loglines import parse, split
from xlaunch.demo.story import Story

PREFIX = "I0706 16:50:26.230209 140110937163584 x.py:1] "


@pytest.fixture
def told():
    return []


@pytest.fixture
def story(told):
    def make(*, terminal=False, color=False, width=80):
        clock = FakeClock()
        return Story(told.append, clock.monotonic, width=width, terminal=terminal, color=color)

    return make


def show(story, *messages, level="I"):
    for message in messages:
        line = (PREFIX.replace("I", level, 1) + message).encode()
        story.show(split(line), parse(line))


def test_without_a_terminal_every_25th_step_is_a_line(story, told):
    show(story(), *[f"completed step: {step}, seconds: 0.160" for step in range(60)])
    assert [text.split()[3].rstrip(",") for text in told] == ["0", "25", "50"]
    assert all(text.endswith("\n") for text in told)


def test_on_a_terminal_steps_redraw_one_line(story, told):
    found = story(terminal=True)
    show(found, "completed step: 1", "completed step: 2", "completed step: 3", "Slice down event detected. Retrying.")
    assert "".join(told).split("\n")[1].count("\r\x1b[2K") == 2
    assert "".join(told).endswith("Slice down event detected. Retrying.\n")


@pytest.mark.parametrize("width", [80, 200])
def test_on_a_terminal_lines_are_cut_and_commands_are_not(story, told, width):
    found = story(terminal=True, width=width)
    show(found, f"Training stopped: {'x' * 300}")
    assert len(told[0].rstrip("\n")) < width
    assert told[0].endswith("...\n")
    found.say(f"kubectl delete pod {'x' * 300}")
    assert told[1].rstrip("\n").endswith("x" * 300)


def test_without_a_terminal_nothing_is_cut_or_coloured(story, told):
    show(story(width=20), f"Training stopped: {'x' * 300}")
    assert told == [f"   0.0s  Training stopped: {'x' * 300}\n"]


def test_telling_lines_are_told_and_others_are_not(story, told):
    show(story(), "Setting up checkpoint logger...", "Elastic attempt 2 out of 10", "Config param steps: 5")
    assert told == ["   0.0s  Elastic attempt 2 out of 10\n"]


def test_errors_of_any_kind_are_told(story, told):
    show(story(), "something broke", level="E")
    assert told == ["   0.0s  something broke\n"]


def test_colour_only_where_it_is_wanted(story, told):
    show(story(color=True), "Slice down event detected. Retrying.")
    assert told[0].startswith("\x1b[31m")


def test_the_end_leaves_the_cursor_on_a_new_line(story, told):
    found = story(terminal=True)
    show(found, "completed step: 1", "completed step: 2")
    found.end()
    found.end()
    assert "".join(told).endswith("step: 2\n")


def test_what_the_stand_in_says_of_itself_is_told(story, told):
    show(story(), "REHEARSAL by xlaunch: MaxText is not installed")
    assert len(told) == 1


def test_the_first_step_of_an_attempt_is_a_line(story, told):
    found = story()
    ready = "Sufficient slices active: 3 >= 3. Active indices: {0, 1, 2}"
    show(found, "completed step: 3", "completed step: 4", ready, "completed step: 1", "completed step: 2")
    assert [text.split("step: ")[1] for text in told if "step" in text] == ["3\n", "1\n"]


def test_slices_that_are_not_whole_are_told(story, told):
    whole = SimpleNamespace(index=0, ready=4, hosts=4, budget_left=40, next_replacement_seconds=10.0)
    hurt = SimpleNamespace(index=2, ready=3, hosts=4, budget_left=39, next_replacement_seconds=10.0)
    unknown = SimpleNamespace(index=3, ready=0, hosts=4, budget_left=None, next_replacement_seconds=None)
    story().tell_ledger(SimpleNamespace(slices=(whole, hurt, unknown)))
    assert told == [
        "   0.0s  ==> status: slice 2 has 3 of 4 hosts, budget left 39, replaced after at most 10 s\n",
        "   0.0s  ==> status: slice 3 has 0 of 4 hosts\n",
    ]
