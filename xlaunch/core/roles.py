"""The replicated jobs of a JobSet: which is the head, which are the slices, and which container is the main one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlaunch.core.names import job_name
from xlaunch.core.quantity import amount

Object = Mapping[str, Any]

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
TPU = "google.com/tpu"

# xlaunch, xpk, PathwaysJob and the Cluster Toolkit name the head so; other heads are found by the success policy
HEAD_NAMES = ("pathways-head",)
WORKER_NAMES = ("worker", "pathways-worker")
# Containers that belong to Pathways itself, under the names of xpk 1.16, PathwaysJob and pathwaysutils
PATHWAYS_CONTAINERS = ("pathways-rm", "pathways-proxy", "pathways-worker", "colocated-python-sidecar")
MAIN_NAMES = ("main", "jax-tpu", "workload-container")
# batch/v1 Job's default where a template says nothing
DEFAULT_BACKOFF_LIMIT = 6


@dataclass(frozen=True)
class Role:
    """One replicated job. `replicas` Jobs of `hosts` pods each; a worker's Job is one slice."""

    name: str
    replicas: int
    hosts: int
    backoff_limit: int
    restart_policy: str
    containers: tuple[str, ...]
    sidecars: tuple[str, ...]
    main_container: str  # "" where it can't be told
    chips_per_host: int

    def job(self, workload: str, index: int = 0) -> str:
        """The name of its Job."""
        return job_name(workload, self.name, index)


def role_of(replicated: Object) -> Role:
    """Reads one entry of a JobSet's replicatedJobs."""
    job = (replicated.get("template") or {}).get("spec") or {}
    template = job.get("template") or {}
    pod = template.get("spec") or {}
    containers = pod.get("containers") or ()
    return Role(
        name=replicated["name"],
        replicas=replicated.get("replicas", 1),
        hosts=job.get("completions") or job.get("parallelism") or 1,
        backoff_limit=job.get("backoffLimit", DEFAULT_BACKOFF_LIMIT),
        restart_policy=pod.get("restartPolicy", "OnFailure"),  # what JobSet's webhook sets
        containers=tuple(container["name"] for container in containers),
        sidecars=sidecars(pod),
        main_container=main_container(template),
        chips_per_host=sum(_chips(container) for container in containers),
    )


def _chips(container: Object) -> int:
    resources = container.get("resources") or {}
    asked = (resources.get("limits") or {}).get(TPU) or (resources.get("requests") or {}).get(TPU) or 0
    # The CRD takes any quantity, and a JobSet of strange amounts must not hide all others of its namespace
    return int(amount(str(asked)) or 0)


def head_of(spec: Object, roles: Sequence[Role]) -> Role | None:
    """By name, else the one job that decides the success of the rest, else the coordinator that is not a slice.

    A JobSet of like Jobs (plain multislice) has none.
    """
    single = {role.name: role for role in roles if role.replicas == 1}
    if len(roles) < 2:
        return next((single[name] for name in HEAD_NAMES if name in single), None)
    targets = (spec.get("successPolicy") or {}).get("targetReplicatedJobs") or ()
    coordinator = (spec.get("coordinator") or {}).get("replicatedJob")
    candidates = [*HEAD_NAMES, *(targets if len(targets) == 1 else ()), coordinator]
    found = (single[name] for name in candidates if name in single)
    return next((role for role in found if role.chips_per_host == 0), None)


def workers_of(roles: Sequence[Role], head: Role | None) -> tuple[Role, ...]:
    """The slices: those with TPUs, else those with a worker's name, else all that is not the head."""
    others = tuple(role for role in roles if role is not head)
    with_chips = tuple(role for role in others if role.chips_per_host)
    named = tuple(role for role in others if role.name in WORKER_NAMES)
    return with_chips or named or others


def main_container(template: Object) -> str:
    """The main container of a pod template (or pod): its default-container, else the only one that is no sidecar.

    Where Pathways' own containers run as plain ones beside it, those are left out first. "" where it can't be told.
    """
    spec = template.get("spec") or {}
    names = [container["name"] for container in spec.get("containers") or ()]
    annotated = ((template.get("metadata") or {}).get("annotations") or {}).get(DEFAULT_CONTAINER)
    if annotated in names:
        return str(annotated)
    if len(names) == 1:
        return str(names[0])
    users = [name for name in names if name not in PATHWAYS_CONTAINERS]
    if len(users) == 1:
        return str(users[0])
    return next((name for name in MAIN_NAMES if name in users), "")


def sidecars(spec: Object) -> tuple[str, ...]:
    """The native sidecars of a pod spec: init containers that restart always."""
    inits = spec.get("initContainers") or ()
    return tuple(container["name"] for container in inits if container.get("restartPolicy") == "Always")
