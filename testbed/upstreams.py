"""What can be built: every upstream and version that has a Go module of its own under `modules/`.

One module each, because their dependencies clash. go.mod and go.sum pin all that goes into a binary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MODULES = Path(__file__).parent / "modules"

# No symbol tables and no paths of the machine that builds: 490 MB instead of 700, and the same bytes everywhere
FLAGS = ("-trimpath", "-mod=readonly")
STRIP = "-s -w"
KUBERNETES_COMMANDS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")

# Where kubebuilder projects keep what their controllers need of a cluster
CONTROLLER_FILES = ("config/components/crd/bases", "config/components/webhook")


@dataclass(frozen=True)
class Upstream:
    """One version of one upstream.

    `commands` are the binaries to build and the packages they are built from. `variables` are set by the linker (`-X`).
    `files` are directories of `module` that a control plane needs beside the binaries (CRDs, webhooks), so that a
    finished build works without Go.
    """

    name: str
    version: str
    module: str
    commands: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """`jobset-0.12.0`: also the name of its directory under `modules/`."""
        return f"{self.name}-{self.version}"

    @property
    def directory(self) -> Path:
        """Where its go.mod and go.sum are."""
        return MODULES / self.label

    @property
    def ldflags(self) -> str:
        """What `go build -ldflags` gets."""
        return " ".join([STRIP, *(f"-X {name}={value}" for name, value in sorted(self.variables.items()))])

    def digest(self) -> str:
        """12 hex digits that change with the module files, the flags, the commands, and which files are kept."""
        parts = [*FLAGS, self.ldflags, *self.commands, *self.commands.values(), *self.files]
        texts = [(self.directory / name).read_bytes() for name in ("go.mod", "go.sum")]
        return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), *texts])).hexdigest()[:12]


def kubernetes(version: str) -> Upstream:
    """API server, controller manager and scheduler. Kueue refuses an API server that knows no version of itself."""
    major, minor, _ = version.split(".")
    base = "k8s.io/component-base/version"
    stamp = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return Upstream(
        "kubernetes",
        version,
        "k8s.io/kubernetes",
        {name: f"k8s.io/kubernetes/cmd/{name}" for name in KUBERNETES_COMMANDS},
        {f"{base}.{name}": value for name, value in stamp.items()},
    )


def jobset(version: str) -> Upstream:
    """The JobSet controller with its webhooks."""
    return Upstream(
        "jobset",
        version,
        "sigs.k8s.io/jobset",
        {"jobset": "sigs.k8s.io/jobset"},
        files=CONTROLLER_FILES,
    )


def kueue(version: str) -> Upstream:
    """Kueue. Its visibility server wants certificates in /visibility, a variable: here below its directory."""
    return Upstream(
        "kueue",
        version,
        "sigs.k8s.io/kueue",
        {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
        {"sigs.k8s.io/kueue/pkg/visibility.certDir": "visibility"},
        CONTROLLER_FILES,
    )


UPSTREAMS = (
    Upstream("etcd", "3.6.16", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"}),
    kubernetes("1.35.4"),
    kubernetes("1.37.2"),
    jobset("0.12.0"),
    jobset("0.11.1"),
    jobset("0.10.1"),
    kueue("0.17.0"),
    Upstream(
        "kwok",
        "0.8.0",
        "sigs.k8s.io/kwok",
        {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        files=("kustomize/stage/node/fast", "kustomize/stage/pod/fast"),
    ),
)


def versions(name: str, among: Sequence[Upstream] = UPSTREAMS) -> tuple[str, ...]:
    """The versions of an upstream, the one we use by default first."""
    return tuple(each.version for each in among if each.name == name)


def find(name: str, version: str = "", among: Sequence[Upstream] = UPSTREAMS) -> Upstream:
    """That version of an upstream, or the default one. LookupError names those that there are."""
    for each in among:
        if each.name == name and version in ("", each.version):
            return each
    known = ", ".join(each.label for each in among)
    raise LookupError(f"The test bed has no {name}-{version}; it has {known}")
