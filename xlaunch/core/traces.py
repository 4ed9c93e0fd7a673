"""What events still say of a lost pod whose object is gone: its name, and who ended it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core.events import latest, message
from xlaunch.core.excerpt import reason_and_message

Object = Mapping[str, Any]

# The Job controller's SuccessfulCreate (Kubernetes 1.35 pkg/controller/controller_utils.go)
CREATED = re.compile(r"Created pod: (\S+)")
# Written about a pod by the scheduler, the taint manager and the kubelet; the Eviction API and PodGC write none
ENDED = ("Preempted", "TaintManagerEviction", "Evicted")
# The taint manager's other word under the same reason (pkg/controller/tainteviction/taint_eviction.go)
CALLED_OFF = "Cancelling deletion"


def last_pod(job_events: Iterable[Object], job: str, host: int) -> str:
    """The name of the pod that a Job made last for a host, "" where its events don't tell: they live for an hour."""
    mine = f"Created pod: {job}-{host}-"
    made = latest(event for event in job_events if message(event).startswith(mine))
    found = CREATED.match(message(made)) if made else None
    return found[1] if found else ""


def who_ended(pod_events: Iterable[Object]) -> str:
    """Who ended a pod, as "Reason: message"; "" where nobody says so."""
    told = latest(event for event in pod_events if event.get("reason") in ENDED)
    if told is None or message(told).startswith(CALLED_OFF):
        return ""
    return reason_and_message({"reason": told["reason"], "message": message(told)})
