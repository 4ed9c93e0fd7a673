"""When a namespace has come to rest: nothing is missing, nothing is on its way out, every counter is up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"


def at_rest(found: Mapping[str, Sequence[Object]]) -> bool:
    """Whether nothing waits for anything, by the objects of a namespace."""
    if is_ending(found):
        return False
    pods = found["pods"]
    jobs_rest = all(_job_rests(each, pods) for each in found["jobs"])
    return jobs_rest and all(map(_pod_rests, pods)) and all(_jobset_rests(each, found) for each in found["jobsets"])


def is_ending(found: Mapping[str, Sequence[Object]]) -> bool:
    """Whether anything is being deleted."""
    return any("deletionTimestamp" in each["metadata"] for items in found.values() for each in items)


def _holds(obj: Object, kind: str) -> bool:
    conditions = obj.get("status", {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _ended(pod: Object) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def _pod_rests(pod: Object) -> bool:
    return _ended(pod) or _holds(pod, "Ready")


def _job_rests(job: Object, pods: Sequence[Object]) -> bool:
    spec, status = job["spec"], job.get("status", {})
    if _holds(job, "Complete") or _holds(job, "Failed"):
        return "ttlSecondsAfterFinished" not in spec
    if _holds(job, "FailureTarget") or _holds(job, "SuccessCriteriaMet") or _uncounted(status):
        return False
    active = [each for each in pods if _owner(each) == job["metadata"]["uid"] and not _ended(each)]
    if spec.get("suspend"):
        return not active and _holds(job, "Suspended")
    wanted = min(spec.get("parallelism", 1), spec.get("completions", 1) - status.get("succeeded", 0))
    return len(active) == status.get("active", 0) == status.get("ready", 0) == wanted


def _uncounted(status: Object) -> bool:
    return any(status.get("uncountedTerminatedPods", {}).values())


def _owner(obj: Object) -> str:
    references = obj["metadata"].get("ownerReferences") or ()
    return next((each["uid"] for each in references if each.get("controller")), "")


def _jobset_rests(jobset: Object, found: Mapping[str, Sequence[Object]]) -> bool:
    status = jobset.get("status", {})
    if status.get("terminalState"):
        return "ttlSecondsAfterFinished" not in jobset["spec"]
    if _holds(jobset, "RestartingJobSet"):
        return False
    if jobset["spec"].get("suspend"):
        return _holds(jobset, "Suspended")
    attempt = str(status.get("restarts", 0))
    jobs = [each for each in found["jobs"] if each["metadata"].get("labels", {}).get(ATTEMPT) == attempt]
    return len(jobs) == sum(each.get("replicas", 1) for each in jobset["spec"]["replicatedJobs"])
