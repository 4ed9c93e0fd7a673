"""The Job controller's loop: does what plan.py and account.py decide."""

from __future__ import annotations

import asyncio
import copy
import logging
from datetime import datetime

from xlaunch.core.budget import replacement_delay
from xlaunch.core.pods import TRACKING_FINALIZER
from xlaunch.local.controllers.job.account import account, conclude, settle
from xlaunch.local.controllers.job.backoff import Record
from xlaunch.local.controllers.job.plan import Plan, Situation, plan
from xlaunch.local.controllers.job.pods import KIND, pod_for
from xlaunch.local.controllers.queue import Again, WorkQueue, work
from xlaunch.local.controllers.writes import delete, remove_finalizer, write_status
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, StatusError, find
from xlaunch.local.objects import (
    Key,
    controller_of,
    end_of,
    finalizers_of,
    is_controlled_by,
    is_deleting,
    is_terminal,
    key_of,
    uid_of,
)
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock

CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
MANAGER = "kubernetes.io/job-controller"
BATCH_SECONDS = 1.0
BETWEEN_WRITES_SECONDS = 0.03
FIRST_ERROR_PAUSE, LONGEST_ERROR_PAUSE = 1.0, 60.0

logger = logging.getLogger(__name__)


class JobController:
    """Keeps each Job's pods as its spec wants them, and counts how they end.

    Pods are read from the API for each sync, not from a cache that may lag behind our own writes.
    """

    def __init__(self, kube: Kube, clock: ScaledClock, jobs: Informer, pods: Informer, report: Report) -> None:
        self._kube = kube
        self._clock = clock
        self._jobs = jobs
        self._pods = pods
        self._report = report
        self._recorder = Recorder(kube, clock, "job-controller", report)
        self._queue: WorkQueue[Key] = WorkQueue(clock, first_pause=FIRST_ERROR_PAUSE, longest_pause=LONGEST_ERROR_PAUSE)
        self._orphans: WorkQueue[Key] = WorkQueue(clock)
        self._records: dict[str, Record] = {}
        self._seen: dict[str, datetime] = {}
        jobs.subscribe(self._on_job)
        pods.subscribe(self._on_pod)

    async def run(self) -> None:
        """Works until cancelled."""
        await asyncio.gather(
            work(self._queue, self.sync, self._report, "job"),
            work(self._orphans, self.release_orphan, self._report, "orphan pod"),
        )

    def _on_job(self, kind: Change, job: Object, before: Object | None) -> None:
        if kind == "DELETED" or end_of(job):
            self._records.pop(uid_of(job), None)
            for pod in self._pods.objects.values():
                if is_controlled_by(pod, uid_of(job)):
                    self._orphans.add(key_of(pod))
        elif before is not None and before["metadata"].get("generation") == job["metadata"].get("generation"):
            self._queue.add_after(key_of(job), BATCH_SECONDS)
        else:
            self._queue.add(key_of(job))

    def _on_pod(self, kind: Change, pod: Object, _before: Object | None) -> None:
        if kind == "DELETED":
            self._seen.pop(uid_of(pod), None)
        elif is_terminal(pod) or is_deleting(pod):
            self._seen.setdefault(uid_of(pod), self._clock.now())
        owner = controller_of(pod)
        if owner is not None and owner["kind"] != KIND:
            return
        # The collector takes an orphan's owner away before that goes, and this may be heard of before the other
        job = self._jobs.objects.get((pod["metadata"]["namespace"], owner["name"])) if owner else None
        if owner and job is not None and uid_of(job) == owner["uid"] and not end_of(job):
            self._queue.add_after(key_of(job), BATCH_SECONDS)
        elif kind != "DELETED" and TRACKING_FINALIZER in finalizers_of(pod):
            self._orphans.add(key_of(pod))

    async def release_orphan(self, key: Key) -> None:
        """Takes the tracking finalizer off a pod that no Job will count any more."""
        namespace, name = key
        pod = await find(self._kube, "pods", name, namespace)
        if pod is None:
            return
        owner = controller_of(pod)
        if owner is not None and await self._is_counting(namespace, owner["name"], owner["uid"]):
            return
        await remove_finalizer(self._kube, "pods", pod, TRACKING_FINALIZER)

    async def _is_counting(self, namespace: str, name: str, uid: str) -> bool:
        job = await find(self._kube, "jobs", name, namespace)
        return job is not None and uid_of(job) == uid and not end_of(job)

    async def sync(self, key: Key) -> None:
        """One sync of one Job."""
        namespace, name = key
        job = await find(self._kube, "jobs", name, namespace)
        if job is None or end_of(job) or job["spec"].get("managedBy", MANAGER) != MANAGER:
            return
        situation = await self._situation(job)
        decided = plan(situation)
        for pod in decided.delete:
            await self._delete(job, pod, uncounted=decided.uncounted)
        created, refused = await self._create(job, decided)
        await self._count(situation, decided, created)
        if decided.wait is not None:
            self._queue.add_after(key, max(decided.wait, BATCH_SECONDS))
        if refused:
            raise Again

    async def _situation(self, job: Object) -> Situation:
        uid = uid_of(job)
        pods, _ = await self._kube.list("pods", job["metadata"]["namespace"], labels=f"{CONTROLLER_UID}={uid}")
        return Situation(
            job=job,
            pods=[pod for pod in pods if is_controlled_by(pod, uid)],
            record=self._records.get(uid, Record()),
            seen=self._seen,
            now=self._clock.now(),
            scale=self._clock.scale,
        )

    async def _delete(self, job: Object, pod: Object, *, uncounted: bool) -> None:
        if uncounted:
            await remove_finalizer(self._kube, "pods", pod, TRACKING_FINALIZER)
        await delete(self._kube, "pods", pod)
        await self._recorder.record(job, Note("Normal", "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}"))

    async def _create(self, job: Object, decided: Plan) -> tuple[int, int]:
        """Creates pods in batches of 1, 2, 4 …; after a batch with a refusal the rest waits for the next sync.

        Returns how many were created and how many refused.
        """
        created = refused = 0
        size = 1
        left = list(decided.create)
        while left and not refused:
            batch, left = left[:size], left[size:]
            for index in batch:
                try:
                    pod = await self._kube.create("pods", pod_for(job, index), job["metadata"]["namespace"])
                except StatusError as error:
                    refused += 1
                    await self._recorder.record(
                        job, Note("Warning", "FailedCreate", f"Error creating: {error.message}")
                    )
                else:
                    created += 1
                    note = Note("Normal", "SuccessfulCreate", f"Created pod: {pod['metadata']['name']}")
                    await self._recorder.record(job, note)
            size *= 2
        return created, refused

    def _remember(self, job: Object, decided: Plan) -> None:
        """Keeps how many pods were lost, and says into the log what that costs, as the real one does from -v=4 on."""
        lost, before = decided.record.failures, self._records.get(uid_of(job))
        if lost and decided.finish is None and decided.record != before:
            where = "/".join(key_of(job))
            logger.info("Job %s has lost %d pods and waits %g s for others", where, lost, replacement_delay(lost))
        self._records[uid_of(job)] = decided.record

    async def _count(self, situation: Situation, decided: Plan, created: int) -> None:
        """Writes who has ended, then lets them go, then writes what that makes of the Job."""
        result = account(situation, decided, created)
        job = await write_status(self._kube, "jobs", situation.job, result.status)
        self._remember(job, decided)
        for note in decided.notes:
            await self._recorder.record(job, note)
        for pod in result.release:
            await remove_finalizer(self._kube, "pods", pod, TRACKING_FINALIZER)
        if decided.finish is not None:
            # Upstream's two writes are API calls apart, and JobSet acts on the first: InOrder is in progress again
            await self._clock.sleep(BETWEEN_WRITES_SECONDS)
        released = {uid_of(pod) for pod in result.release}
        status = copy.deepcopy(result.status)
        settle(
            status,
            [uid_of(pod) for pod in situation.pods if situation.is_tracked(pod) and uid_of(pod) not in released],
        )
        final = conclude(status, decided, result.terminating, self._clock.now())
        job = await write_status(self._kube, "jobs", job, status)
        if final is not None:
            failed = final["type"] == "Failed"
            reason, message = (final["reason"], final["message"]) if failed else ("Completed", "Job completed")
            await self._recorder.record(job, Note("Warning" if failed else "Normal", reason, message))
