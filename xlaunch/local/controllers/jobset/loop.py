"""The JobSet controller's loop: does what plan.py decides."""

from __future__ import annotations

from collections.abc import Collection

from xlaunch.core.pods import JOBSET_UID
from xlaunch.local.controllers.jobset.build import headless_service
from xlaunch.local.controllers.jobset.names import KIND, subdomain
from xlaunch.local.controllers.jobset.plan import Plan, plan
from xlaunch.local.controllers.queue import Again, WorkQueue, work
from xlaunch.local.controllers.writes import delete, write_status
from xlaunch.local.informer import Change, Informer
from xlaunch.local.kube import Kube, Object, StatusError, find
from xlaunch.local.objects import (
    Key,
    controller_of,
    is_controlled_by,
    is_deleting,
    key_of,
    status_of,
    uid_of,
)
from xlaunch.local.recorder import Note, Recorder, Report
from xlaunch.local.time import ScaledClock

MANAGER = "jobset.sigs.k8s.io/jobset-controller"


class JobSetController:
    """Keeps each JobSet's Jobs as its spec wants them, and restarts or ends the set as its policies say."""

    def __init__(
        self,
        kube: Kube,
        clock: ScaledClock,
        jobsets: Informer,
        jobs: Informer,
        services: Informer,
        report: Report,
        gates: Collection[str] = (),
    ) -> None:
        self._kube = kube
        self._gates = gates
        self._clock = clock
        self._report = report
        self._recorder = Recorder(kube, clock, "jobset", report, action="Reconciling")
        self._queue: WorkQueue[Key] = WorkQueue(clock)
        jobsets.subscribe(self._on_jobset)
        jobs.subscribe(self._on_owned)
        services.subscribe(self._on_owned)

    async def run(self) -> None:
        """Works until cancelled."""
        await work(self._queue, self.sync, self._report, "jobset")

    def _on_jobset(self, _kind: Change, jobset: Object, _before: Object | None) -> None:
        self._queue.add(key_of(jobset))

    def _on_owned(self, _kind: Change, owned: Object, _before: Object | None) -> None:
        owner = controller_of(owned)
        if owner is not None and owner["kind"] == KIND:
            self._queue.add((owned["metadata"]["namespace"], owner["name"]))

    async def sync(self, key: Key) -> None:
        """One reconciliation of one JobSet."""
        namespace, name = key
        jobset = await find(self._kube, "jobsets", name, namespace)
        if jobset is None or is_deleting(jobset) or jobset["spec"].get("managedBy", MANAGER) != MANAGER:
            return
        jobs, _ = await self._kube.list("jobs", namespace, labels=f"{JOBSET_UID}={uid_of(jobset)}")
        owned = [job for job in jobs if is_controlled_by(job, uid_of(jobset))]
        await self._obey(jobset, plan(jobset, owned, self._clock.now(), self._clock.scale, self._gates))

    async def _obey(self, jobset: Object, decided: Plan) -> None:
        for job in decided.delete:
            if not is_deleting(job):
                await delete(self._kube, "jobs", job, propagation="Foreground")
        if decided.expired:
            await delete(self._kube, "jobsets", jobset, propagation="Foreground")
            return
        if decided.wait is not None:
            self._queue.add_after(key_of(jobset), decided.wait)
        if decided.serve:
            await self._serve(jobset)
        await self._create(jobset, decided)
        for job in decided.suspend:
            await self._patch_job(job, {"spec": {"suspend": True}})
        for job, patch in decided.resume:
            await self._resume(job, patch)
        jobset = await write_status(self._kube, "jobsets", jobset, decided.status)
        for note in decided.notes:
            await self._recorder.record(jobset, note)

    async def _serve(self, jobset: Object) -> None:
        """Creates the headless Service unless one of that name exists, whoever made it."""
        namespace = jobset["metadata"]["namespace"]
        if await find(self._kube, "services", subdomain(jobset), namespace):
            return
        try:
            await self._kube.create("services", headless_service(jobset), namespace)
        except StatusError as error:
            await self._recorder.record(jobset, Note("Warning", "HeadlessServiceCreationFailed", error.message))
            raise

    async def _create(self, jobset: Object, decided: Plan) -> None:
        """Creates all Jobs that can be created; where some cannot, says so in one event and comes back later."""
        problems = []
        for job in decided.create:
            try:
                await self._kube.create("jobs", job, jobset["metadata"]["namespace"])
            except StatusError as error:
                name = job["metadata"]["name"]
                problems.append(f'job "{name}" creation failed with error: {error.message}')
        if problems:
            await self._recorder.record(jobset, Note("Warning", "JobCreationFailed", "\n".join(problems)))
            raise Again

    async def _resume(self, job: Object, patch: Object) -> None:
        """A Job's pod template may change only while it has no start time."""
        if "startTime" in status_of(job):
            job = await self._patch_job(job, {"status": {"startTime": None}}, subresource="status")
        await self._patch_job(job, patch)

    async def _patch_job(self, job: Object, patch: Object, *, subresource: str = "") -> Object:
        namespace, name = key_of(job)
        body = {"metadata": {"resourceVersion": job["metadata"]["resourceVersion"]}, **patch}
        return await self._kube.patch("jobs", name, body, namespace, subresource=subresource)
