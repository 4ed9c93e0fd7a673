"""xpk's flags that xlaunch does not have: each is answered with what to do instead, or with why nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xlaunch.core.errors import UsageError


@dataclass(frozen=True)
class ForeignFlag:
    """A flag of xpk. With `next` it is refused (UsageError); without, it is accepted and `why` is said on stderr."""

    names: tuple[str, ...]
    why: str
    next: str = ""
    takes_value: bool = True

    @property
    def type(self) -> Any:
        """What typer reads: None tells that the flag was not given."""
        return str | None if self.takes_value else bool | None

    def answer(self, notice: Callable[[str], None]) -> None:
        """Refuses the flag, or says why it has nothing to do."""
        flag = self.names[0].partition("/")[0]
        if not self.next:
            notice(f"Note: {flag} has no effect: {self.why}.")
            return
        raise UsageError(f"{flag} is a flag of xpk that xlaunch does not have", why=self.why, next=self.next)


_BUILD = "build and push it first (docker build, or gcloud builds submit --tag), then give --docker-image"
_TEMPLATE = "Add the volume and its mount to a copy of the template: xlaunch template export"
_TENSORBOARD = "xpk creates the Vertex AI experiment itself, and its Pathways workloads never learn the name"

# From the parsers of xpk 1.16 (parser/workload.py, parser/common.py) and of its earlier releases
PATHWAYS_FLAGS = (
    ForeignFlag(("--base-docker-image", "--script-dir"), "xlaunch builds no image", f"For the image: {_BUILD}"),
    ForeignFlag(
        ("--storage",),
        "It names objects that xpk keeps inside a cluster, and xpk itself drops it for Pathways workloads",
        _TEMPLATE,
    ),
    ForeignFlag(
        ("--use-vertex-tensorboard",),
        _TENSORBOARD,
        "Leave it away; run TensorBoard on the output directory",
        takes_value=False,
    ),
    ForeignFlag(("--experiment-name",), _TENSORBOARD, "Leave it away; run TensorBoard on the output directory"),
    ForeignFlag(
        ("--use-pathways",), "create-pathways makes Pathways workloads only", "Leave it away", takes_value=False
    ),
    ForeignFlag(("--device-type",), "It also meant GPUs and CPUs, which Pathways has not", "Use --tpu-type"),
    ForeignFlag(("--num-nodes",), "The TPU type says how many hosts a slice has", "Use --num-slices and --tpu-type"),
    ForeignFlag(("--remote-python-sidecar-image",), "xpk has renamed it", "Use --colocated-python-sidecar-image IMAGE"),
    ForeignFlag(
        ("--restart-on-user-code-failure",),
        "xpk has dropped it",
        "Use --max-restarts; every failure of the head restarts the workload that often",
        takes_value=False,
    ),
    ForeignFlag(
        ("--ramdisk-directory",),
        "It mounts a RAM disk for multi-tier checkpointing into plain workloads only",
        _TEMPLATE,
    ),
    ForeignFlag(
        ("--mtc-enabled",),
        "Multi-tier checkpointing belongs to plain workloads",
        "Leave it away",
        takes_value=False,
    ),
    ForeignFlag(
        ("--debug-dump-gcs",),
        "It uploads XLA dumps from the workers of plain workloads; under Pathways the proxy compiles",
        "Give --custom-pathways-proxy-server-args='--xla_dump_to=gs://BUCKET/PATH'",
    ),
    ForeignFlag(
        ("--deploy-stacktrace-sidecar",),
        "Its sidecar belongs to plain workloads",
        "Leave it away; xlaunch logs shows tracebacks of the head",
        takes_value=False,
    ),
    ForeignFlag(
        ("--use-parallel-containers/--no-use-parallel-containers",),
        "Pathways workers have one container per host",
        takes_value=False,
    ),
    ForeignFlag(("--project-number",), "xlaunch looks up no project number"),
    ForeignFlag(
        ("--skip-validation/--no-skip-validation",), "it skipped xpk's search for installed tools", takes_value=False
    ),
    ForeignFlag(
        ("--sandbox-kubeconfig/--no-sandbox-kubeconfig",), "your kubeconfig is only ever read", takes_value=False
    ),
    ForeignFlag(
        ("--dependency-auto-download/--no-dependency-auto-download",), "nothing is downloaded", takes_value=False
    ),
)
