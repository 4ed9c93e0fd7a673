"""Counting pods that have ended, each once (Kubernetes 1.37, job_controller.go trackJobStatusAndRemoveFinalizers).

A pod that has ended keeps a finalizer until its end is written into the Job's status: first its UID among the
uncounted ones, then, with the finalizer gone, as a number.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from xlaunch.core.conditions import is_true
from xlaunch.core.indexes import parse_indexes
from xlaunch.core.pods import phase
from xlaunch.local.controllers.job.conditions import job_condition
from xlaunch.local.controllers.job.failure import is_failed, judge
from xlaunch.local.controllers.job.indexes import format_indexes, index_of
from xlaunch.local.controllers.job.plan import Plan, Situation, completed_indexes
from xlaunch.local.kube import Object
from xlaunch.local.objects import is_deleting, status_of, uid_of


@dataclass(frozen=True)
class Account:
    """The status to write before finalizers are removed, and the pods that lose theirs."""

    status: Object
    release: Sequence[Object]
    terminating: int


def account(situation: Situation, plan: Plan, created: int) -> Account:
    """The account after the plan's deletions and `created` new pods."""
    status = copy.deepcopy(plan.status)
    uncounted = status.setdefault("uncountedTerminatedPods", {})
    settle(status, [uid_of(pod) for pod in situation.pods if situation.is_tracked(pod)])
    active = situation.active
    deleted = {uid_of(pod) for pod in plan.delete}
    left = [pod for pod in active if uid_of(pod) not in deleted]
    terminating = situation.terminating + len(deleted)
    _set_count(status, "active", len(left) + created)
    status["ready"] = sum(is_true(status_of(pod), "Ready") for pod in left)
    status["terminating"] = terminating
    before = parse_indexes(status.get("completedIndexes", ""), situation.completions)
    release = [pod for pod in situation.pods if situation.is_tracked(pod) and _has_ended(situation, plan, pod)]
    for pod in release:
        if phase(pod) == "Succeeded" and uid_of(pod) not in (uncounted.get("failed") or ()):
            if not situation.indexed:
                _add(uncounted, "succeeded", uid_of(pod))
        elif _counts_as_failed(situation, plan, pod):
            _add(uncounted, "failed", uid_of(pod))
    if situation.indexed:
        released = {index_of(pod, situation.completions) for pod in release if phase(pod) == "Succeeded"}
        done = before | (completed_indexes(situation, status) & {index for index in released if index is not None})
        _set_count(status, "succeeded", len(done))
        if done:
            status["completedIndexes"] = format_indexes(done)
    if plan.finish is not None and not is_true(status, plan.finish["type"]):
        status.setdefault("conditions", []).append(plan.finish)
    return Account(status, release, terminating)


def settle(status: Object, tracked: Collection[str]) -> None:
    """Turns uncounted pods that have lost their finalizer into numbers."""
    uncounted = status.setdefault("uncountedTerminatedPods", {})
    for outcome in ("succeeded", "failed"):
        uids = uncounted.get(outcome) or []
        kept = [uid for uid in uids if uid in tracked]
        _set_count(status, outcome, status.get(outcome, 0) + len(uids) - len(kept))
        if kept:
            uncounted[outcome] = kept
        else:
            uncounted.pop(outcome, None)


def conclude(status: Object, plan: Plan, terminating: int, now: datetime) -> Object | None:
    """Ends the Job once nothing is left to count or to wait for; returns the final condition, None before that."""
    if plan.finish is None or terminating or any(status["uncountedTerminatedPods"].values()):
        return None
    kind = "Complete" if plan.finish["type"] == "SuccessCriteriaMet" else "Failed"
    final = job_condition(kind, plan.finish["reason"], plan.finish["message"], now)
    status["conditions"].append(final)
    if kind == "Complete":
        status["completionTime"] = final["lastTransitionTime"]
    return final


def _has_ended(situation: Situation, plan: Plan, pod: Object) -> bool:
    """Whether the pod's finalizer may go: its end is known, or the Job itself ends."""
    if is_deleting(situation.job) or plan.finish is not None:
        return True
    return phase(pod) == "Succeeded" or is_failed(pod, situation.job)


def _counts_as_failed(situation: Situation, plan: Plan, pod: Object) -> bool:
    job_fails = plan.finish is not None and plan.finish["type"] != "SuccessCriteriaMet"
    if not is_failed(pod, situation.job) and not job_fails:
        return False
    return situation.valid_index(pod) and judge(situation.job, pod).counts


def _add(uncounted: Object, outcome: str, uid: str) -> None:
    if uid not in uncounted.setdefault(outcome, []):
        uncounted[outcome].append(uid)


def _set_count(status: Object, name: str, count: int) -> None:
    """Counters that are 0 are left out, as Go's omitempty does."""
    if count:
        status[name] = count
    else:
        status.pop(name, None)
