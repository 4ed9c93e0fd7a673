"""Why there is no log yet: the reason of a waiting pod or workload in one line, in Kubernetes' own words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.conditions import condition
from xlaunch.core.ending import disruption
from xlaunch.core.events import latest, message
from xlaunch.core.excerpt import reason_and_message
from xlaunch.core.queueing import State, words
from xlaunch.core.silence import silence_words
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

_PHASES = {
    Phase.QUEUED: "it waits in queue {queue}",
    Phase.SUSPENDED: "it is suspended",
    Phase.RESTARTING: "JobSet restarts it ({restarts} of {max_restarts})",
    Phase.DELETING: "it is being deleted",
}


def why_waiting(pod: Object | None, workload: Workload | None) -> str:
    """One line that says for whom the reader waits; it changes only when the reason does."""
    if pod is None:
        return _without_pod(workload)
    name = pod["metadata"]["name"]
    return held_up(pod) or f"pod {name} is {podlib.phase(pod)}, its containers are being started"


def held_up(pod: Object) -> str:
    """What keeps a pod from running; "" for one that runs, has succeeded, or is simply being started.

    One whose node does not answer does not count as running, whatever its containers are said to do.
    """
    name = pod["metadata"]["name"]
    if podlib.is_deleting(pod):
        return ": ".join(filter(None, (f"pod {name} is being deleted", disruption(pod))))
    scheduled = condition(pod.get("status") or {}, "PodScheduled")
    if scheduled.get("status") == "False":
        return f"pod {name} is not scheduled: {_words(scheduled)}"
    status = pod.get("status") or {}
    told = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    for each in told:
        waiting = (each.get("state") or {}).get("waiting")
        if waiting and waiting.get("reason") not in (None, "PodInitializing"):
            return f"pod {name}, container {each['name']}: {_words(waiting)}"
    if silence := silence_words([pod]):
        return silence
    failed = status.get("reason") or ("Failed" if podlib.phase(pod) == "Failed" else "")
    if failed:
        return f"pod {name} failed: {_words({'reason': failed, 'message': status.get('message')})}"
    return ""


def first_held_up(pods: Iterable[Object]) -> str:
    """What keeps the first of the pods from running that should and does not, in the order of their places; or "".

    Nodes that do not answer come first, and all in one line: others wait for what they hold.
    """
    alive = sorted(filter(podlib.is_alive, pods), key=podlib.place)
    return silence_words(alive) or next(filter(None, map(held_up, alive)), "")


def newest_warning(events: Iterable[Object]) -> str:
    """The latest Warning of a pod's events as "Reason: message", "" where there is none (core/v1 or events.k8s.io)."""
    warning = latest(event for event in events if event.get("type") == "Warning")
    return _words({"reason": warning.get("reason"), "message": message(warning)}) if warning else ""


def with_warning(reason: str, events: Iterable[Object]) -> str:
    """The reason, and a pod's latest Warning where that says something else."""
    warning = newest_warning(events)
    _, _, told = warning.partition(": ")
    return f"{reason}; {warning}" if warning and (told or warning) not in reason else reason


def _without_pod(workload: Workload | None) -> str:
    if workload is None:
        return "its JobSet is gone"
    queue = workload.queueing
    if queue and (workload.phase is Phase.QUEUED or (workload.suspended and queue.state is State.HELD)):
        return words(queue)
    said = _PHASES.get(workload.phase, "its pod has not been created yet")
    # Restarts of slices take from the same budget
    restarts = workload.restarts_toward_max if workload.job_restarts else workload.restarts
    line = said.format(queue=workload.queue, restarts=restarts, max_restarts=workload.max_restarts)
    return f"{line}: {workload.message}" if workload.message else line


def _words(said: Object) -> str:
    """Reason and message as one line."""
    return reason_and_message(said) or "no reason given"
