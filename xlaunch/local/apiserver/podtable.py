"""A pod as a row of kubectl's table (kubernetes v1.37, pkg/printers/internalversion/printers.go, printPod)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import is_true
from xlaunch.core.roles import sidecars
from xlaunch.local.apiserver.ages import since
from xlaunch.local.kube import Object

Status = Mapping[str, Any]


def _ended(state: Status) -> str:
    """The word for a terminated state."""
    if state.get("reason"):
        return str(state["reason"])
    return f"Signal:{state['signal']}" if state.get("signal") else f"ExitCode:{state['exitCode']}"


def _initializing(pod: Object, restartable: Collection[str]) -> tuple[str, int]:
    """The word for a pod whose init containers are not through ("" if they are), and the number of ready sidecars."""
    ready = 0
    for index, status in enumerate(pod["status"].get("initContainerStatuses", [])):
        state = status.get("state", {})
        ended, waiting = state.get("terminated"), state.get("waiting", {}).get("reason", "")
        if ended and ended.get("exitCode") == 0:
            continue
        if status["name"] in restartable and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        if ended:
            return f"Init:{_ended(ended)}", ready
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}", ready
        return f"Init:{index}/{len(pod['spec']['initContainers'])}", ready
    return "", ready


def _running(statuses: Iterable[Status], reason: str, *, pod_ready: bool) -> tuple[str, int]:
    """The word for a pod by its containers, and how many of them are ready."""
    ready, failed = 0, ""
    for status in reversed(list(statuses)):
        state = status.get("state", {})
        if waiting := state.get("waiting", {}).get("reason"):
            reason = waiting
        elif ended := state.get("terminated"):
            reason = _ended(ended)
            failed = reason if ended.get("exitCode") else failed
        elif status.get("ready") and "running" in state:
            ready += 1
    if reason == "Completed":
        if ready:
            return ("Running" if pod_ready else failed or "NotReady"), ready
        return failed or reason, ready
    return reason, ready


def status_word(pod: Object) -> tuple[str, int]:
    """What the STATUS column says, and the number of ready containers."""
    status = pod.get("status", {})
    reason = status.get("reason") or status.get("phase", "")
    if any(each.get("reason") == "SchedulingGated" for each in status.get("conditions", [])):
        reason = "SchedulingGated"
    initializing, ready = _initializing(pod, sidecars(pod["spec"])) if status else ("", 0)
    if not initializing or is_true(status, "Initialized"):
        main = status.get("containerStatuses", [])
        reason, running = _running(main, reason, pod_ready=is_true(status, "Ready"))
        ready += running
    else:
        reason = initializing
    if "deletionTimestamp" in pod["metadata"]:
        if status.get("reason") == "NodeLost":
            return "Unknown", ready
        if status.get("phase") not in ("Succeeded", "Failed"):
            return "Terminating", ready
    return reason, ready


def restarts(pod: Object, now: datetime) -> str:
    """What the RESTARTS column says: the count, and when the last one was."""
    status, restartable = pod.get("status", {}), sidecars(pod["spec"])
    init = status.get("initContainerStatuses", [])
    if not _initializing(pod, restartable)[0] or is_true(status, "Initialized"):
        counted = [each for each in init if each["name"] in restartable] + status.get("containerStatuses", [])
    else:
        counted = init
    count = sum(each.get("restartCount", 0) for each in counted)
    ends = [each.get("lastState", {}).get("terminated", {}).get("finishedAt") for each in counted]
    last = max(filter(None, ends), default=None)
    return f"{count} ({since(last, now)} ago)" if count and last else str(count)


def pod_row(pod: Object, now: datetime) -> list[Any]:
    """The cells of one pod."""
    spec, status = pod["spec"], pod.get("status", {})
    word, ready = status_word(pod)
    gates = [each["conditionType"] for each in spec.get("readinessGates", [])]
    open_gates = sum(is_true(status, each) for each in gates)
    return [
        pod["metadata"]["name"],
        f"{ready}/{len(spec['containers']) + len(sidecars(spec))}",
        word,
        restarts(pod, now),
        since(pod["metadata"].get("creationTimestamp"), now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        f"{open_gates}/{len(gates)}" if gates else "<none>",
    ]
