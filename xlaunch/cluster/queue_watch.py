"""What commands that wait for one workload tell of its queue: each eviction and each alarm once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xlaunch.cluster import kueue
from xlaunch.cluster.api import Api
from xlaunch.core.clock import Clock
from xlaunch.core.counts import ordinal
from xlaunch.core.queue_alarms import queue_alarms
from xlaunch.core.workload import Workload, describe

Object = Mapping[str, Any]


class QueueWatch:
    """Looks at one workload again and again."""

    def __init__(self, api: Api, say: Callable[[str], None], clock: Clock) -> None:
        self._api = api
        self._say = say
        self._clock = clock
        self._times: int | None = None
        self._alarms: set[str] = set()
        self._eviction = ""

    def describe(self, jobset: Object, *, ask: bool = False) -> Workload:
        """The JobSet as a workload. Its queue is asked while it is held back, and with `ask` also when it is not."""
        workload = describe(jobset)
        if not workload.phase.ended and (workload.suspended or (ask and workload.queue)):
            workload = kueue.with_queue(self._api, jobset)
            self._tell(workload)
        return workload

    def take_eviction(self) -> str:
        """Why its pods are gone, "" where no eviction was seen since this was last asked."""
        told, self._eviction = self._eviction, ""
        return told

    def _tell(self, workload: Workload) -> None:
        if workload.queueing is None:
            return
        times, last = workload.queueing.times_evicted, workload.queueing.last_eviction
        if last and self._times is not None and times > self._times:
            self._eviction = f"its queue evicted it: {last}"
            self._say(f"{workload.name} was evicted by its queue ({ordinal(times)} time; no restart): {last}")
        self._times = times
        alarms = {alarm.reason: alarm for alarm in queue_alarms(workload, self._clock.now())}
        for reason, alarm in alarms.items():
            if reason not in self._alarms:
                self._say(f"{alarm.message}. Next: {alarm.next}")
        self._alarms = set(alarms)
