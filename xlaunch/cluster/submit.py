"""Submitting a plan: what to do when the name is taken, when somebody else is quicker, when the server is busy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from xlaunch import __version__
from xlaunch.cluster import jobsets, kueue
from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.delete import delete, wait_gone
from xlaunch.cluster.retry import is_passing, persist
from xlaunch.cluster.versions import without_restart_job
from xlaunch.core.clock import Clock
from xlaunch.core.errors import ConflictError, NetworkError, NotFoundError, RefusedError, WorkloadFailedError
from xlaunch.core.plan import HASH_ANNOTATION, Plan
from xlaunch.core.queueing import State, release
from xlaunch.core.refusals import sentence
from xlaunch.core.timestamps import words
from xlaunch.core.workload import Phase, Workload, describe

Object = Mapping[str, Any]

# Who made it; no part of the plan's hash
VERSION_ANNOTATION = "xlaunch.dev/version"
REPLACE_TIMEOUT = 300.0
MOST_REPLACED = 3
# The reason where a cluster can't restart single slices, and what to do about it
NO_RESTART_JOB = "NoRestartJob"
WITHOUT_RESTART_JOB = (
    "Take --restart-scope=pod, or auto, which asks the cluster first, "
    "and no such rule in a template or patch of your own"
)


@dataclass(frozen=True)
class Submission:
    """What came of it. `jobset` is the object as the server has it; `message` what to tell about one that was there.

    `plan` is the one that it was made from, of those that were given.
    """

    action: Literal["created", "unchanged", "replaced"]
    plan: Plan
    name: str
    namespace: str
    jobset: Object
    warnings: tuple[str, ...] = ()
    message: str = ""


def submit(
    api: Api,
    plan: Plan,
    *,
    if_exists: str = "",
    timeout: float = 120.0,
    clock: Clock,
    notice: Callable[[str], None],
    confirm: Callable[[Workload], None] = lambda _: None,
    replace_timeout: float = REPLACE_TIMEOUT,
    flags: Sequence[str] = (),
    alternatives: Sequence[Plan] = (),
) -> Submission:
    """Creates the plan's JobSet unless it is there already, from this plan or from one of the `alternatives`.

    `if_exists` is "replace", "replace-finished", "skip" or "" (the same plan is fine, another is a conflict). What
    passes by itself (429, 5xx, a webhook without endpoint) is tried again for `timeout` seconds; an API server that
    never answered is not. `confirm` is asked before something is replaced, and raises to stop it; the replaced one has
    `replace_timeout` seconds to go. Raises ConflictError, WorkloadFailedError (the same plan has failed), RefusedError,
    NotFoundError (the namespace), NetworkError, DeadlineError.
    """
    work = _Work(api, plan, if_exists, clock, notice, confirm, replace_timeout, flags, alternatives)
    try:
        for _ in range(MOST_REPLACED + 1):
            outcome = persist(work.attempt, clock=clock, timeout=timeout, notice=notice, is_worth=work.is_worth_another)
            if isinstance(outcome, Submission):
                return outcome
            work.make_room(outcome)
    except ApiError as error:
        lacks = without_restart_job(api, error.message)
        raise refused(error, plan, work.namespace, lacks) from error
    raise ConflictError(
        f"{plan.name} comes back as fast as it is deleted",
        why="Something else creates it",
        next=f"Look who: kubectl get jobset {plan.name} --namespace {work.namespace} --show-managed-fields -o yaml",
    )


@dataclass
class _Work:
    """One submission over several attempts: what is known from the earlier ones."""

    api: Api
    plan: Plan
    if_exists: str
    clock: Clock
    notice: Callable[[str], None]
    confirm: Callable[[Workload], None]
    replace_timeout: float
    flags: Sequence[str]
    alternatives: Sequence[Plan]
    reached: bool = False  # the server has answered once
    uncertain: bool = False  # a create got no answer: it may have worked
    replaced: bool = False

    @property
    def namespace(self) -> str:
        return self.plan.namespace or self.api.namespace

    def is_worth_another(self, error: NetworkError | ApiError) -> bool:
        """Somebody else was quicker (409): look again. A server that never answered is not waited for."""
        if isinstance(error, NetworkError):
            return self.reached
        return is_passing(error) or (error.status == 409 and error.reason == "AlreadyExists")

    def attempt(self) -> Submission | Object:
        """The end of it, or the JobSet that has to make room first."""
        found = jobsets.find(self.api, self.plan.name, namespace=self.namespace, timeout=10.0)
        self.reached = True
        if found is not None:
            return self._settle(found) or found
        # As kubectl: a field that the server does not know would be dropped, and the run be another than asked for
        query = {"fieldManager": "xlaunch", "fieldValidation": "Strict"}
        target = jobsets.path(self.api, namespace=self.namespace)
        try:
            reply = self.api.request("POST", target, query=query, body=stamped(self.plan.manifest))
        except NetworkError:
            self.uncertain = True
            raise
        except ApiError as error:
            self.uncertain = self.uncertain or error.status >= 500
            raise
        return self._done("replaced" if self.replaced else "created", reply.body, reply.warnings)

    def _settle(self, found: Object) -> Submission | None:
        """What an existing JobSet means: the end of it, or None where it is to be replaced."""
        workload = describe(found)
        same = self._plan_of(found) is not None
        if self.uncertain and same and not workload.deleting:
            return self._done("replaced" if self.replaced else "created", found)
        if replaces(self.if_exists, workload):
            return None
        if self.if_exists == "skip":
            return self._done(
                "unchanged", found, message=f"{workload.name} exists ({workload.phase}) and is left alone"
            )
        if workload.deleting:
            raise ConflictError(
                f"{workload.name} is being deleted",
                next=f"{self._command('xlaunch wait', ' --for=deleted')}, then again; or add --if-exists=replace",
            )
        if not same:
            raise self._differs(found, workload)
        return self._same(found, kueue.with_queue(self.api, found) if workload.suspended else workload)

    def _same(self, found: Object, workload: Workload) -> Submission:
        name, at = workload.name, f" at {workload.finished:%Y-%m-%dT%H:%M:%SZ}" if workload.finished else ""
        if workload.phase is Phase.FAILED:
            raise WorkloadFailedError(
                f"{name} has failed already{at}",
                why=workload.message,
                next="Add --if-exists=replace-finished to run the same again",
            )
        if workload.phase is Phase.SUSPENDED:
            raise ConflictError(f"{name} exists and is suspended", next=f"Resume it: {self._resumption(workload)}")
        if workload.phase is Phase.COMPLETED:
            return self._done("unchanged", found, message=f"{name} has already completed{at}")
        return self._done("unchanged", found, message=f"{name} is unchanged ({workload.phase})")

    def _resumption(self, workload: Workload) -> str:
        if workload.queueing and workload.queueing.state is State.HELD:
            return release(workload.queueing, self.namespace)
        patch = """--type=merge -p '{"spec":{"suspend":false}}'"""
        return f"kubectl patch jobset {workload.name} --namespace {self.namespace} {patch}"

    def _differs(self, found: Object, workload: Workload) -> ConflictError:
        age = f", {words(self.clock.now() - workload.created)} old" if workload.created else ""
        owner = f", of {workload.owner}" if workload.owner else ""
        return ConflictError(
            f"{workload.name} exists already and differs",
            why=f"It is {workload.phase}{age}{owner}; {difference(found)}",
            next=f"Take another name, add --if-exists=replace, or {self._command('xlaunch workload delete')}",
        )

    def make_room(self, found: Object) -> None:
        """Deletes it after a yes, and waits until it is gone."""
        workload = describe(found)
        self.confirm(workload)
        if not workload.deleting:
            delete(self.api, found, clock=self.clock, notice=self.notice)
        wait_gone(self.api, found, clock=self.clock, timeout=self.replace_timeout, notice=self.notice, flags=self.flags)
        self.replaced = True

    def _command(self, words: str, rest: str = "") -> str:
        return jobsets.command(f"{words} {self.plan.name}{rest}", self.flags)

    def _done(
        self,
        action: Literal["created", "unchanged", "replaced"],
        jobset: Object,
        warnings: tuple[str, ...] = (),
        message: str = "",
    ) -> Submission:
        plan = self._plan_of(jobset) or self.plan
        return Submission(action, plan, self.plan.name, self.namespace, jobset, warnings, message)

    def _plan_of(self, jobset: Object) -> Plan | None:
        """Which of the plans a JobSet was made from."""
        recorded = (jobset["metadata"].get("annotations") or {}).get(HASH_ANNOTATION)
        return next((each for each in (self.plan, *self.alternatives) if each.hash == recorded), None)


def replaces(if_exists: str, workload: Workload) -> bool:
    """Whether a workload that has the name already is to make room, whatever it was made from."""
    return if_exists == "replace" or (if_exists == "replace-finished" and workload.phase.ended)


def stamped(manifest: Object) -> Object:
    """The manifest with the version of xlaunch that submits it."""
    metadata = manifest["metadata"]
    annotations = {**(metadata.get("annotations") or {}), VERSION_ANNOTATION: __version__}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def difference(found: Object) -> str:
    """Why an existing JobSet is not the plan's, as far as its annotations tell."""
    annotations = found["metadata"].get("annotations") or {}
    if HASH_ANNOTATION not in annotations:
        return "it was not made by xlaunch"
    made_by = annotations.get(VERSION_ANNOTATION, __version__)
    if made_by != __version__:
        return f"xlaunch {made_by} made it and this is {__version__}: perhaps only the template has changed"
    return "it was made from another plan"


def refused(error: ApiError, plan: Plan, namespace: str, lacks: str = "") -> Exception:
    """A refusal of the create as one readable sentence; `lacks` is what the cluster lacks for RestartJob, or ""."""
    if error.status == 404 and error.details.get("kind") == "namespaces":
        return NotFoundError(f"There is no namespace {namespace}", next=f"kubectl create namespace {namespace}")
    if error.status == 404:
        return jobsets.without_jobset()
    if error.code != 4:
        return error
    if lacks:
        return RefusedError(
            f"The API server refuses {plan.name}",
            why=lacks,
            next=WITHOUT_RESTART_JOB,
            reason=NO_RESTART_JOB,
        )
    return RefusedError(
        f"The API server refuses {plan.name}",
        why=sentence(error.message, error.details),
        next=error.next or "Correct what it names; --dry-run shows the manifest",
        reason=error.reason,
    )
