"""What a user asks of a Pathways workload, checked before anything is rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xlaunch.core.budget import MAX_INT32
from xlaunch.core.env import EnvVar
from xlaunch.core.errors import UsageError
from xlaunch.core.images import check_image
from xlaunch.core.names import (
    DNS_LABEL,
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_label_value,
    longest_coordinated_name,
    longest_name,
    proposal,
)
from xlaunch.core.quantity import is_quantity
from xlaunch.core.restart_scope import MAX_SLICES, POD, SLICE
from xlaunch.core.roles import PATHWAYS_CONTAINERS
from xlaunch.core.tpu import TpuType

HEAD_JOB, WORKER_JOB = "pathways-head", "worker"
PATHWAYS_IMAGES = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
DEFAULT_SERVER_IMAGE = f"{PATHWAYS_IMAGES}/server:latest"
DEFAULT_PROXY_IMAGE = f"{PATHWAYS_IMAGES}/proxy_server:latest"
DEFAULT_QUEUE = "multislice-queue"
DEFAULT_HEAD_SELECTOR = {"cloud.google.com/gke-nodepool": "cpu-np"}
SEVEN_DAYS = 7 * 24 * 3600
HELP = "xlaunch workload create-pathways --help"


@dataclass(frozen=True, eq=False, repr=False)
class PathwaysSpec:
    """A Pathways workload. Durations are seconds; memory and CPU are Kubernetes quantities.

    `command` and `args` are the main container's, as Kubernetes means them; empty under `headless`, which has no main
    container. `max_slice_restarts` and `max_restarts` are what was given, None for the default.
    `restart_scope` is "pod" or "slice"; `auto_scope` says that xlaunch has chosen it, not the user. `tmp` is what the
    head's containers share as /tmp: "emptyDir" or "hostPath".
    """

    name: str
    tpu: TpuType
    scratch: str
    namespace: str = "default"
    num_slices: int = 1
    elastic_slices: int = 0
    max_slice_restarts: int | None = None
    max_restarts: int | None = None
    restart_scope: str = POD
    auto_scope: bool = False
    restart_exit_codes: tuple[int, ...] = ()
    headless: bool = False
    container: str = "main"
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    debug_logs: bool = False
    persistence: bool = False
    server_image: str = DEFAULT_SERVER_IMAGE
    proxy_image: str = DEFAULT_PROXY_IMAGE
    worker_image: str = ""
    sidecar_image: str = ""
    server_args: tuple[str, ...] = ()
    proxy_args: tuple[str, ...] = ()
    worker_args: tuple[str, ...] = ()
    main_cpu: str = "24"
    main_memory: str = "100G"
    proxy_memory: str = "100G"
    rm_memory: str = "32G"
    queue: str = DEFAULT_QUEUE
    priority: str = ""
    scheduler: str = ""
    service_account: str = ""
    pull_secret: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    head_selector: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HEAD_SELECTOR))
    worker_selector: Mapping[str, str] = field(default_factory=dict)
    worker_tolerations: tuple[Mapping[str, Any], ...] = ()
    worker_toleration_seconds: int = 30
    grace_seconds: int = 30
    ttl_seconds: int = SEVEN_DAYS
    host_network: bool = True
    tmp: str = "emptyDir"

    def __post_init__(self) -> None:
        check_name(self, coordinator=False)  # whether there is one, the template says
        _check_numbers(self)
        _check_names_of_objects(self)
        for flag, image in self._images():
            check_image(flag, image)
        for flag, amount in self._amounts():
            if not is_quantity(amount):
                raise UsageError(
                    f"{flag} {amount} is not an amount", why="Amounts look like 24, 500m, 100G or 64Gi", next=HELP
                )
        if not self.headless and not self.command:
            raise UsageError(
                "There is no command to run",
                why="A workload that is not --headless has a main container with the training command",
                next="Add --command '…', or the command after --",
            )

    def _images(self) -> list[tuple[str, str]]:
        given = [("--server-image", self.server_image), ("--proxy-server-image", self.proxy_image)]
        given += [("--docker-image", self.image)] if not self.headless else []
        optional = [("--worker-image", self.worker_image), ("--colocated-python-sidecar-image", self.sidecar_image)]
        return given + [(flag, image) for flag, image in optional if image]

    def _amounts(self) -> list[tuple[str, str]]:
        return [
            ("--main-cpu", self.main_cpu),
            ("--main-memory", self.main_memory),
            ("--proxy-memory", self.proxy_memory),
            ("--rm-memory", self.rm_memory),
        ]


def longest_workload_name(num_slices: int, hosts: int, *, coordinator: bool) -> int:
    """How long the name may be: 37 for usual sizes, 39 in a JobSet without a coordinator."""
    limit = min(longest_name(HEAD_JOB, 1, 1), longest_name(WORKER_JOB, num_slices, hosts))
    return min(limit, longest_coordinated_name(HEAD_JOB, short_subdomain=True)) if coordinator else limit


def check_name(spec: PathwaysSpec, *, coordinator: bool) -> None:
    """Raises UsageError, with a name that would do, where the workload's can't be one or is too long."""
    size = max(spec.num_slices, 1), spec.tpu.hosts
    limit = longest_workload_name(*size, coordinator=coordinator)
    if is_dns1035_label(spec.name) and len(spec.name) <= limit:
        return
    if len(spec.name) > limit:
        what = f"The name {spec.name[:80]} has {len(spec.name)} characters and may have {limit}"
        why = "JobSet builds longer names from it, and Kubernetes takes at most 63 characters"
    else:
        what = f"{spec.name!r} can't be the name of a workload"
        why = "It begins with a lower-case letter; lower-case letters, digits and '-' follow; no '-' at the end"
    # One that does with a coordinator, too: whether there is one is known only when the template has been read
    proposed = proposal(spec.name, longest_workload_name(*size, coordinator=True))
    raise UsageError(what, why=why, next=f"Take --workload={proposed}, for example")


def _check_numbers(spec: PathwaysSpec) -> None:
    most_slices = MAX_SLICES if spec.restart_scope == SLICE else MAX_INT32 // spec.tpu.hosts
    ranges: tuple[tuple[str, int | None, int, int], ...] = (
        ("--num-slices", spec.num_slices, 1, most_slices),
        ("--elastic-slices", spec.elastic_slices, 0, spec.num_slices),
        ("--max-slice-restarts", spec.max_slice_restarts, 0, MAX_INT32),
        ("--max-restarts", spec.max_restarts, 0, MAX_INT32),
        ("--worker-toleration-seconds", spec.worker_toleration_seconds, 0, MAX_INT32),
        ("--termination-grace-period-seconds", spec.grace_seconds, 0, MAX_INT32),
        ("--ttl-seconds-after-finished", spec.ttl_seconds, 0, MAX_INT32),
    )
    for flag, value, least, most in ranges:
        if value is not None and not least <= value <= most:
            bound = f"the {most} of --num-slices" if flag == "--elastic-slices" else f"{most}"
            raise UsageError(f"{flag} {value} is out of range", why=f"It goes from {least} to {bound}", next=HELP)


def _check_names_of_objects(spec: PathwaysSpec) -> None:
    if not is_dns1123_label(spec.namespace):
        raise UsageError(
            f"{spec.namespace!r} can't be the name of a namespace", why=DNS_LABEL, next="Correct --namespace"
        )
    if not is_dns1123_label(spec.container) or spec.container in PATHWAYS_CONTAINERS:
        raise UsageError(
            f"--docker-name {spec.container!r} can't be the name of the main container",
            why=f"{DNS_LABEL}; {', '.join(PATHWAYS_CONTAINERS)} are taken",
            next="Leave it away for main",
        )
    objects = (
        ("--queue", spec.queue),
        ("--priority", spec.priority),
        ("--service-account", spec.service_account),
        ("--docker-image-pull-secret", spec.pull_secret),
    )
    for flag, name in objects:
        if name and not is_dns1123_subdomain(name):
            raise UsageError(f"{flag} {name!r} can't be a name", why=f"{DNS_LABEL}, or several with dots", next=HELP)
    if spec.queue and not is_label_value(spec.queue):
        raise UsageError(f"--queue {spec.queue!r} can't be a label", why="It has more than 63 characters", next=HELP)
    if spec.scheduler and not re.fullmatch(r"[a-z0-9]([-a-z0-9./]*[a-z0-9])?", spec.scheduler):
        raise UsageError(f"--scheduler {spec.scheduler!r} can't be a name", why=f"{DNS_LABEL}, with dots", next=HELP)
