"""What keeps a workload's pods from running, or from being there at all, in Kubernetes' and JobSet's own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.observe import events_about, owned_pods
from xlaunch.cluster.taken import find_job, stranger
from xlaunch.core import pods as podlib
from xlaunch.core.errors import NetworkError
from xlaunch.core.events import latest, message
from xlaunch.core.excerpt import reason_and_message
from xlaunch.core.ledger import Ledger
from xlaunch.core.pending import first_held_up
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

# By JobSet about itself (JobSet v0.12 pkg/constants/constants.go), by the Job controller about a Job
# (Kubernetes 1.35 pkg/controller/controller_utils.go)
JOB_REFUSED = "JobCreationFailed"
POD_REFUSED, POD_CREATED = "FailedCreate", "SuccessfulCreate"
# What is part of a good start, and succeeds a moment later: a Job is made anew before the old one is gone, a follower
# before its leader has a node (JobSet v0.12 pkg/webhooks/pod_webhook.go). A leader that stays without one says so
# itself, and one that has failed is an alarm
PASSING = ("already exists", "follower pod node selector for topology domain not found")
# While it is one of these its Jobs should have pods
_LIVING = (Phase.PENDING, Phase.STARTING, Phase.RUNNING, Phase.RESTARTING)


def held_up(api: Api, workload: Workload) -> str:
    """What keeps the first of its pods from running, the head before the workers; "" where nothing does or is known."""
    pods = owned_pods(api, workload)
    if pods is None:
        return ""
    target = workload.target.name if workload.target else ""
    heads = [pod for pod in pods if podlib.label(pod, podlib.REPLICATED_JOB) == target]
    return first_held_up(heads) or first_held_up(pods) or why_uncreated(api, workload, pods)


def with_refusal(api: Api, ledger: Ledger, jobs: Iterable[Object] | None, pods: Iterable[Object] | None) -> Ledger:
    """The ledger with why pods are not created, where no pod says what the workload waits for."""
    if pods is None or (ledger.head and ledger.waiting):
        return ledger
    refusal = why_uncreated(api, ledger.workload, pods, jobs)
    return replace(ledger, waiting=": ".join(filter(None, (ledger.waiting, refusal))))


def why_uncreated(api: Api, workload: Workload, pods: Iterable[Object], jobs: Iterable[Object] | None = None) -> str:
    """Why the first Job that is short of `pods`, the head's before the slices', is; "" where nobody says so.

    Only events tell: asks for them, and before that for the Job where the caller does not know the `jobs`; for nothing
    where no pod is missing. Raises nothing: it is detail.
    """
    name = _first_short(workload, pods) if workload.phase in _LIVING else ""
    if not name:
        return ""
    try:
        job = find_job(api, name) if jobs is None else _named(jobs, name)
        if job is None or stranger(job, workload.name):
            return _job_refused(api, workload, name, job)
    except (ApiError, NetworkError):
        return ""
    return _pod_refused(api, job, name)


def _named(jobs: Iterable[Object], name: str) -> Object | None:
    return next((each for each in jobs if each["metadata"]["name"] == name), None)


def _first_short(workload: Workload, pods: Iterable[Object]) -> str:
    """The first Job with fewer pods than hosts; "" where there is none."""
    there = Counter(
        (podlib.label(pod, podlib.REPLICATED_JOB), podlib.label(pod, podlib.JOB_INDEX))
        for pod in pods
        if podlib.is_alive(pod) or podlib.phase(pod) == "Succeeded"
    )
    roles = [role for role in (workload.head, *workload.workers) if role]
    places = ((role, index) for role in roles for index in range(role.replicas))
    short = (role.job(workload.name, index) for role, index in places if there[role.name, str(index)] < role.hosts)
    return next(short, "")


def _job_refused(api: Api, workload: Workload, name: str, found: Object | None) -> str:
    """`found` is somebody else's Job of that name, None where none has been seen."""
    told = events_about(api, workload.uid, reason=JOB_REFUSED)
    last = latest(event for event in told if f'"{name}"' in message(event))
    if last is None:
        return ""
    if not _is_passing(last):
        return f"Job {name} is not created: {_words(last)}"
    keeper = stranger(found or find_job(api, name), workload.name)
    return f"Job {name} is not created: {keeper}" if keeper else ""


def _pod_refused(api: Api, job: Object, name: str) -> str:
    told = events_about(api, podlib.uid(job))
    last = latest(event for event in told if event.get("reason") in (POD_REFUSED, POD_CREATED))
    # Whoever was refused before a pod was created is not any more
    refused = last and last["reason"] == POD_REFUSED and not _is_passing(last)
    return f"Job {name} lacks pods: {_unnamed(_words(last), name)}" if last and refused else ""


def _unnamed(words: str, job: str) -> str:
    """The words without the random end of a refused pod's name: each try has another, and the reason is the same."""
    return re.sub(rf'"({re.escape(job)}-(?:[0-9]+-)?)[a-z0-9]{{5}}"', r'"\1"', words)


def _is_passing(event: Object) -> bool:
    return any(words in message(event) for words in PASSING)


def _words(event: Object) -> str:
    return reason_and_message({"reason": event.get("reason"), "message": message(event)})
