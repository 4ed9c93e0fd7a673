"""Recording events: what `kubectl describe` shows, in the two forms that Kubernetes' recorders write."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xlaunch.core.timestamps import micro_stamp, stamp
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import uid_of
from xlaunch.local.time import ScaledClock

REMEMBERED = 4096
Report = Callable[[str, BaseException], None]
"""Told what was being done and what went wrong; the work goes on or is tried again by itself."""


@dataclass(frozen=True)
class Note:
    """What happened to an object: `type` is Normal or Warning, `reason` a CamelCase word, `message` a sentence."""

    type: str
    reason: str
    message: str


class Recorder:
    """Writes events of one component.

    With `action` they have the form of events.k8s.io/v1 (microseconds, no count; a repetition about the same
    resourceVersion becomes a series), as JobSet 0.12 and the scheduler write them; without it the older one (count,
    first and last time), as the Job and node controllers do (client-go 0.37, tools/events and tools/record).
    """

    def __init__(
        self,
        kube: Kube,
        clock: ScaledClock,
        component: str,
        report: Report,
        *,
        action: str = "",
    ) -> None:
        self._kube = kube
        self._clock = clock
        self._component = component
        self._report = report
        self._action = action
        self._written: dict[str, Object] = {}

    async def record(self, regarding: Object, note: Note) -> None:
        """Writes one event. An event that the API refuses is reported and lost: events are never worth a failure."""
        meta = regarding["metadata"]
        reference = {
            "apiVersion": regarding["apiVersion"],
            "kind": regarding["kind"],
            "name": meta["name"],
            "namespace": meta.get("namespace"),
            "uid": uid_of(regarding),
            "resourceVersion": meta.get("resourceVersion"),
        }
        reference = {name: value for name, value in reference.items() if value}
        try:
            await self._write(reference, note)
        except StatusError as error:
            self._report(f"event {note.reason} of {regarding['kind']} {meta['name']}", error)

    async def _write(self, reference: Object, note: Note) -> None:
        identity = self._identity(reference, note)
        known = self._written.get(identity)
        if known is not None:
            try:
                self._written[identity] = await self._repeat(known)
                return
            except StatusError as error:
                if error.code != 404:
                    raise
        body = self._event(reference, note)
        if len(self._written) >= REMEMBERED:
            self._written.clear()
        self._written[identity] = await self._kube.create("events", body, body["metadata"]["namespace"])

    def _identity(self, reference: Object, note: Note) -> str:
        """What makes two occurrences one event."""
        if self._action:
            return json.dumps([reference, note.type, note.reason])
        return json.dumps([reference["kind"], reference.get("uid"), note.type, note.reason, note.message])

    async def _repeat(self, known: Object) -> Object:
        now = self._clock.now()
        change: dict[str, Any]
        if self._action:
            count = (known.get("series") or {}).get("count", 1) + 1
            change = {"series": {"count": count, "lastObservedTime": micro_stamp(now)}}
        else:
            change = {"count": known["count"] + 1, "lastTimestamp": stamp(now)}
        meta = known["metadata"]
        return await self._kube.patch("events", meta["name"], change, meta["namespace"])

    def _event(self, reference: Object, note: Note) -> Object:
        now = self._clock.now()
        event = {
            "metadata": {
                "name": f"{reference['name']}.{time.time_ns():x}",
                "namespace": reference.get("namespace", "default"),
            },
            "involvedObject": reference,
            "type": note.type,
            "reason": note.reason,
            "message": note.message,
            "reportingComponent": self._component,
        }
        if self._action:
            instance = f"{self._component}-embedded"
            return {
                **event,
                "action": self._action,
                "eventTime": micro_stamp(now),
                "reportingInstance": instance,
                "source": {},
                "firstTimestamp": None,
                "lastTimestamp": None,
            }
        return {
            **event,
            "source": {"component": self._component},
            "reportingInstance": "",
            "eventTime": None,
            "firstTimestamp": stamp(now),
            "lastTimestamp": stamp(now),
            "count": 1,
        }
