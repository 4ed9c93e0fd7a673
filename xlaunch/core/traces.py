"""What events still say of a lost pod whose object is gone: its name, and who ended it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from xlaunch.core.events import latest, message, when
from xlaunch.core.excerpt import reason_and_message
from xlaunch.core.timestamps import parse

Object = Mapping[str, Any]

# The Job controller's SuccessfulCreate (Kubernetes 1.35 pkg/controller/controller_utils.go)
CREATED = re.compile(r"Created pod: (\S+)")
# From the tenth on within ten minutes, events of one object and reason are one, which has the words of the latest
# (client-go v0.35 tools/record/events_cache.go EventAggregate)
COMBINED = "(combined from similar events): "
# Pods that are made together are told of within that time
TOGETHER = timedelta(seconds=5)
# Written about a pod by the scheduler, the taint manager and the kubelet; the Eviction API and PodGC write none
ENDED = ("Preempted", "TaintManagerEviction", "Evicted")
# The taint manager's other word under the same reason (pkg/controller/tainteviction/taint_eviction.go)
CALLED_OFF = "Cancelling deletion"


def last_pod(job_events: Iterable[Object], job: str, host: int) -> str:
    """The name of the pod that a Job made last for a host, "" where its events don't tell.

    They live for an hour, and one that combines others tells of the latest alone: it may hide another pod of that host.
    """
    events, mine = list(job_events), f"Created pod: {job}-{host}-"
    made = latest(event for event in events if _said(event).startswith(mine))
    found = CREATED.match(_said(made)) if made else None
    if made is None or found is None:
        return ""
    hides = any(_is_later(event, made) for event in events if message(event).startswith(COMBINED))
    return "" if hides else found[1]


def who_ended(pod_events: Iterable[Object]) -> str:
    """Who ended a pod, as "Reason: message"; "" where nobody says so."""
    told = latest(event for event in pod_events if event.get("reason") in ENDED)
    if told is None or message(told).startswith(CALLED_OFF):
        return ""
    return reason_and_message({"reason": told["reason"], "message": message(told)})


def _said(event: Object) -> str:
    return message(event).removeprefix(COMBINED)


def _is_later(event: Object, other: Object) -> bool:
    """Whether it happened after another, and not together with it."""
    moment, before = parse(when(event)), parse(when(other))
    return moment is not None and before is not None and moment - before > TOGETHER
