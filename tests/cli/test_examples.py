"""What --help shows as examples is right: whole lines of create-pathways render."""

import shlex

import pytest

from xlaunch.cli import create_pathways, local_up


def lines(function):
    """The commands of a function's examples, continued lines joined."""
    text = function.epilog.partition("Examples:\n")[2].replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


WHOLE = [
    line
    for line in [*lines(create_pathways.command), *lines(local_up.command)]
    if line.startswith("xlaunch workload create-pathways") and "..." not in line
]


def test_there_are_such_lines():
    assert len(WHOLE) >= 2


@pytest.mark.parametrize("line", WHOLE)
def test_an_example_renders(line, xlaunch):
    words = shlex.split(line)[1:]
    at = words.index("--")
    outcome = xlaunch(*words[:at], "--dry-run", *words[at:])
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout.startswith("apiVersion: jobset.x-k8s.io/v1alpha2\n")
