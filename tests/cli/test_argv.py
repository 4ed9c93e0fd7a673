"""The command line before typer sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.cli.argv import normalise, output_format, split_rest
from xlaunch.core.errors import UsageError

FLAGS = {"--dry-run": True, "--num-slices": True, "--namespace": True, "--quiet": False, "-n": True, "--env": True,
         "--env-file": True}  # fmt: skip
OPTIONAL = {"--dry-run": "client"}


@pytest.mark.parametrize(
    ("typed", "args"),
    [
        (["--dry-run"], ["--dry-run=client"]),
        (["--dry-run", "server"], ["--dry-run=client", "server"]),
        (["--dry-run=server"], ["--dry-run=server"]),
        (["--dry"], ["--dry-run=client"]),
        (["--num", "3"], ["--num-slices", "3"]),
        (["--num=3"], ["--num-slices=3"]),
        (["--env", "--dry"], ["--env", "--dry"]),
        (["--env=--dry"], ["--env=--dry"]),
        (["-n", "--quiet"], ["-n", "--quiet"]),
        (["--env", "A=1", "--env-file", "f"], ["--env", "A=1", "--env-file", "f"]),
        (["--quiet", "--num", "1"], ["--quiet", "--num-slices", "1"]),
        (["--unknown", "x"], ["--unknown", "x"]),
        (["-"], ["-"]),
        ([], []),
    ],
)
def test_what_typer_gets(typed, args):
    assert list(normalise(typed, FLAGS, OPTIONAL).args) == args


def test_an_exact_flag_is_never_a_prefix_of_another():
    assert normalise(["--env", "A=1"], FLAGS).notices == ()


def test_a_prefix_is_said():
    assert normalise(["--num=3"], FLAGS).notices == ("--num is read as --num-slices",)


def test_an_ambiguous_prefix_names_its_flags():
    with pytest.raises(UsageError, match="--n is ambiguous") as caught:
        normalise(["--n=3"], FLAGS)
    assert "--namespace, --num-slices" in caught.value.why


@given(st.lists(st.text()))
def test_what_follows_the_dashes_is_never_touched(words):
    line = normalise(["--num", "3", "--", *words], FLAGS, OPTIONAL)
    assert line.rest == tuple(words)
    assert line.args == ("--num-slices", "3")


def test_no_dashes_is_not_the_same_as_nothing_after_them():
    assert split_rest(["a"]) == (["a"], None)
    assert split_rest(["a", "--"]) == (["a"], ())


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["-o", "json"], "json"),
        (["-ojson"], "json"),
        (["-o=yaml"], "yaml"),
        (["--output", "json"], "json"),
        (["--output=yaml"], "yaml"),
        (["-o", "json", "-o", "yaml"], "yaml"),
        (["-o"], ""),
        (["x"], ""),
        (["--", "-o", "json"], ""),
    ],
)
def test_the_output_format_is_known_before_the_line_parses(typed, found):
    assert output_format(typed) == found
