"""The typer classes of all commands: lazy loading, prefixes of flags, `--` and optional values."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from xlaunch.cli.argv import normalise
from xlaunch.cli.output import check_format
from xlaunch.cli.session import Session
from xlaunch.core.errors import UsageError

REST = "xlaunch.rest"
# Parameters whose value is refused when it is empty, as that of a shell variable that is not set. To go on without it
# would lead to another cluster or namespace, submit what was to be printed only, or submit something else
NEVER_EMPTY = (
    *("cluster", "context", "kubeconfig", "namespace"),
    *("dry_run", "template", "patch", "env_file", "output_manifest_file", "reservation"),
    *("kubernetes", "jobset", "binaries"),
)
CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def session_of(ctx: typer.Context) -> Session:
    """The session that the boundary made for this run."""
    session: Session = ctx.obj
    return session


def rest_of(ctx: typer.Context) -> tuple[str, ...] | None:
    """The words after `--` as typed, or None where there was no `--`."""
    rest: tuple[str, ...] | None = ctx.meta.get(REST)
    return rest


class Command(TyperCommand):
    """A command whose argv is normalised first (see argv.py).

    A module may give `OPTIONAL_VALUES` (flag -> its meaning when it stands alone), and with `TAKES_REST` it gets the
    words after `--` for itself (`rest_of`); otherwise they are arguments that may begin with a dash, as everywhere.
    """

    optional_values: Mapping[str, str] = {}
    takes_rest = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Normalises, says what it read as what, and lets typer parse; the session learns the format that it read."""
        flags: dict[str, bool] = {}
        for param in self.get_params(ctx):
            if param.param_type_name == "option":
                takes_value = not getattr(param, "is_flag", False) and not getattr(param, "count", False)
                flags.update(dict.fromkeys([*param.opts, *param.secondary_opts], takes_value))
        line = normalise(args, flags, self.optional_values)
        ctx.meta[REST] = line.rest
        if isinstance(ctx.obj, Session):
            for notice in line.notices:
                ctx.obj.notice(f"Note: {notice}.")
        words = line.args if self.takes_rest or line.rest is None else (*line.args, "--", *line.rest)
        left = super().parse_args(ctx, list(words))
        self._check_not_empty(ctx)
        if isinstance(ctx.obj, Session):
            output = (ctx.params.get("output") or "").removeprefix("=")
            check_format(output)
            ctx.obj = ctx.find_root().obj = replace(ctx.obj, output=output)
        return left

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """As every other tool writes it: NAME, not {NAME}."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def _check_not_empty(self, ctx: Any) -> None:
        for param in self.get_params(ctx):
            name = param.name or ""
            typed = name in NEVER_EMPTY and ctx.get_parameter_source(name).name == "COMMANDLINE"
            if typed and ctx.params.get(name) == "":
                raise UsageError(
                    f"{param.opts[0]} is empty",
                    why="Perhaps a shell variable is not set",
                    next="Give it a value, or leave it away",
                )


@dataclass(frozen=True)
class Entry:
    """Where a command's code lies and the sentence that `--help` shows for it, so that listing imports nothing."""

    module: str
    summary: str
    function: str = "command"


class LazyGroup(TyperGroup):
    """A group that imports a command's module when that command is asked for."""

    entries: Mapping[str, Entry | LazyGroup] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of that name, loaded now; None where there is none."""
        entry = self.entries.get(cmd_name)
        if not isinstance(entry, Entry):
            return entry
        module = importlib.import_module(entry.module)
        command = build(cmd_name, getattr(module, entry.function), entry.summary)
        command.optional_values = getattr(module, "OPTIONAL_VALUES", {})
        command.takes_rest = getattr(module, "TAKES_REST", False)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Writes the list from the table."""
        rows = [
            (name, entry.summary if isinstance(entry, Entry) else entry.short_help or "")
            for name, entry in self.entries.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def build(name: str, function: Callable[..., Any], summary: str) -> Command:
    """One typer command from a function: help from its docstring, examples from its `epilog` attribute."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(
        name,
        cls=Command,
        short_help=summary,
        epilog=getattr(function, "epilog", None),
        context_settings=CONTEXT_SETTINGS,
    )(function)
    command = typer.main.get_command(app)
    assert isinstance(command, Command)
    return command


def group(name: str, summary: str, entries: Mapping[str, Entry | LazyGroup], **options: Any) -> LazyGroup:
    """A group over a table of commands."""
    made = LazyGroup(
        name=name,
        help=summary,
        short_help=summary,
        context_settings=CONTEXT_SETTINGS,
        no_args_is_help=False,
        rich_markup_mode=None,
        **options,
    )
    made.entries = entries
    return made


def examples(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command the examples that end its `--help`, printed line by line as they are."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        lines = "\n".join(f"  {line}" for line in text.strip().splitlines())
        function.epilog = f"\b\nExamples:\n{lines}"  # type: ignore[attr-defined]
        return function

    return mark
