"""Rendering a template: every expression becomes one YAML value, so that nothing a user types can be read as YAML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from xlaunch.core.errors import UsageError

_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
# More than any JobSet has: YAML's aliases make a tree without end out of a few lines
_DEEPEST, _MOST = 100, 500_000


def render(template: str, values: Mapping[str, Any]) -> str:
    """The template's text with its values as YAML. Raises UsageError for a template that can't be rendered.

    The template is a jinja2 one: sandboxed, without includes, and each use of an unknown value is an error.
    """
    from jinja2 import TemplateError

    try:
        text: str = _compiled(template).render(values)
        return text
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise _unusable(f"line {line}: {error}" if line else str(error)) from error
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, SyntaxError, MemoryError) as error:
        raise _unusable(f"{type(error).__name__}: {error}") from error


@cache
def _compiled(template: str) -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        finalize=as_yaml,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # rendered once: looking for constants costs more than it saves
    )
    return environment.from_string(template)


def as_yaml(value: Any) -> str:
    """A value as JSON in ASCII that YAML reads as the same value.

    JSON writes an emoji as two halves that YAML takes for two characters, and YAML takes some line separators for
    blanks: whatever is not printable ASCII is written by its number instead.
    """
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)  # a StrictUndefined raises, and its message names the value
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_ASCII.sub(lambda found: f"\\U{ord(found[0]):08x}", text)


def parse(text: str, what: str) -> dict[str, Any]:
    """The one YAML mapping in a text, which holds nothing but JSON; `what` names it in a refusal (UsageError)."""
    import yaml

    try:
        found = _loaded(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or str(error)
        raise UsageError(f"{what} is not valid YAML{where}", why=why[:200], next="Correct it there") from error
    if not isinstance(found, dict):
        raise UsageError(
            f"{what} is not a mapping", why="It has the fields of a JobSet", next="Begin with metadata: or spec:"
        )
    try:
        plain: dict[str, Any] = _plain(found, 0, iter(range(_MOST)))
    except ValueError as error:
        raise UsageError(f"{what} holds what JSON does not have", why=str(error), next="Correct it there") from error
    return plain


def _loaded(text: str) -> Any:
    """What a text in JSON or YAML holds. JSON's way to write an emoji, as two escapes, is none of YAML's."""
    import yaml

    if text.lstrip().startswith("{"):
        with suppress(ValueError):
            return json.loads(text)
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders


def _plain(value: Any, depth: int, room: Iterator[int]) -> Any:
    """The same tree without aliases; ValueError for what is no JSON, or takes more than the `room` that is left."""
    if depth > _DEEPEST:
        raise ValueError(f"It is nested deeper than {_DEEPEST} levels, perhaps in itself")
    if next(room, None) is None:
        raise ValueError(f"It has more than {_MOST} values, perhaps by aliases of aliases")
    if isinstance(value, dict):
        return {_name(key): _plain(inner, depth + 1, room) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(item, depth + 1, room) for item in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("It has a number of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"It has the number {value}")
    if value is not None and not isinstance(value, (bool, int, float)):
        raise ValueError(f"It has a {type(value).__name__}; a text that looks like one stands in quotes")
    return value


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{key!r} is no name of a field; a text that looks like something else stands in quotes")
    return _text(key)


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("A text has one half of a character that takes two") from None
    return text


def _unusable(why: str) -> UsageError:
    return UsageError(
        "The template can't be rendered",
        why=why[:300],
        next="xlaunch template export pathways shows one that works",
    )
