"""`xlaunch completion`: the script by which a shell asks xlaunch what comes next."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

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
