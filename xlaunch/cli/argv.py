"""What a command line means before typer sees it: the argv after `--`, prefixes of flags, optional values.

typer has no options with an optional value and refuses prefixes; xpk users type both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlaunch.core.errors import UsageError


@dataclass(frozen=True)
class Line:
    """A normalised command line: `args` for typer, `rest` as typed after `--` (None without `--`)."""

    args: tuple[str, ...]
    rest: tuple[str, ...] | None
    notices: tuple[str, ...] = ()


def split_rest(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Splits at the first `--`; what follows it belongs to the workload and is never read as a flag of ours."""
    args = list(argv)
    if "--" not in args:
        return args, None
    at = args.index("--")
    return args[:at], tuple(args[at + 1 :])


def normalise(argv: Sequence[str], flags: Mapping[str, bool], defaults: Mapping[str, str] | None = None) -> Line:
    """Resolves unambiguous prefixes of long flags and gives flags of `defaults` their value when they stand alone.

    `flags` maps each long flag to whether it takes a value; `defaults` maps a flag to the value that it means
    alone (`{"--dry-run": "client"}`): such a flag takes a value with `=` only, never the next word.
    Raises UsageError for a prefix of several flags. An unknown flag is left for typer to refuse.
    """
    defaults = defaults or {}
    args, rest = split_rest(argv)
    out: list[str] = []
    notices: list[str] = []
    position = 0
    while position < len(args):
        word = args[position]
        position += 1
        if not word.startswith("--") or len(word) < 3:
            out.append(word)
            if word.startswith("-") and len(word) == 2 and flags.get(word) and position < len(args):
                out.append(args[position])
                position += 1
            continue
        typed, equals, value = word.partition("=")
        flag = _resolve(typed, flags)
        if flag != typed:
            notices.append(f"{typed} is read as {flag}")
        if flag in defaults:
            out.append(f"{flag}={value if equals else defaults[flag]}")
        elif equals:
            out.append(f"{flag}={value}")
        else:
            out.append(flag)
            if flags.get(flag) and position < len(args):
                out.append(args[position])
                position += 1
    return Line(tuple(out), rest, tuple(notices))


def _resolve(typed: str, flags: Mapping[str, bool]) -> str:
    if typed in flags:
        return typed
    found = sorted(flag for flag in flags if flag.startswith(typed))
    if len(found) > 1:
        raise UsageError(f"{typed} is ambiguous", why=f"It could be {', '.join(found)}", next="Type the whole flag")
    return found[0] if found else typed


def output_format(argv: Sequence[str]) -> str:
    """The value of the last `-o`/`--output`, or "" where there is none: a guess, for lines that do not parse."""
    args, _ = split_rest(argv)
    found = ""
    for here, following in zip(args, [*args[1:], ""], strict=False):
        if here in ("-o", "--output"):
            found = following
        elif here.startswith("--output="):
            found = here.partition("=")[2]
        elif here.startswith("-o") and not here.startswith("--") and len(here) > 2:
            found = here[2:].removeprefix("=")
    return found
