"""When a lost pod counts, and when restarts do (Kubernetes 1.37, pkg/controller/job/pod_failure_policy.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.core.pods import in_place_restarts, is_lost, phase
from xlaunch.local.kube import Object
from xlaunch.local.objects import status_of


@dataclass(frozen=True)
class Verdict:
    """What a Job's podFailurePolicy says of one failed pod.

    `counts`: towards the backoffLimit. `message` is set where the rule ends the whole Job.
    """

    counts: bool = True
    message: str = ""


def only_replaces_failed(job: Mapping[str, Any]) -> bool:
    """Whether a pod is replaced only once it has ended, instead of when its deletion begins."""
    return bool(job["spec"].get("podReplacementPolicy") == "Failed")


def is_failed(pod: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    """Whether the Job takes the pod for lost: it failed, or it is being deleted and did not succeed before."""
    return phase(pod) == "Failed" if only_replaces_failed(job) else is_lost(pod)


def judge(job: Mapping[str, Any], pod: Mapping[str, Any]) -> Verdict:
    """The verdict of the first rule of the podFailurePolicy that matches; without one the failure counts."""
    rules = (job["spec"].get("podFailurePolicy") or {}).get("rules") or ()
    for index, rule in enumerate(rules):
        cause = _match(rule, pod)
        if not cause:
            continue
        if rule["action"] == "FailJob":
            return Verdict(message=f"{cause} matching FailJob rule at index {index}")
        return Verdict(counts=rule["action"] != "Ignore")
    return Verdict()


def _match(rule: Mapping[str, Any], pod: Mapping[str, Any]) -> str:
    """What of the pod matches the rule, as the Job's failure message says it; "" for nothing."""
    where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    codes = rule.get("onExitCodes")
    if codes is not None:
        for entry in _container_statuses(pod):
            code = ((entry.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
            wanted = codes.get("containerName") in (None, entry["name"])
            if code and wanted and (code in codes["values"]) == (codes["operator"] == "In"):
                return f"Container {entry['name']} for pod {where} failed with exit code {code}"
        return ""
    patterns = {(entry["type"], entry.get("status", "True")) for entry in rule.get("onPodConditions") or ()}
    for entry in status_of(pod).get("conditions") or ():
        if (entry["type"], entry.get("status")) in patterns:
            return f"Pod {where} has condition {entry['type']}"
    return ""


def past_restart_limit(job: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], limit: int) -> bool:
    """The test of restarts in place: with OnFailure, all restarts of live pods together, sidecars included.

    It stands beside the test of lost pods; the two are not added. A limit of 0 allows no restart.
    """
    if job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(in_place_restarts(pod) for pod in pods if phase(pod) in ("Running", "Pending"))
    return restarts > 0 if limit == 0 else restarts >= limit


def _container_statuses(pod: Mapping[str, Any]) -> Iterator[Object]:
    status = status_of(pod)
    yield from status.get("containerStatuses") or ()
    yield from status.get("initContainerStatuses") or ()
