"""Which workers are lost and when they are back, from a watch of the pods in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.cluster.api import Api, namespaced
from xlaunch.cluster.observe import selector
from xlaunch.cluster.watch import Change, watch
from xlaunch.core import pods as podlib
from xlaunch.core.clock import Clock
from xlaunch.core.errors import XlaunchError
from xlaunch.core.workload import Workload

Object = Mapping[str, Any]
Place = tuple[str, str, int]  # replicated job, job index, completion index


@dataclass(frozen=True)
class Loss:
    """A worker pod that went: when that was seen, when its replacement was there, and when that was ready."""

    pod: str
    lost: datetime
    replaced: datetime | None = None
    ready: datetime | None = None


class Fold:
    """Takes what a watch of the workers tells, with the time at which it was told. Pure."""

    def __init__(self) -> None:
        self.losses: dict[str, Loss] = {}
        self._places: dict[str, Place] = {}
        self._names: dict[str, str] = {}

    def take(self, change: Change, now: datetime) -> None:
        """One more change."""
        if change.type == "LISTED":
            there = {podlib.uid(pod) for pod in change.items}
            for uid in [known for known in self._places if known not in there]:
                self._lost(uid, now)
            for pod in change.items:
                self._seen(pod, now)
        elif change.type == "DELETED":
            self._lost(podlib.uid(change.object), now)
        elif change.type in ("ADDED", "MODIFIED"):
            self._seen(change.object, now)

    def _seen(self, pod: Object, now: datetime) -> None:
        uid = podlib.uid(pod)
        place = _place(pod)
        if uid not in self._places:
            self._places[uid] = place
            self._names[uid] = pod["metadata"]["name"]
            self._update(place, uid, lambda loss: Loss(loss.pod, loss.lost, loss.replaced or now, loss.ready))
        if podlib.is_lost(pod):
            self._lost(uid, now)
        elif podlib.is_ready(pod):
            self._update(place, uid, lambda loss: Loss(loss.pod, loss.lost, loss.replaced, loss.ready or now))

    def _lost(self, uid: str, now: datetime) -> None:
        if uid in self._places and uid not in self.losses:
            self.losses[uid] = Loss(self._names[uid], now)

    def _update(self, place: Place, uid: str, change: Callable[[Loss], Loss]) -> None:
        """What became of the last loss in a place, told by the pod `uid` that is there now."""
        earlier = [other for other in self.losses if self._places[other] == place and other != uid]
        if earlier and uid not in self.losses:
            self.losses[earlier[-1]] = change(self.losses[earlier[-1]])


class Losses:
    """A thread that watches the workers of a workload until the program ends."""

    def __init__(self, api: Api, workload: Workload, clock: Clock) -> None:
        self._fold = Fold()
        self._lock = threading.Lock()
        self._api = api
        self._clock = clock
        self._query = {"labelSelector": f"{selector(workload.name)},{podlib.REPLICATED_JOB}={workload.workers[0].name}"}
        threading.Thread(target=self._watch, daemon=True).start()

    def so_far(self) -> tuple[Loss, ...]:
        """The losses in order."""
        with self._lock:
            return tuple(self._fold.losses.values())

    def _watch(self) -> None:
        try:
            for change in watch(self._api, namespaced(self._api, "v1", "pods"), query=self._query, clock=self._clock):
                with self._lock:
                    self._fold.take(change, self._clock.now())
        except XlaunchError:
            return  # the cluster is gone; what was seen stays


def _place(pod: Object) -> Place:
    return (podlib.label(pod, podlib.REPLICATED_JOB), podlib.label(pod, podlib.JOB_INDEX), podlib.completion_index(pod))
