"""Many flags as one value: a class whose attributes are a command's parameters.

Seventy flags would otherwise be written three times: as parameters, as arguments, as attributes. It is no dataclass,
since making one of that size costs as much as starting Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from xlaunch.cli.command import session_of
from xlaunch.cli.xpk_flags import ForeignFlag

REQUIRED = inspect.Parameter.empty


class Flags:
    """The base of such a class: one value per annotated attribute, set once by the command line."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


Options = TypeVar("Options", bound=Flags)


def flag(*names: str, help: str, default: Any = "", metavar: str | None = None, values: Sequence[str] = ()) -> Any:  # noqa: A002
    """An attribute that is a flag. `default` is its value when it is not given; a list is repeatable.

    `values` are what a shell proposes.
    """
    complete = (lambda: list(values)) if values else None
    return default, typer.Option(*names, help=help, metavar=metavar, show_default=False, autocompletion=complete)


def takes(
    options: type[Options], foreign: Iterable[ForeignFlag] = ()
) -> Callable[[Callable[[typer.Context, Options], Any]], Callable[..., Any]]:
    """Makes of `command(ctx, options)` what typer reads: a function with one parameter per attribute of the class.

    An attribute is a `flag`, or annotated as a parameter would be. Annotations are read as they are: the class's module
    must not postpone them. `foreign` flags are answered, and not in the help.
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


def _parameters(options: type[Flags], foreign: dict[str, ForeignFlag]) -> list[inspect.Parameter]:
    found = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for base in reversed(options.__mro__):
        for name, hint in vars(base).get("__annotations__", {}).items():
            default = vars(base).get(name, REQUIRED)
            if isinstance(default, tuple):
                default, option = default
                hint = Annotated[hint, option]
            found.append(_parameter(name, hint, default))
    for name, other in foreign.items():
        found.append(_parameter(name, Annotated[other.type, typer.Option(*other.names, hidden=True)], None))
    return found


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
