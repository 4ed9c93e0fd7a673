"""Every outcome of a command becomes text and the documented exit code."""

import json
import os
import signal
import sys
import types

import pytest
import typer

from xlaunch.cli import app as table
from xlaunch.cli.boundary import take_flags
from xlaunch.cli.command import Entry, group, session_of
from xlaunch.cli.output import Result, Table
from xlaunch.core import errors


@pytest.fixture
def command(monkeypatch):
    """Puts a function in the program as its only command, `do`."""

    def install(function):
        module = types.ModuleType("do_module")
        module.command = function
        monkeypatch.setitem(sys.modules, "do_module", module)
        made = group("xlaunch", "s", {"do": Entry("do_module", "Does it.")})
        monkeypatch.setattr("xlaunch.cli.boundary.app", lambda: made)

    return install


def raising(error):
    def do(ctx: typer.Context, output: str = typer.Option("", "-o")):
        """Does it."""
        raise error

    return do


EVERY_ERROR = [
    (errors.XlaunchError, 1),
    (errors.NetworkError, 1),
    (errors.DeclinedError, 1),
    (errors.UsageError, 2),
    (errors.NotFoundError, 3),
    (errors.RefusedError, 4),
    (errors.ConflictError, 5),
    (errors.WorkloadFailedError, 10),
    (errors.DeadlineError, 124),
]


@pytest.mark.parametrize(("error", "code"), EVERY_ERROR)
def test_an_error_is_three_sentences_and_its_code(command, xlaunch, error, code):
    command(raising(error("It broke", why="Because", next="xlaunch fix")))
    outcome = xlaunch("do")
    assert outcome.code == code
    assert outcome.stdout == ""
    assert outcome.stderr == "Error: It broke. Because.\nNext: xlaunch fix\n"


@pytest.mark.parametrize(("error", "code"), EVERY_ERROR)
def test_an_error_is_an_object_with_json(command, xlaunch, error, code):
    command(raising(error("It broke", next="xlaunch fix")))
    outcome = xlaunch("do", "-o", "json")
    body = json.loads(outcome.stdout)
    assert (outcome.code, body["kind"], body["code"], body["reason"]) == (code, "Error", code, error.default_reason)
    assert (body["message"], body["next"]) == ("It broke.", "xlaunch fix")


def test_a_bug_is_one_sentence_and_a_traceback_only_with_debug(command, xlaunch):
    command(raising(ZeroDivisionError("by zero")))
    assert xlaunch("do").stderr.startswith("Error: ZeroDivisionError: by zero. This is a bug in xlaunch.")
    assert "Traceback" not in xlaunch("do").stderr
    assert "Traceback" in xlaunch("do", "--debug").stderr
    assert xlaunch("do").code == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["do", "--bogus"], "No such option: --bogus"),
        (["do", "extra"], "Got unexpected extra argument"),
        ([], "Missing command"),
    ],
)
def test_wrong_syntax_is_exit_2_with_the_help_to_read(command, xlaunch, argv, said):
    command(raising(AssertionError))
    outcome = xlaunch(*argv)
    assert outcome.code == 2
    assert said in outcome.stderr
    assert "--help" in outcome.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (typer.Abort(), 130), (typer.Exit(7), 7), (BrokenPipeError(), 0)]
)
def test_other_ends(command, xlaunch, error, code):
    command(raising(error))
    outcome = xlaunch("do")
    assert (outcome.code, outcome.stderr) == (code, "")


def test_sigterm_unwinds_and_is_143(command, xlaunch):
    unwound = []

    def do():
        """Does it."""
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            unwound.append(True)

    command(do)
    before = signal.getsignal(signal.SIGTERM)
    assert xlaunch("do").code == 143
    assert unwound == [True]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_result_is_printed_for_people_and_for_programs(command, xlaunch):
    def do(output: str = typer.Option("", "-o")):
        """Does it."""
        parts = ["Found:", Table(["NAME", "AGE"], [["å", "1s"], ["日本", "2s"]])]
        return Result("Things", {"items": [1]}, parts, name="n", namespace="ns", exit_code=3, notices=["by the way"])

    command(do)
    people = xlaunch("do")
    assert people.stdout == "Found:\nNAME   AGE\nå      1s\n日本   2s\n"
    assert (people.stderr, people.code) == ("by the way\n", 3)
    expected = {"apiVersion": "xlaunch.dev/v1", "kind": "Things", "metadata": {"name": "n", "namespace": "ns"},
                "items": [1]}  # fmt: skip
    assert json.loads(xlaunch("do", "-o", "json").stdout) == expected
    assert "kind: Things" in xlaunch("do", "-o", "yaml").stdout


def test_an_unknown_format_is_refused_before_anything_happens(command, xlaunch):
    command(raising(AssertionError("must not run")))
    outcome = xlaunch("do", "-o", "xml")
    assert (outcome.code, outcome.stderr.splitlines()[0]) == (
        2,
        "Error: -o xml is not a format. Results are printed as json or yaml.",
    )


@pytest.mark.parametrize("typed", [["--out", "json"], ["-vo", "json"], ["-vojson"], ["-o=json"], ["--output=json"]])
def test_the_format_is_what_typer_reads(command, xlaunch, typed):
    def do(output: str = typer.Option("", "--output", "-o"), verbose: bool = typer.Option(False, "-v")):
        """Does it."""
        return Result("Things", {}, ["text"])

    command(do)
    assert xlaunch("do", *typed).stdout.startswith("{")


@pytest.mark.parametrize("value", ["-o x", "--output=x", "-ox"])
def test_the_value_of_another_flag_is_no_format(command, xlaunch, value):
    def do(output: str = typer.Option("", "--output", "-o"), words: str = typer.Option("", "--words")):
        """Does it."""
        return Result("Things", {}, [words])

    command(do)
    assert xlaunch("do", "--words", value).stdout == f"{value}\n"


def test_a_value_that_stands_alone_is_not_repeated(command, xlaunch):
    command(raising(AssertionError))
    outcome = xlaunch("do", "HF_TOKEN=secret", "other")
    assert outcome.stderr.startswith("Error: Got unexpected extra argument(s) (HF_TOKEN=... other).")


def test_words_after_the_dashes_are_arguments(command, xlaunch):
    """Only create-pathways has a use of its own for them; nothing is dropped in silence."""

    def do(names: list[str], yes: bool = typer.Option(False, "--yes")):
        """Does it."""
        return Result("Things", {}, [f"{names} {yes}"])

    command(do)
    assert xlaunch("do", "a", "--", "--yes", "-b").stdout == "['a', '--yes', '-b'] False\n"
    assert xlaunch("do", "--yes", "--", "a").stdout == "['a'] True\n"
    assert xlaunch("do", "--").code == 2


def test_a_command_without_arguments_refuses_words_after_the_dashes(xlaunch):
    done = xlaunch("template", "list", "--", "x")
    assert (done.code, done.stdout) == (2, "")


def test_without_a_terminal_a_question_is_refused_and_names_the_flag(command, xlaunch):
    def do(ctx: typer.Context):
        """Does it."""
        return Result("X", {}, [str(session_of(ctx).confirm("Delete it?", flag="--yes"))])

    command(do)
    refused = xlaunch("do")
    assert refused.code == 2
    assert "Next: Add --yes" in refused.stderr
    assert xlaunch("do", tty=True, stdin="y\n").stdout == "True\n"
    assert xlaunch("do", tty=True, stdin="\n").stdout == "False\n"


def test_flags_of_every_command_may_stand_anywhere_before_the_dashes():
    args, flags = take_flags(["status", "--debug", "x", "--no-color", "--", "--debug"])
    assert args == ["status", "x", "--", "--debug"]
    assert flags == {"debug": True, "no_color": True}


def test_every_command_of_the_table_exists_and_has_help(xlaunch):
    def paths(entries, prefix=()):
        for name, entry in entries.items():
            if isinstance(entry, Entry):
                yield (*prefix, name)
            else:
                yield from paths(entry.entries, (*prefix, name))

    for path in paths(table.app().entries):
        outcome = xlaunch(*path, "--help")
        assert outcome.code == 0, path
        assert "Examples:" in outcome.stdout, path
