"""What a JobSet does when a Job has failed (JobSet v0.12.0, pkg/controllers/failure_policy.go)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import condition
from xlaunch.core.pods import JOB_INDEX, REPLICATED_JOB
from xlaunch.core.restart_scope import RESTART_JOB_ACTIONS
from xlaunch.local.controllers.jobset.names import replicated_jobs
from xlaunch.local.controllers.jobset.status import (
    JOB_RESTARTS,
    JOB_RESTARTS_TOWARDS_MAX,
    Draft,
    entry_of,
    job_restarts,
)
from xlaunch.local.kube import Object
from xlaunch.local.objects import labels_of, status_of
from xlaunch.local.recorder import Note

DEFAULT_ACTION = "RestartJobSet"


def apply_failure_policy(jobset: Object, failed: Sequence[Object], draft: Draft) -> None:
    """Ends the JobSet, or begins its next attempt, as its failure policy says."""
    policy = jobset["spec"].get("failurePolicy")
    if policy is None:
        draft.fail("FailedJobs", _named("jobset failed due to one or more job failures", _first(failed)))
        return
    rule, job = _matching(policy.get("rules") or (), failed)
    action = rule["action"] if rule else DEFAULT_ACTION
    if action == "FailJobSet":
        draft.fail("FailJobSetFailurePolicyAction", _named("applying FailJobSet failure policy action", job))
        return
    counts = action in ("RestartJobSet", "RestartJob")
    if counts and _used(draft.status) >= policy.get("maxRestarts", 0):
        message = _named("jobset failed due to reaching max number of restarts", job)
        draft.fail("ReachedMaxRestarts", message)
        return
    message = _named(f"applying {action} failure policy action", job)
    if action in RESTART_JOB_ACTIONS:
        _restart_job(jobset, job, draft, counts=counts)
    else:
        draft.status["restarts"] += 1
        if counts:
            draft.status["restartsCountTowardsMax"] = draft.status.get("restartsCountTowardsMax", 0) + 1
        reason = f"FailurePolicy_{rule['name']}" if rule else "DefaultFailurePolicy"
        draft.set("RestartingJobSet", reason, message, type="Warning")
    draft.notes.append(Note("Warning", f"{action}FailurePolicyAction", message))


def _used(status: Object) -> int:
    """How much of maxRestarts is used: restarts of the whole and of single Jobs share it."""
    alone = (each.get(JOB_RESTARTS_TOWARDS_MAX) or () for each in status.get("replicatedJobsStatus") or ())
    return int(status.get("restartsCountTowardsMax", 0) + sum(map(sum, alone)))


def _restart_job(jobset: Object, job: Object, draft: Draft, *, counts: bool) -> None:
    """Begins the next attempt of one Job: its label is behind the counter then, so that it is deleted and made anew."""
    name = labels_of(job)[REPLICATED_JOB]
    replicated = next(each for each in replicated_jobs(jobset) if each["name"] == name)
    statuses = draft.status["replicatedJobsStatus"]
    for counter in (JOB_RESTARTS, JOB_RESTARTS_TOWARDS_MAX) if counts else (JOB_RESTARTS,):
        restarts = job_restarts(statuses, replicated, counter)
        restarts[int(labels_of(job)[JOB_INDEX])] += 1
        entry_of(statuses, name)[counter] = restarts


def _matching(rules: Sequence[Object], failed: Sequence[Object]) -> tuple[Object | None, Object]:
    """The first rule that any failed Job matches, with the Job of these that failed first."""
    for rule in rules:
        matched = [job for job in failed if _applies(rule, job)]
        if matched:
            return rule, _first(matched)
    return None, _first(failed)


def _applies(rule: Mapping[str, Any], job: Object) -> bool:
    failure = condition(status_of(job), "Failed")
    reasons = rule.get("onJobFailureReasons") or ()
    patterns = rule.get("onJobFailureMessagePatterns") or ()
    targets = rule.get("targetReplicatedJobs") or ()
    return (
        (not reasons or failure.get("reason") in reasons)
        and (not patterns or any(_matches(pattern, failure.get("message", "")) for pattern in patterns))
        and (not targets or labels_of(job).get(REPLICATED_JOB) in targets)
    )


def _matches(pattern: str, message: str) -> bool:
    """Whether the pattern is found; one that is no regular expression matches nothing, as upstream."""
    try:
        return re.search(pattern, message) is not None
    except re.error:
        return False


def _first(failed: Sequence[Object]) -> Object:
    """The Job that failed first."""
    return min(
        failed,
        key=lambda job: datetime.fromisoformat(condition(status_of(job), "Failed")["lastTransitionTime"]),
    )


def _named(message: str, job: Object) -> str:
    return f"{message} (first failed job: {job['metadata']['name']})"
