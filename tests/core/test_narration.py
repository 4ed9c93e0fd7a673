"""Waits are told at a pace that fits who reads."""

import pytest

from xlaunch.core.narration import Narration


def told(script, *, interactive):
    """`script`: (second, reason), or (second, None) where the wait is over."""
    now, said = [0.0], []
    narration = Narration(lambda line: said.append((now[0], line)), lambda: now[0], interactive=interactive)
    for second, reason in script:
        now[0] = second
        if reason is None:
            narration.went_on()
        else:
            narration.waiting(reason)
    return said


A, B = "Waiting: a", "Waiting: b"
CASES = [
    ("each new reason at once", True, [(0, "a"), (1, "a"), (2, "b"), (3, "a")], [(0, A), (2, B), (3, A)]),
    ("the same reason once", True, [(0, "a"), (100, "a"), (500, "a")], [(0, A)]),
    (
        "the first at once, then one line a minute",
        False,
        [(s, "a") for s in range(0, 130, 10)],
        [(0, A), (60, A), (120, A)],
    ),
    ("a new reason waits for its minute", False, [(0, "a"), (1, "b"), (30, "b"), (60, "b")], [(0, A), (60, B)]),
    ("a new wait is told anew", True, [(0, "a"), (1, None), (2, "a")], [(0, A), (2, A)]),
    ("a new wait is told anew, off a terminal", False, [(0, "a"), (1, None), (2, "a")], [(0, A), (2, A)]),
]


@pytest.mark.parametrize(
    ("interactive", "script", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_waiting(interactive, script, expected):
    assert told(script, interactive=interactive) == expected


def test_once():
    said = []
    narration = Narration(said.append, lambda: 0.0, interactive=True)
    for text in ("x", "x", "y", "x"):
        narration.once(text)
    assert said == ["x", "y"]
