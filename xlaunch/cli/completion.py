"""`xlaunch completion`: the script by which a shell asks xlaunch what comes next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from xlaunch.cli.command import examples, session_of

COMPLETE_VARIABLE = "_XLAUNCH_COMPLETE"


class Shell(StrEnum):
    """The shells there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@examples("""
xlaunch completion bash > ~/.local/share/bash-completion/completions/xlaunch
xlaunch completion zsh > "${fpath[1]}/_xlaunch"
xlaunch completion fish > ~/.config/fish/completions/xlaunch.fish
""")
def command(
    ctx: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)],
) -> None:
    """Print a shell's completion script.

    It completes commands, flags, and the names of workloads and contexts that are there. A cluster that does not
    answer within three seconds has no names.
    """
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="xlaunch", complete_var=COMPLETE_VARIABLE, shell=shell)
    session_of(ctx).stdout.write(script + "\n")


def answer(program: TyperGroup) -> NoReturn:
    """Answers the shell that asks by the environment, and ends the program."""
    from typer._completion_classes import completion_init

    # typer registers its shells only for programs that install their completion by a flag of their own
    completion_init()
    if "COMP_WORDS" in os.environ:
        words, current = rejoin(os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"]))
        os.environ.update(COMP_WORDS="\n".join(words), COMP_CWORD=str(current))
    program.main([], prog_name="xlaunch")
    raise SystemExit(0)


def rejoin(words: Sequence[str], current: int) -> tuple[list[str], int]:
    """bash's words as a shell would pass them: it breaks `--cluster=local` into three (COMP_WORDBREAKS).

    `current` is the index of the word that is being completed, also in what is returned.
    """
    joined: list[str] = []
    for index, word in enumerate(words):
        after_equals = index > 1 and words[index - 1] == "=" and words[index - 2].startswith("--")
        if (word == "=" and index and words[index - 1].startswith("--")) or after_equals:
            joined[-1] += word
        else:
            joined.append(word)
        if index == current:
            position = len(joined) - 1
    return joined, position if current < len(words) else len(joined)
