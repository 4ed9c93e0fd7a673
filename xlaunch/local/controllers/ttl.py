"""The TTL of what has finished: Jobs are deleted after it (Kubernetes 1.37, pkg/controller/ttlafterfinished)."""

from __future__ import annotations

from datetime import datetime

from xlaunch.local.controllers.queue import WorkQueue, work
from xlaunch.local.controllers.writes import delete
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, find
from xlaunch.local.objects import Key, end_of, is_deleting, key_of
from xlaunch.local.recorder import Report
from xlaunch.local.time import ScaledClock


def until_expiry(obj: Object, now: datetime, scale: float) -> float | None:
    """Seconds of cluster time until the TTL of a Job or JobSet ends; None where it has none, or goes on."""
    ttl, ended = obj["spec"].get("ttlSecondsAfterFinished"), end_of(obj)
    if ttl is None or not ended:
        return None
    return float(ttl - (now - datetime.fromisoformat(ended["lastTransitionTime"])).total_seconds() / scale)


class TtlController:
    """Deletes Jobs with `ttlSecondsAfterFinished` once that has passed."""

    def __init__(self, kube: Kube, clock: ScaledClock, jobs: Informer, report: Report) -> None:
        self._kube = kube
        self._clock = clock
        self._report = report
        self._queue: WorkQueue[Key] = WorkQueue(clock)
        jobs.subscribe(self._on_job)

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.sync, self._report, "job TTL")

    def _on_job(self, kind: Change, job: Object, _before: Object | None) -> None:
        if kind != "DELETED" and until_expiry(job, self._clock.now(), self._clock.scale) is not None:
            self._queue.add(key_of(job))

    async def sync(self, key: Key) -> None:
        """Deletes the Job, or comes back when it is time."""
        namespace, name = key
        job = await find(self._kube, "jobs", name, namespace)
        left = until_expiry(job, self._clock.now(), self._clock.scale) if job else None
        if job is None or left is None or is_deleting(job):
            return
        if left > 0:
            self._queue.add_after(key, left)
        else:
            await delete(self._kube, "jobs", job, propagation="Foreground")
