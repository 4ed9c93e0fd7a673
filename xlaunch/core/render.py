"""Rendering a template: every expression becomes one YAML value, so that nothing a user types can be read as YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from xlaunch.core.errors import UsageError

_NOT_ASCII = re.compile(r"[^\x20-\x7e]")


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
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
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
    """The one YAML mapping in a text; `what` names it in a refusal (UsageError)."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or str(error)
        raise UsageError(f"{what} is not valid YAML{where}", why=why[:200], next="Correct it there") from error
    if not isinstance(found, dict):
        raise UsageError(
            f"{what} is not a mapping", why="It has the fields of a JobSet", next="Begin with metadata: or spec:"
        )
    return found


def _unusable(why: str) -> UsageError:
    return UsageError(
        "The template can't be rendered",
        why=why[:300],
        next="xlaunch template export pathways shows one that works",
    )
