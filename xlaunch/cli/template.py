"""`xlaunch template list` and `xlaunch template export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xlaunch.cli import files, shipped
from xlaunch.cli.command import examples
from xlaunch.cli.output import Result, Table
from xlaunch.cli.target_flags import OutputOption
from xlaunch.core.errors import UsageError


@examples("xlaunch template list\nxlaunch template list -o json")
def list_templates(output: OutputOption = "") -> Result:  # noqa: ARG001
    """Lists the JobSet templates that come with xlaunch.

    A copy of one, edited, is given to create-pathways with --template FILE.
    """
    found = [{"name": name, "summary": shipped.summary(name)} for name in shipped.names()]
    rows = [(item["name"], item["summary"]) for item in found]
    return Result("TemplateList", {"items": found}, [Table(("NAME", "SUMMARY"), rows)])


@examples("xlaunch template export pathways > mine.yaml.j2\nxlaunch template export pathways --file mine.yaml.j2")
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of template list.")] = shipped.PATHWAYS,
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="Write it here instead of to stdout.", show_default=False)
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    output: OutputOption = "",  # noqa: ARG001
) -> Result:
    """Writes a shipped template, to be edited and given to create-pathways with --template FILE."""
    text = shipped.text(name)
    if not file:
        return Result("Template", {"template": text}, [text], name=name)
    if Path(file).exists() and not force:
        raise UsageError(f"{file} exists", why="It may be a template that you have edited", next="Add --force")
    files.write("--file", file, text)
    return Result("Template", {"file": file}, [f"Wrote {file}; use it with --template {file}"], name=name)
