"""What the agent knows of a pod's containers; `status.py` makes the pod's status of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from xlaunch.core.timestamps import stamp
from xlaunch.local.kube import Object

Kind = Literal["init", "sidecar", "main"]
# Kubernetes writes the zero time of a container that never started as the epoch
NEVER = "1970-01-01T00:00:00Z"


@dataclass
class ContainerRecord:
    """One container across its restarts. `state` and `last` are ContainerState objects of the API."""

    name: str
    image: str
    kind: Kind
    policy: str
    state: Object
    last: Object = field(default_factory=dict)
    restarts: int = 0
    id: str = ""
    # Seconds of the cluster's monotonic time at which it ended last
    finished: float = 0.0

    @property
    def terminated(self) -> Object | None:
        """The state.terminated object, or None."""
        return self.state.get("terminated")

    @property
    def is_running(self) -> bool:
        """Whether a process runs."""
        return "running" in self.state

    @property
    def exit_code(self) -> int | None:
        """The exit code of a container that has ended and was not started again."""
        return self.terminated["exitCode"] if self.terminated else None

    @property
    def may_restart(self) -> bool:
        """Whether the restart policy wants it started again (kubelet, `ShouldContainerBeRestarted`)."""
        if self.terminated is None or self.policy == "Always":
            return True
        return self.policy == "OnFailure" and self.exit_code != 0

    def wait(self, reason: str, message: str = "") -> None:
        """It waits; how it ended before is kept as the last state."""
        if self.terminated:
            self.last = self.state
        self.state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}

    def begin(self, container_id: str, now: datetime) -> None:
        """A process of its own was started: a restart if there was one before."""
        self._new_instance(container_id)
        self.state = {"running": {"startedAt": stamp(now)}}

    def fail_to_begin(self, container_id: str, message: str, now: datetime, finished: float) -> None:
        """The command could not be executed: containerd's StartError, exit code 128."""
        self._new_instance(container_id)
        self._end(128, "StartError", NEVER, now, finished, message)

    def end(self, exit_code: int, now: datetime, finished: float) -> None:
        """Its process ended: 128 + n for signal n, as a container runtime reports it."""
        started = self.state.get("running", {}).get("startedAt", NEVER)
        self._end(exit_code, "Completed" if exit_code == 0 else "Error", started, now, finished)

    def vanish(self, now: datetime, finished: float) -> None:
        """Its machine went down under it: containerd reports such a container as Unknown with exit code 255."""
        started = self.state.get("running", {}).get("startedAt", NEVER)
        self._end(255, "Unknown", started, now, finished)

    def _new_instance(self, container_id: str) -> None:
        if self.terminated:
            self.last = self.state
        if self.id:
            self.restarts += 1
        self.id = container_id

    def _end(
        self, exit_code: int, reason: str, started: str, now: datetime, finished: float, message: str = ""
    ) -> None:
        self.finished = finished
        ended = {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": stamp(now)}
        self.state = {"terminated": {**ended, **({"message": message} if message else {}), "containerID": self.id}}

    def status(self) -> Object:
        """The ContainerStatus of the API."""
        ready = self.exit_code == 0 if self.kind == "init" else self.is_running
        return {
            "name": self.name,
            "state": self.state,
            "lastState": self.last,
            "ready": ready,
            "restartCount": self.restarts,
            "image": self.image,
            "imageID": "",
            "containerID": self.id,
            "started": self.is_running,
        }


def records(pod: Mapping[str, Any]) -> list[ContainerRecord]:
    """The records of a pod, init containers first, in the order of the manifest.

    What the pod's status says already is kept: so an agent that comes back goes on where the node was lost.
    """
    spec = pod["spec"]
    inits = spec.get("initContainers") or []
    policy = spec.get("restartPolicy", "Always")
    waiting = "PodInitializing" if inits else "ContainerCreating"
    status = pod.get("status") or {}
    known = {
        each["name"]: each
        for field_name in ("initContainerStatuses", "containerStatuses")
        for each in status.get(field_name) or ()
    }
    found = []
    for container in inits:
        sidecar = container.get("restartPolicy") == "Always"
        once = "Never" if policy == "Never" else "OnFailure"
        found.append(
            _record(container, "sidecar" if sidecar else "init", "Always" if sidecar else once, waiting, known)
        )
    mains = (_record(each, "main", each.get("restartPolicy") or policy, waiting, known) for each in spec["containers"])
    return [*found, *mains]


def _record(
    container: Mapping[str, Any], kind: Kind, policy: str, waiting: str, known: Mapping[str, Mapping[str, Any]]
) -> ContainerRecord:
    before = known.get(container["name"], {})
    return ContainerRecord(
        name=container["name"],
        image=container.get("image", ""),
        kind=kind,
        policy=policy,
        state=dict(before.get("state") or {"waiting": {"reason": waiting}}),
        last=dict(before.get("lastState") or {}),
        restarts=before.get("restartCount", 0),
        id=before.get("containerID", ""),
    )
