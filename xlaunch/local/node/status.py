"""A pod's status as a kubelet would write it, from its containers. Pure.

Source: kubernetes 1.35, pkg/kubelet/kubelet_pods.go (`getPhase`), pkg/kubelet/status/generate.go (conditions) and
status_manager.go (`TerminatePod`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core.timestamps import stamp
from xlaunch.local.kube import Object
from xlaunch.local.node.env import Addresses
from xlaunch.local.node.records import ContainerRecord
from xlaunch.local.objects import with_condition

Records = Sequence[ContainerRecord]
STOPPED = ("Succeeded", "Failed")


def phase(records: Records, restart_policy: str, *, terminal: bool, initialized: bool) -> str:
    """The pod's phase. `terminal`: nothing will be started any more. `initialized`: its main containers were begun."""
    inits = Counter(_init_state(each) for each in records if each.kind == "init")
    if inits["failed"] and restart_policy == "Never":
        return "Failed"
    sidecars = Counter(_state(each) for each in records if each.kind == "sidecar")
    mains = Counter(_state(each) for each in records if each.kind == "main")
    pending = inits["pending"] or (sidecars["waiting"] and not initialized)
    if pending or mains["waiting"]:
        return "Failed" if terminal else "Pending"
    if mains["running"] or sidecars["running"]:
        return "Running"
    succeeded = mains["stopped"] == sum(each.kind == "main" and each.exit_code == 0 for each in records)
    if not terminal and restart_policy == "Always":
        return "Running"
    if succeeded:
        return "Succeeded"
    return "Failed" if terminal or restart_policy == "Never" else "Running"


def _init_state(record: ContainerRecord) -> str:
    ended = record.terminated or (record.last.get("terminated") if not record.is_running else None)
    if ended is None:
        return "pending"
    return "failed" if ended["exitCode"] != 0 else "done"


def _state(record: ContainerRecord) -> str:
    """A waiting container that ran before counts as stopped: it is on its way to a restart."""
    if record.is_running:
        return "running"
    return "stopped" if record.terminated or record.last.get("terminated") else "waiting"


@dataclass(frozen=True)
class Ending:
    """How a pod has ended, as far as its containers don't tell.

    `terminal`: nothing will be started any more. `reason` and `message` say why the node ended it, e.g.
    DeadlineExceeded.
    """

    terminal: bool = False
    reason: str = ""
    message: str = ""


ALIVE = Ending()


def pod_status(
    pod: Mapping[str, Any], records: Records, addresses: Addresses, now: datetime, ending: Ending = ALIVE
) -> Object:
    """The status to write. Conditions that others own (DisruptionTarget ...) are kept by the patch, not said again."""
    before = pod.get("status") or {}
    initialized = any(each.kind == "main" and (each.id or each.terminated) for each in records)
    policy = pod["spec"].get("restartPolicy", "Always")
    current = phase(records, policy, terminal=ending.terminal, initialized=initialized)
    if ending.reason:
        current = "Failed"
    running = any(each.is_running for each in records)
    if current in STOPPED and running:
        current = "Running"  # not before the last container has ended (status_manager.go, mergePodStatus)
    status = {
        "phase": current,
        "conditions": conditions(before.get("conditions") or [], records, current, now, initialized=initialized),
        "hostIP": addresses.host,
        "hostIPs": [{"ip": addresses.host}],
        "podIP": addresses.pod,
        "podIPs": [{"ip": addresses.pod}],
        "startTime": before.get("startTime") or stamp(now),
        "containerStatuses": [each.status() for each in records if each.kind == "main"],
    }
    if inits := [each.status() for each in records if each.kind != "main"]:
        status["initContainerStatuses"] = inits
    if ending.reason:
        status |= {"reason": ending.reason, "message": ending.message}
    return status


def conditions(
    before: Sequence[Object], records: Records, current: str, now: datetime, *, initialized: bool
) -> list[Object]:
    """The five conditions of a kubelet, each with the time of its last change."""
    ready = _ready(records, current)
    ended = current in STOPPED
    new = [
        _condition("PodReadyToStartContainers", not ended),
        _initialized(records, current, initialized=initialized),
        {"type": "Ready", **ready},
        {"type": "ContainersReady", **ready},
        _condition("PodScheduled", True),
    ]
    known = {each["type"]: each for each in before}
    return [_merged(known.get(each["type"]), {"lastTransitionTime": stamp(now), **each}) for each in new]


def _merged(before: Object | None, new: Object) -> Object:
    """The new condition as a patch of the old one: conditions are merged by type, so null removes an old reason."""
    if before is None:
        return new
    outdated: Object = {key: None for key in ("reason", "message") if key in before and key not in new}
    return {**with_condition([before], new)[0], **outdated}


def _condition(kind: str, holds: bool, reason: str = "", message: str = "") -> Object:
    named = {"reason": reason, "message": message}
    return {
        "type": kind,
        "status": "True" if holds else "False",
        **{key: value for key, value in named.items() if value},
    }


def _initialized(records: Records, current: str, *, initialized: bool) -> Object:
    incomplete = [
        each.name
        for each in records
        if (each.kind == "init" and each.exit_code != 0) or (each.kind == "sidecar" and not each.is_running)
    ]
    if current == "Succeeded":
        return _condition("Initialized", True, "PodCompleted")
    if initialized or not incomplete:
        return _condition("Initialized", True)
    names = " ".join(incomplete)
    return _condition("Initialized", False, "ContainersNotInitialized", f"containers with incomplete status: [{names}]")


def _ready(records: Records, current: str) -> Object:
    if current in STOPPED:
        return {"status": "False", "reason": "PodCompleted" if current == "Succeeded" else "PodFailed"}
    unready = [each.name for each in records if each.kind != "init" and not each.is_running]
    if not unready:
        return {"status": "True"}
    message = f"containers with unready status: [{' '.join(unready)}]"
    return {"status": "False", "reason": "ContainersNotReady", "message": message}


def close_records(records: Records) -> None:
    """Gives what nobody knows the end of, in a pod that was ended, a final state that says so.

    Containers that were not due yet go on waiting (status_manager.go, `hasPodInitialized`, `initializedContainers`).
    """
    first = [each for each in records if each.kind != "main"]
    mains = [each for each in records if each.kind == "main"]
    initialized = not first or first[-1].exit_code == 0 or any(each.id for each in mains)
    for each in records:
        if each.terminated:
            continue
        if each.last.get("terminated"):
            each.state, each.last = each.last, {}
        elif each.id or (each.kind == "main" and initialized):
            each.state = {
                "terminated": {
                    "exitCode": 137,
                    "reason": "ContainerStatusUnknown",
                    "message": "The container could not be located when the pod was terminated",
                    "startedAt": None,
                    "finishedAt": None,
                }
            }
