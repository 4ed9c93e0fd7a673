"""What this machine knows of its local clusters: one directory each under `$XDG_STATE_HOME/xlaunch/clusters`.

Cheap to import: the commands that only look a cluster up must not pay for a server.

A directory holds `cluster.json` (the record below), `kubeconfig`, `server.log`, `processes` (pid and start time of each
container), `pods/`, `hosts/`, `buckets/` and, with a real control plane, `control-plane/`. All of it is 0700, and goes
with the cluster.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from xlaunch.core.errors import NotFoundError, RefusedError, UsageError, XlaunchError
from xlaunch.local import procs
from xlaunch.local.plane import EMBEDDED, EMBEDDED_PLANE, Plane

# 2: there is a control plane, `plane`, and `feature_gates`; a record without them has the embedded one and none
FORMAT = 2
DEFAULT_NAME = "local"
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
# Every process of a cluster inherits it, so that what is left of a dead cluster can be found
MARKER = "XLAUNCH_CLUSTER_ID"


@dataclass(frozen=True)
class LocalCluster:
    """One local cluster as its record says.

    `feature_gates` are those of JobSet that are on. `server` is the API server's URL (the embedded one's with its
    secret path), "" while it starts. `pid`, `start` name the guardian, `server_pid`, `server_start` the server.
    """

    name: str
    directory: str
    id: str
    tpu_type: str
    slices: int
    heads: int
    time_scale: float
    machine_type: str = ""
    feature_gates: tuple[str, ...] = ()
    created: str = ""
    pid: int = 0
    start: int = 0
    server: str = ""
    server_pid: int = 0
    server_start: int = 0
    plane: Plane = EMBEDDED_PLANE
    format: int = FORMAT

    @property
    def title(self) -> str:
        """What sentences call it."""
        return f"{'embedded' if self.plane.kind == EMBEDDED else 'local'} cluster {self.name}"

    @property
    def path(self) -> Path:
        """The cluster's directory."""
        return Path(self.directory)

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig that leads to it; its only context is named `xlaunch-NAME`."""
        return self.path / "kubeconfig"

    @property
    def context(self) -> str:
        """The name of the kubeconfig's context, cluster and user."""
        return f"xlaunch-{self.name}"

    @property
    def log(self) -> Path:
        """What guardian and server had to say."""
        return self.path / "server.log"

    @property
    def running(self) -> bool:
        """Whether its guardian lives; a guardian never outlives its server by more than the clean-up."""
        return procs.is_running(self.pid, self.start)

    @property
    def marker(self) -> str:
        """The environment entry that all its processes were started with."""
        return f"{MARKER}={self.id}"


def require_linux(platform: str = sys.platform) -> None:
    """Raises RefusedError where the embedded cluster cannot run: not on Linux, or without pidfd_open(2)."""
    with contextlib.suppress(OSError):
        if platform == "linux":
            os.close(os.pidfd_open(os.getpid()))
            return
    raise RefusedError(
        "The embedded cluster runs on Linux 5.3 or newer only",
        why="It relies on Linux to end every process with the cluster",
        next="Use --context or --cluster with a cluster elsewhere",
        reason="LinuxOnly",
    )


def check_name(name: str) -> str:
    """The name, or UsageError if it cannot be a directory and part of a context's name."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a local cluster",
            why="A name has up to 32 lower-case letters, digits and dashes, no dash at either end",
            next="xlaunch local up --name NAME",
        )
    return name


def root(env: Mapping[str, str]) -> Path:
    """Where the clusters' directories lie: the XDG base directory specification's state home."""
    home = Path(env.get("XDG_STATE_HOME") or "")
    if not home.is_absolute():  # which the specification says to ignore
        home = Path(env.get("HOME") or Path.home()) / ".local" / "state"
    return home / "xlaunch" / "clusters"


def directories(env: Mapping[str, str]) -> list[Path]:
    """All directories of clusters, also of those that are being taken down (their names begin with a dot)."""
    try:
        return sorted(path for path in root(env).iterdir() if path.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def read(directory: Path) -> LocalCluster | None:
    """The record in a directory; None where there is none (yet). Raises RefusedError for a newer format."""
    try:
        body = json.loads((directory / "cluster.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
        return None
    if body.get("format", 0) > FORMAT:
        raise RefusedError(
            f"The local cluster in {directory} was started by a newer xlaunch",
            why=f"Its state has format {body['format']}, this xlaunch knows {FORMAT}",
            next="Take it down with the xlaunch that started it",
            reason="NewerFormat",
        )
    return LocalCluster(
        **{
            **body,
            "directory": str(directory),
            "feature_gates": tuple(body.get("feature_gates", ())),
            "plane": Plane(**body.get("plane", {})),
        }
    )


def write(cluster: LocalCluster) -> None:
    """Replaces the record at once: a reader sees the old one or the new one."""
    replace_file(cluster.path / "cluster.json", json.dumps(asdict(cluster), indent=1) + "\n")


def replace_file(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, in one step."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def records(env: Mapping[str, str]) -> list[LocalCluster]:
    """The clusters that run, by name."""
    found = (read(path) for path in directories(env) if not path.name.startswith("."))
    return [cluster for cluster in found if cluster and cluster.running]


@contextlib.contextmanager
def lock(env: Mapping[str, str]) -> Iterator[int]:
    """Holds the one lock of this user's clusters while they are started, stopped or swept; yields its descriptor.

    A server that starts inherits the descriptor and closes it once it listens: when the caller dies in between, nobody
    else finds a directory that looks abandoned, or a cluster that does not answer yet.
    """
    try:
        root(env).mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(root(env) / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise XlaunchError(
            f"The state of local clusters cannot be kept in {root(env)}: {error.strerror}",
            next="export XDG_STATE_HOME=DIR, a directory that you may write to",
            reason="StateNotWritable",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def retire(directory: Path) -> Path:
    """Frees the cluster's name before the clean-up begins: the directory goes on under a name of its own."""
    hidden = directory.with_name(f".{directory.name}.{os.getpid()}")
    try:
        return directory.rename(hidden)
    except FileNotFoundError:
        return hidden


def remove(directory: Path) -> None:
    """Removes a directory and all in it; what is gone already is no error."""
    shutil.rmtree(directory, ignore_errors=True)


def updated(cluster: LocalCluster, **changes: Any) -> LocalCluster:
    """Writes the record with these fields changed, and returns it."""
    new = replace(cluster, **changes)
    write(new)
    return new


def not_running(name: str) -> NotFoundError:
    """The error of every command that needs a cluster which does not run (exit 3)."""
    option = "" if name == DEFAULT_NAME else f" --name {name}"
    return NotFoundError(
        f"No local cluster named {name} runs on this machine",
        next=f"xlaunch local up{option}",
        reason="ClusterNotFound",
    )
