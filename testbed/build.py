"""Building upstreams into a cache that is shared by all checkouts of a user.

A build is a directory `$XDG_CACHE_HOME/xlaunch/testbed/<name>-<version>-<digest>` with `bin/` and `files/`. It appears
by one rename, so that it is whole whenever it is there; two builders of the same one wait for each other.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed.upstreams import FLAGS, Upstream
from xlaunch.local import procs

# Seconds that Go gets to end after SIGINT; it removes its files first
GO_PATIENCE = 5.0
# The compiler collects its garbage more seldom while there is memory, which saves a sixth of its time
COLLECTOR = {"GOGC": "400", "GOMEMLIMIT": "2GiB"}


class BuildError(Exception):
    """A build that failed. The message is for people."""


class NoGoError(BuildError):
    """A build that is needed and not there, on a machine that has no Go to make it."""


@dataclass(frozen=True)
class Build:
    """A finished build."""

    directory: Path

    def binary(self, name: str) -> Path:
        """A command by its file name."""
        return self.directory / "bin" / name

    def file(self, name: str) -> Path:
        """A file or directory of the upstream's module, by its path there."""
        return self.directory / "files" / name


def cache_of(env: Mapping[str, str]) -> Path:
    """Where builds are kept, by the rules of the XDG base directories."""
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xlaunch" / "testbed"


def place(upstream: Upstream, cache: Path) -> Path:
    """The directory of an upstream's build, whether it is there or not."""
    return cache / f"{upstream.label}-{upstream.digest()}"


def is_built(upstream: Upstream, env: Mapping[str, str]) -> bool:
    """Whether its build is finished, and costs nothing."""
    return place(upstream, cache_of(env)).is_dir()


def build(upstream: Upstream, env: Mapping[str, str], *, say: Callable[[str], None] = lambda _: None) -> Build:
    """The finished build of an upstream, made now if it is not there; `say` hears of what takes minutes.

    Raises NoGoError where Go is needed and missing, BuildError with the compiler's words where it fails. Whatever ends
    it before it is done, also Ctrl-C, leaves nothing of it.
    """
    final = place(upstream, cache_of(env))
    if final.is_dir():
        return Build(final)
    if shutil.which("go", path=env.get("PATH")) is None:
        raise NoGoError(f"{upstream.label} is not built yet and there is no Go on PATH; install Go 1.26 or newer")
    say(f"Building {upstream.label}, or waiting for somebody else who does, which takes minutes")
    final.parent.mkdir(parents=True, exist_ok=True)
    with locked(final.with_name(final.name + ".lock")):
        if not final.is_dir():
            _make(upstream, final, env)
    return Build(final)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock between processes; the kernel frees it when its holder dies."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _make(upstream: Upstream, final: Path, env: Mapping[str, str]) -> None:
    # The lock is ours: what lies here is left from a builder that died
    part = final.with_name(final.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        _fill(upstream, part, env)
        part.rename(final)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fill(upstream: Upstream, part: Path, env: Mapping[str, str]) -> None:
    (part / "bin").mkdir(parents=True)
    for name, package in upstream.commands.items():
        target = part / "bin" / name
        _go(upstream, env, "build", *FLAGS, f"-ldflags={upstream.ldflags}", "-o", str(target), package)
    if upstream.files:
        source = Path(json.loads(_go(upstream, env, "list", "-m", "-json", upstream.module))["Dir"])
        for name in upstream.files:
            shutil.copytree(source / name, part / "files" / name, copy_function=shutil.copyfile)
        # Go's module cache is read-only; a copy that is too could be removed by nobody but root
        for folder in (part / "files").rglob("*/"):
            folder.chmod(0o755)


def _go(upstream: Upstream, env: Mapping[str, str], *argv: str) -> str:
    settings = {**COLLECTOR, **env, "CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "on"}
    with subprocess.Popen(
        [sys.executable, "-m", "testbed.tether", str(os.getpid()), "go", *argv],
        cwd=upstream.directory,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as go:
        try:
            output, errors = go.communicate()
        except BaseException:
            end(go.pid)
            raise
    if go.returncode != 0:
        tail = "\n".join(errors.splitlines()[-30:])
        raise BuildError(f"go {argv[0]} of {upstream.label} failed:\n{tail}")
    return output


def end(leader: int) -> None:
    """Ends a process group, compilers and all: politely at first, so that Go removes its temporary files."""
    os.killpg(leader, signal.SIGINT)
    procs.wait_ended(leader, procs.start_of(leader), GO_PATIENCE)
    # The leader has not been reaped, so that this group is still its own
    os.killpg(leader, signal.SIGKILL)
