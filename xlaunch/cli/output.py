"""The one place that prints results: what a command returns becomes text for people, or JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xlaunch.cli.session import Session
from xlaunch.core.errors import UsageError, XlaunchError
from xlaunch.core.excerpt import one_line
from xlaunch.core.plan import dump as dump_yaml

API_VERSION = "xlaunch.dev/v1"
FORMATS = ("json", "yaml")
GAP = "   "


@dataclass(frozen=True)
class Table:
    """A table for people: aligned columns, no borders; `empty` is the sentence that stands for no rows.

    Columns named in `optional` are left out, in that order, where a terminal is too narrow for all.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = ""
    optional: Sequence[str] = ()


@dataclass(frozen=True)
class Result:
    """What a command found or did.

    `kind` and `data` make the object that `-o json` prints (docs/schema.json); `parts` are what people read, in order:
    strings are printed as they are, tables are aligned. `bare` prints `data` alone, for manifests.
    """

    kind: str
    data: Mapping[str, Any]
    parts: Sequence[str | Table] = ()
    name: str = ""
    namespace: str = ""
    exit_code: int = 0
    bare: bool = False
    notices: Sequence[str] = field(default=())

    def body(self) -> dict[str, Any]:
        """The object that programs read."""
        if self.bare:
            return dict(self.data)
        metadata = {key: value for key, value in (("name", self.name), ("namespace", self.namespace)) if value}
        return {"apiVersion": API_VERSION, "kind": self.kind, "metadata": metadata, **self.data}


def check_format(output: str) -> None:
    """Raises UsageError for a format that no command prints."""
    if output and output not in FORMATS:
        raise UsageError(
            f"-o {output} is not a format",
            why=f"Results are printed as {' or '.join(FORMATS)}",
            next="Leave -o away for text",
        )


def emit(session: Session, result: Result) -> None:
    """Prints a result on stdout in the session's format, its notices on stderr."""
    for notice in result.notices:
        session.notice(notice)
    if session.output:
        session.stdout.write(dump(result.body(), session.output))
    else:
        for part in result.parts:
            session.stdout.write(text_of(part, session.width))
    session.stdout.flush()


def emit_error(session: Session, error: XlaunchError) -> None:
    """Prints an error: three sentences on stderr, or an Error object on stdout with `-o json|yaml`."""
    if session.output in FORMATS:
        body = {
            "apiVersion": API_VERSION,
            "kind": "Error",
            "metadata": {},
            "code": error.code,
            "reason": error.reason,
            # Arguments and names of files may hold bytes that are no text
            "message": _readable(sentence(error.message, error.why)),
            "next": _readable(error.next),
            **error.more,
        }
        session.stdout.write(dump(body, session.output))
        session.stdout.flush()
        return
    session.notice(f"Error: {sentence(error.message, error.why)}")
    if error.next:
        session.notice(f"Next: {error.next}")


def _readable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def sentence(*parts: str) -> str:
    """Joins sentences, each ended by a full stop where it has no end of its own."""
    return " ".join(part if part[-1] in ".!?:" else f"{part}." for part in parts if part)


def dump(body: Mapping[str, Any], output: str) -> str:
    """The object as JSON or YAML text with a final newline; in ASCII, and so the same bytes in every locale."""
    if output == "yaml":
        return dump_yaml(dict(body))
    return json.dumps(body, indent=2) + "\n"


def text_of(part: str | Table, width: int | None = None) -> str:
    """A part of a result as lines; a table in `width` cells if its optional columns allow (None: as wide as it is)."""
    if isinstance(part, str):
        return part if part.endswith("\n") else part + "\n"
    if not part.rows:
        return f"{part.empty}\n" if part.empty else ""
    rows = (map(_cell, row) for row in part.rows)
    columns = list(zip(part.columns, *rows, strict=True))
    for name in part.optional:
        if width is None or sum(map(_widest, columns)) + len(GAP) * (len(columns) - 1) <= width:
            break
        columns = [column for column in columns if column[0] != name]
    padded = [[pad(cell, _widest(column)) for cell in column] for column in columns]
    return "".join(GAP.join(line).rstrip() + "\n" for line in zip(*padded, strict=True))


def _widest(column: Sequence[str]) -> int:
    return max(map(cell_width, column))


def cell_width(text: str) -> int:
    """How many terminal cells a text takes; rich is asked only where it can differ from the length."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """The text followed by blanks up to `width` cells."""
    return text + " " * (width - cell_width(text))


def _cell(text: str) -> str:
    """A cell as one line, with the blanks that indent it: an owner may be an annotation, which holds any text."""
    return " " * (len(text) - len(text.lstrip(" "))) + one_line(text)
