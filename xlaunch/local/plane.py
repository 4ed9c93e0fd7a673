"""Which control plane a cluster of this machine has: the embedded one, or a real one whose parts are processes here."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import Any

EMBEDDED, REAL = "embedded", "real"
# The module that the guardian starts. `testbed` stands above this layer: here it is a name, and never imported
SERVERS = {EMBEDDED: "xlaunch.local.server", REAL: "testbed.serve"}


@dataclass(frozen=True)
class Plane:
    """A control plane as it was asked for, or as it runs.

    `kubernetes` and `jobset` are versions without "v"; "" is whatever is usual, or not known. `binaries` is the
    directory of ready binaries, "" for those that were built here. The three say nothing of the embedded one.
    """

    kind: str = EMBEDDED
    kubernetes: str = ""
    jobset: str = ""
    binaries: str = ""

    def __str__(self) -> str:
        """In words: `embedded`, or what runs with its version."""
        if self.kind == EMBEDDED:
            return EMBEDDED
        return f"Kubernetes {self.kubernetes}".rstrip() + f", JobSet {self.jobset}".rstrip()

    @property
    def server(self) -> str:
        """The module that serves it."""
        return SERVERS[self.kind]

    @property
    def versions(self) -> dict[str, Any]:
        """The versions that are named, by what they are of."""
        return {name: value for name in ("kubernetes", "jobset") if (value := getattr(self, name))}

    def fits(self, wanted: Plane) -> bool:
        """Whether this one, which runs, is what was asked for; what was left open fits anyway."""
        return all(value in ("", getattr(self, name)) for name, value in asdict(wanted).items())

    def flags(self) -> str:
        """The words of `xlaunch local up` that ask for it, with a blank before each."""
        if self.kind == EMBEDDED:
            return ""
        # Ready binaries have the versions that they have, and nothing else can be asked of them
        asked = ("binaries",) if self.binaries else ("kubernetes", "jobset")
        pairs = [(name, getattr(self, name)) for name in asked]
        words = ["--control-plane=real", *(f"--{name}={shlex.quote(value)}" for name, value in pairs if value)]
        return "".join(f" {word}" for word in words)


EMBEDDED_PLANE = Plane()
