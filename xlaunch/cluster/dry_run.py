"""A dry run on the server: of the JobSet, of each of its Jobs, and of one pod of each role. Nothing is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, TypeVar

from xlaunch.cluster import jobsets
from xlaunch.cluster.api import Api, ApiError, Reply, namespaced
from xlaunch.cluster.children import Children, children, pod
from xlaunch.cluster.retry import is_passing, persist
from xlaunch.cluster.rights import may_create
from xlaunch.cluster.submit import NO_RESTART_JOB, WITHOUT_RESTART_JOB, refused, stamped
from xlaunch.cluster.taken import find_job, stranger
from xlaunch.cluster.verdicts import Refusal, Report
from xlaunch.cluster.versions import without_restart_job
from xlaunch.core.checks import KIND
from xlaunch.core.clock import Clock
from xlaunch.core.errors import NetworkError
from xlaunch.core.plan import Plan
from xlaunch.core.refusals import sentence
from xlaunch.core.restart_scope import MAX_SLICES
from xlaunch.core.runs import run

Object = Mapping[str, Any]
T = TypeVar("T")

INVALID = 422
STAND_INS = 8
# From so many Jobs on somebody may wonder what takes so long
TELLING = 64
NAME_TAKEN = "Take another --workload, or delete what has the name: kubectl get jobs"
# What of the metadata of an object can be sent to make another
SENT = ("name", "namespace", "labels", "annotations")
# apiserver pkg/admission/plugin/webhook/errors/statuserror.go NewDryRunUnsupportedErr
UNSUPPORTED = "does not support dry run"


class DryRun:
    """Dry-run creates for one plan. What passes by itself is tried again, each for `timeout` seconds.

    An API server that never answered is not waited for (NetworkError).
    """

    def __init__(self, api: Api, plan: Plan, *, clock: Clock, timeout: float, notice: Callable[[str], None]) -> None:
        self._api = api
        self._plan = plan
        self._namespace = plan.namespace or api.namespace
        self._clock, self._timeout, self._notice = clock, timeout, notice
        self._reached = False
        # Asked once: a quota may refuse hundreds of Jobs
        self._may_create = cache(partial(may_create, api, self._namespace))

    def find(self) -> Object | None:
        """The JobSet that has the plan's name; None where there is none."""
        return self._persist(lambda: jobsets.find(self._api, self._plan.name, namespace=self._namespace, timeout=10.0))

    def stored(self, *, exists: bool) -> Reply:
        """The JobSet as the server would store it, after every webhook. Raises as `report`, and RefusedError.

        Under a name that `exists` no create is answered so: it is asked for under another of the same length.
        """
        try:
            return self._stored(stamped(self._plan.manifest), own_name=not exists)
        except ApiError as error:
            raise self._told(error) from error

    def today(self, live: Object) -> Object:
        """A living JobSet as the server would store it now: with defaults that came after it was made.

        As it is, where the server would not take it any more.
        """
        metadata = {key: live["metadata"][key] for key in SENT if key in live["metadata"]}
        try:
            found = self._stored({**live, "metadata": metadata}, own_name=False).body
        except ApiError:
            return live
        # Kueue's webhook suspends whatever is new
        spec = {key: value for key, value in found["spec"].items() if key != "suspend"}
        suspend = {"suspend": live["spec"]["suspend"]} if "suspend" in live["spec"] else {}
        return {**found, "spec": {**spec, **suspend}}

    def _stored(self, manifest: Object, *, own_name: bool) -> Reply:
        own = (self._plan.name,) if own_name else ()
        for name in (*own, *_stand_ins(self._plan.name)):
            try:
                reply = self.create(_named(manifest, name))
            except ApiError as error:
                last = error
                if not _is_taken(error):
                    break
            else:
                return Reply(reply.status, _named(reply.body, self._plan.name), reply.warnings)
        raise last

    def report(self) -> Report:
        """What the server says to the JobSet, its Jobs and its pods: all refusals, not only the first.

        Raises NotFoundError (the namespace), RefusedError (no JobSet here, or no right to create one), NetworkError.
        """
        report = Report(self.find())
        try:
            answer = self._ask(report, self._plan.name, stamped(self._plan.manifest))
            if isinstance(answer, Reply):
                report.stored = answer.body
            elif _is_taken(answer):
                report.stored = self.stored(exists=True).body
            for each in children(report.stored or self._plan.manifest):
                self._ask_children(report, each)
        except ApiError as error:
            raise self._told(error) from error
        return report

    def _told(self, error: ApiError) -> Exception:
        """What a submission says of the same answer."""
        lacks = without_restart_job(self._api, error.message)
        return refused(error, self._plan, self._namespace, lacks)

    def _ask_children(self, report: Report, role: Children) -> None:
        """Asks for all Jobs of a replicated job, up to the most slices that xlaunch makes, and for the last one's pod.

        What cannot be asked about the first can't about the others.
        """
        last = role.replicas - 1
        indexes = (*range(min(last, MAX_SLICES - 1)), last)
        if len(indexes) >= TELLING:
            self._notice(f"Asking the API server about {len(indexes)} Jobs")
        together = run("Job", role.name(0), role.name(last))
        answer = self._ask(report, role.name(0), role.job(0), stands_for=together)
        if together not in report.left_out:
            for index in indexes[1:]:
                answer = self._ask(report, role.name(index), role.job(index))
            if len(indexes) < role.replicas:
                between = run("Job", role.name(len(indexes) - 1), role.name(last - 1))
                report.left_out[between] = f"no more than {MAX_SLICES} of one kind are asked about"
        asked = pod(role.job(last))
        # A template that is invalid in the Job is so in the pod, in the same words
        self._ask(report, asked["metadata"]["generateName"].rstrip("-"), asked, repeats=answer.status == INVALID)

    def _ask(
        self, report: Report, name: str, body: Object, *, repeats: bool = False, stands_for: str = ""
    ) -> Reply | ApiError:
        """Asks for one object and notes the answer. Raises what is none: no such namespace, no right to a JobSet.

        What is left out is noted of all that the object `stands_for`.
        """
        label = f"{body['kind']} {name}"
        answer: Reply | ApiError
        try:
            answer = self.create(body)
        except ApiError as error:
            answer = error
            if error.code != 4:
                raise
            why = sentence(error.message, error.details)
            if _is_taken(error):
                self._note_taken(report, name, body["kind"])
            elif UNSUPPORTED in why:
                report.left_out[stands_for or label] = why
            elif self._is_about_rights(error, body):
                if body["kind"] == KIND:
                    raise
                # The controllers create them, not the user
                report.left_out[stands_for or label] = (
                    f"you may not create {_plural(body)} in namespace {self._namespace}"
                )
            elif lacks := without_restart_job(self._api, error.message):
                report.refusals.append(Refusal(body["kind"], name, NO_RESTART_JOB, lacks, WITHOUT_RESTART_JOB))
            elif not (repeats and error.status == INVALID):
                report.refusals.append(Refusal(body["kind"], name, error.reason, why))
        else:
            report.accepted.append(label)
        for text in answer.warnings:
            report.warnings.setdefault(text, []).append(label)
        return answer

    def _note_taken(self, report: Report, name: str, kind: str) -> None:
        """All else was found good. A Job that stays in the way is a refusal: JobSet would try for ever."""
        keeper = ""
        if kind == "Job":
            try:
                keeper = stranger(
                    self._persist(lambda: find_job(self._api, name, namespace=self._namespace)), self._plan.name
                )
            except ApiError as error:
                report.left_out[f"{kind} {name}"] = f"its name is taken, and whose it is can't be read: {error.message}"
                return
        if keeper:
            report.refusals.append(Refusal(kind, name, "AlreadyExists", keeper, NAME_TAKEN))
        else:
            report.accepted.append(f"{kind} {name}")

    def _is_about_rights(self, error: ApiError, body: Object) -> bool:
        """Whether a 403 comes from the user's rights, not from a quota or policy; no where the server can't tell."""
        return error.status == 403 and not self._may_create(body["apiVersion"].rpartition("/")[0], _plural(body))

    def create(self, body: Object) -> Reply:
        """The answer to a dry-run create of any object. Raises ApiError for a refusal, NetworkError."""
        query = {"dryRun": "All", "fieldManager": "xlaunch", "fieldValidation": "Strict"}
        path = namespaced(self._api, body["apiVersion"], _plural(body), namespace=self._namespace)
        return self._persist(lambda: self._api.request("POST", path, query=query, body=body))

    def _persist(self, attempt: Callable[[], T]) -> T:
        def is_worth(error: NetworkError | ApiError) -> bool:
            return self._reached if isinstance(error, NetworkError) else is_passing(error)

        answer = persist(attempt, clock=self._clock, timeout=self._timeout, notice=self._notice, is_worth=is_worth)
        self._reached = True
        return answer


def _plural(body: Object) -> str:
    return f"{body['kind'].lower()}s"


def _is_taken(error: ApiError) -> bool:
    """Whether nothing but the name is in the way: the server looks for it last (apiserver 0.35 store.go create)."""
    return error.status == 409 and error.reason == "AlreadyExists"


def _named(jobset: Object, name: str) -> Object:
    return {**jobset, "metadata": {**jobset["metadata"], "name": name}}


def _stand_ins(name: str) -> Iterator[str]:
    """Names of the same length that begin alike, which nobody is likely to have."""
    for seed in range(STAND_INS):
        digest = hashlib.sha256(f"{seed} {name}".encode()).hexdigest()
        letter = chr(ord("a") + int(digest[:2], 16) % 26)
        yield name[:-4] + digest[:4] if len(name) > 4 else (letter + digest)[: len(name)]
