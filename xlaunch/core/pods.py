"""What a pod object says: its place in the JobSet, whether it is ready or lost, and how its containers fare."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from xlaunch.core.conditions import condition
from xlaunch.core.roles import sidecars

Object = Mapping[str, Any]

JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"
REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX = "jobset.sigs.k8s.io/job-index"
RESTART_ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
JOB_RESTART_ATTEMPT = "jobset.sigs.k8s.io/job-restart-attempt"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


@dataclass(frozen=True)
class Exit:
    """How a container ended. `signal` is the name of the signal that killed it ("SIGKILL"), "" for a plain exit."""

    code: int
    signal: str
    reason: str  # the kubelet's word: Completed, Error, OOMKilled ...
    finished: str  # RFC 3339
    message: str = ""  # of the kubelet, or what the container left as its termination message

    def __str__(self) -> str:
        """The exit in a few words: "OOMKilled, exit 137 (SIGKILL)"."""
        reason = f"{self.reason}, " if self.reason not in ("", "Error", "Completed") else ""
        return f"{reason}exit {self.code}" + (f" ({self.signal})" if self.signal else "")


@dataclass(frozen=True)
class Container:
    """A container's status. `restarts` counts since its pod was created; a new pod begins at 0."""

    name: str
    sidecar: bool
    state: Literal["running", "waiting", "terminated"]
    reason: str
    message: str
    ready: bool
    restarts: int
    started: str  # RFC 3339, "" where it does not run
    exit: Exit | None  # of this instance, where it has terminated
    last_exit: Exit | None  # of the instance before this one

    @property
    def begun(self) -> bool:
        """Whether there is, or was, a process: only then is there a log."""
        return self.state != "waiting" or self.last_exit is not None

    @property
    def running(self) -> bool:
        """Whether its process runs now."""
        return self.state == "running"


def containers(pod: Object) -> tuple[Container, ...]:
    """The main containers and native sidecars of a pod with what is known of them; plain init containers are left out.

    A container of which the kubelet has not said anything yet is waiting without a reason.
    """
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    told = {each["name"]: each for each in status.get("initContainerStatuses") or ()}
    told |= {each["name"]: each for each in status.get("containerStatuses") or ()}
    beside = sidecars(spec)
    mains = [each["name"] for each in spec.get("containers") or ()]
    return tuple(_container(name, name in beside, told.get(name) or {}) for name in [*mains, *beside])


def container(pod: Object, name: str) -> Container | None:
    """The container of that name, also a plain init container; None where the pod has none such."""
    for each in containers(pod):
        if each.name == name:
            return each
    inits = (pod.get("spec") or {}).get("initContainers") or ()
    if name not in (each["name"] for each in inits):
        return None
    told = ((pod.get("status") or {}).get("initContainerStatuses")) or ()
    return _container(name, False, next((each for each in told if each["name"] == name), {}))


def in_place_restarts(pod: Object) -> int:
    """Restarts of all its containers, init containers and sidecars included, as the Job controller sums them.

    Kubernetes pkg/controller/job/job_controller.go pastBackoffLimitOnFailure.
    """
    status = pod.get("status") or {}
    told = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return sum(each.get("restartCount", 0) for each in told)


def essence(pod: Object) -> Object:
    """The pod without what nothing here reads: managed fields, volumes, the containers' settings."""
    spec = pod.get("spec") or {}
    kept: dict[str, Any] = {"nodeName": spec.get("nodeName", ""), "tolerations": spec.get("tolerations") or ()}
    for place in ("containers", "initContainers"):
        settings = ("name", "restartPolicy")
        kept[place] = [{key: each[key] for key in settings if key in each} for each in spec.get(place) or ()]
    metadata = {key: value for key, value in pod["metadata"].items() if key not in ("managedFields", "ownerReferences")}
    return {"metadata": metadata, "spec": kept, "status": pod.get("status") or {}}


def uid(pod: Object) -> str:
    """The pod's UID."""
    return str(pod["metadata"].get("uid", ""))


def phase(pod: Object) -> str:
    """Pending, Running, Succeeded or Failed."""
    return str((pod.get("status") or {}).get("phase", "Pending"))


def is_deleting(pod: Object) -> bool:
    """Whether it has been told to go. A pod on a dead node stays so, in phase Running, until its node object goes."""
    return "deletionTimestamp" in pod["metadata"]


def is_ready(pod: Object) -> bool:
    """Whether it counts for its slice: ready, and not on its way out."""
    return condition(pod.get("status") or {}, "Ready").get("status") == "True" and not is_deleting(pod)


def is_lost(pod: Object) -> bool:
    """Whether the Job controller counts it as failed: Failed, or deleted before it succeeded (isPodFailed)."""
    return phase(pod) == "Failed" or (is_deleting(pod) and phase(pod) != "Succeeded")


def is_alive(pod: Object) -> bool:
    """Whether it fills the place of its index: neither lost nor succeeded."""
    return not is_lost(pod) and phase(pod) != "Succeeded"


def label(pod: Object, key: str) -> str:
    """A label or, where that is missing, the annotation of the same key."""
    metadata = pod["metadata"]
    return str((metadata.get("labels") or {}).get(key) or (metadata.get("annotations") or {}).get(key, ""))


def completion_index(pod: Object) -> int:
    """Which host of its slice it is; -1 where it is not of an Indexed Job."""
    index = label(pod, COMPLETION_INDEX)
    return int(index) if index.isdecimal() else -1


def by_host(pods: Iterable[Object], others: int = 0) -> dict[int, Object]:
    """The pods by the host that each is; those of a Job that is not Indexed are counted, from `others` on."""
    found: dict[int, Object] = {}
    for pod in pods:
        index = completion_index(pod)
        found[index if index >= 0 else others + len(found)] = pod
    return found


def attempt(pod: Object) -> int:
    """How many restarts of its JobSet, or of its Job alone (RestartJob), came before it."""
    counts = (label(pod, key) for key in (RESTART_ATTEMPT, JOB_RESTART_ATTEMPT))
    return sum(int(count) for count in counts if count.isdecimal())


def place(pod: Object) -> tuple[str, int, int]:
    """Its replicated job, job index and completion index: what its replacement has in common with it."""
    index = label(pod, JOB_INDEX)
    return label(pod, REPLICATED_JOB), int(index) if index.isdecimal() else -1, completion_index(pod)


def belongs(pod: Object, jobset_uid: str) -> bool:
    """Whether it is of that very JobSet, not of an earlier one of the same name (label since JobSet 0.9)."""
    return label(pod, JOBSET_UID) in ("", jobset_uid)


def newest(pods: Iterable[Object]) -> Object | None:
    """The pod to look at where a role has several: the newest that stays, else the newest of all."""
    ordered = sorted(
        pods, key=lambda pod: (not is_deleting(pod), pod["metadata"].get("creationTimestamp", ""), uid(pod))
    )
    return ordered[-1] if ordered else None


def _container(name: str, sidecar: bool, told: Object) -> Container:
    state, last = told.get("state") or {}, told.get("lastState") or {}
    running, ended = state.get("running"), state.get("terminated")
    word: Literal["running", "waiting", "terminated"]
    word = "running" if running is not None else "terminated" if ended else "waiting"
    said = ended or state.get("waiting") or {}
    return Container(
        name=name,
        sidecar=sidecar,
        state=word,
        reason=said.get("reason", ""),
        message=said.get("message", ""),
        ready=bool(told.get("ready")),
        restarts=told.get("restartCount", 0),
        started=(running or ended or {}).get("startedAt") or "",
        exit=_exit(ended) if ended else None,
        last_exit=_exit(last["terminated"]) if last.get("terminated") else None,
    )


def _exit(terminated: Object) -> Exit:
    code = terminated.get("exitCode", 0)
    number = terminated.get("signal") or (code - 128 if 128 < code <= 128 + 64 else 0)
    try:
        name = signal.Signals(number).name if number else ""
    except ValueError:
        name = f"signal {number}"
    return Exit(
        code, name, terminated.get("reason", ""), terminated.get("finishedAt") or "", terminated.get("message") or ""
    )
