"""Many flags as one value: a dataclass whose fields are a command's parameters.

Seventy flags would otherwise be written three times: as parameters, as arguments, as fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, field, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from xlaunch.cli.command import session_of
from xlaunch.cli.xpk_flags import ForeignFlag

Options = TypeVar("Options")
_OPTION = "option"


def flag(*names: str, help: str, default: Any = "", metavar: str | None = None, hidden: bool = False) -> Any:  # noqa: A002
    """A field that is a flag. `default` is its value when it is not given; a list is repeatable."""
    option = typer.Option(*names, help=help, metavar=metavar, show_default=False, hidden=hidden)
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata={_OPTION: option})
    return field(default=default, metadata={_OPTION: option})


def takes(
    options: type[Options], foreign: Iterable[ForeignFlag] = ()
) -> Callable[[Callable[[typer.Context, Options], Any]], Callable[..., Any]]:
    """Makes of `command(ctx, options)` what typer reads: a function with one parameter per field of the dataclass.

    A field is a `flag`, or annotated as a parameter would be. `foreign` flags are answered, and not in the help.
    """
    by_name = {f"foreign_{index}": each for index, each in enumerate(foreign)}

    def decorate(function: Callable[[typer.Context, Options], Any]) -> Callable[..., Any]:
        def command(ctx: typer.Context, **values: Any) -> Any:
            for name, each in by_name.items():
                if values.pop(name) is not None:
                    each.answer(session_of(ctx).notice)
            return function(ctx, options(**values))

        command.__signature__ = inspect.Signature(_parameters(options, by_name))  # type: ignore[attr-defined]
        command.__doc__ = function.__doc__
        return command

    return decorate


def _parameters(options: type[Any], foreign: dict[str, ForeignFlag]) -> list[inspect.Parameter]:
    hints = get_type_hints(options, include_extras=True)
    found = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for each in fields(options):
        option = each.metadata.get(_OPTION)
        hint = Annotated[hints[each.name], option] if option else hints[each.name]
        default = each.default if each.default_factory is MISSING else each.default_factory()
        found.append(_parameter(each.name, hint, inspect.Parameter.empty if default is MISSING else default))
    for name, other in foreign.items():
        found.append(_parameter(name, Annotated[other.type, typer.Option(*other.names, hidden=True)], None))
    return found


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
