"""A directory of ready binaries: what a control plane needs, for machines without Go.

`bin/` has the commands of all upstreams, `files/` the directories that they keep beside them, by their paths in the
upstream's repository. `python -m testbed export DIR` makes one.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from testbed.build import Build
from testbed.upstreams import Upstream


def missing(directory: Path, upstreams: Iterable[Upstream]) -> list[str]:
    """What the directory lacks, by paths in it: a command that cannot be executed is lacking too."""
    build = Build(directory)
    lacking: list[str] = []
    for each in upstreams:
        commands = [build.binary(name) for name in each.commands]
        lacking += [str(path.relative_to(directory)) for path in commands if not is_command(path)]
        kept = [build.file(name) for name in each.files]
        lacking += [f"{path.relative_to(directory)}/" for path in kept if not (path.is_dir() and any(path.iterdir()))]
    return lacking


def is_command(path: Path) -> bool:
    """Whether this user can execute the file."""
    return path.is_file() and os.access(path, os.X_OK)


def version_of(binary: Path, module: str) -> str:
    """The version of a module that a Go program was built from, without "v"; "" where it does not tell.

    Every Go program holds its modules as text (Go 1.26, runtime/debug/mod.go, BuildInfo.String).
    """
    line = re.compile(rb"(?:mod|dep)\t%s\tv([^\t\n]+)" % re.escape(module.encode()))
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = line.search(data)
        return found[1].decode() if found else ""


def export(builds: Iterable[Build], directory: Path) -> None:
    """Copies builds into one directory, which may be there already; what it has is replaced."""
    for build in builds:
        shutil.copytree(build.directory, directory, dirs_exist_ok=True)
