"""The child Jobs and the headless Service of a JobSet (JobSet v0.12.0, pkg/controllers/jobset_controller.go)."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from xlaunch.core.names import job_name
from xlaunch.core.pods import JOB_INDEX, JOB_RESTART_ATTEMPT, JOBSET_NAME, JOBSET_UID, REPLICATED_JOB, RESTART_ATTEMPT
from xlaunch.local.controllers.jobset.names import (
    API_VERSION,
    COORDINATOR,
    EXCLUSIVE_TOPOLOGY,
    GLOBAL_REPLICAS,
    GROUP_NAME,
    GROUP_REPLICAS,
    JOB_GLOBAL_INDEX,
    JOB_GROUP_INDEX,
    JOB_KEY,
    KIND,
    NAMESPACED_JOB,
    NO_SCHEDULE_TAINT,
    NODE_SELECTOR_STRATEGY,
    REPLICATED_JOB_REPLICAS,
    coordinator_endpoint,
    group_of,
    has_dns_hostnames,
    job_key,
    replicas_of,
    replicated_jobs,
    subdomain,
)
from xlaunch.local.controllers.jobset.status import job_restarts
from xlaunch.local.gates import RESTART_JOB
from xlaunch.local.kube import Object
from xlaunch.local.objects import annotations_of, controller_reference, status_of, uid_of


def child_job(jobset: Object, replicated: Object, index: int, gates: Collection[str] = ()) -> Object:
    """One child Job of the JobSet's current attempt."""
    template = copy.deepcopy(replicated["template"])
    name = job_name(jobset["metadata"]["name"], replicated["name"], index)
    namespace = jobset["metadata"]["namespace"]
    labels = _labels(jobset, replicated, index, gates)
    marks = {**labels, **_placement(jobset, template)}
    job_meta = template.get("metadata") or {}
    annotations = {**(job_meta.get("annotations") or {}), **marks}
    spec = template["spec"]
    pod_template = spec["template"]
    pod_meta = pod_template.get("metadata") or {}
    pod_template["metadata"] = {
        **pod_meta,
        "labels": {**(pod_meta.get("labels") or {}), **labels},
        "annotations": {**(pod_meta.get("annotations") or {}), **marks},
    }
    if has_dns_hostnames(jobset):
        pod_template["spec"]["subdomain"] = subdomain(jobset)
    if EXCLUSIVE_TOPOLOGY in annotations and NODE_SELECTOR_STRATEGY in annotations:
        pod_template["spec"].setdefault("nodeSelector", {})[NAMESPACED_JOB] = f"{namespace}_{name}"
        toleration = {"key": NO_SCHEDULE_TAINT, "operator": "Exists", "effect": "NoSchedule"}
        pod_template["spec"].setdefault("tolerations", []).append(toleration)
    spec["suspend"] = bool(jobset["spec"].get("suspend"))
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**(job_meta.get("labels") or {}), **labels},
            "annotations": annotations,
            "ownerReferences": [controller_reference(jobset, API_VERSION, KIND)],
        },
        "spec": spec,
    }


def headless_service(jobset: Object) -> Object:
    """The Service that gives the pods their DNS names."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": subdomain(jobset),
            "namespace": jobset["metadata"]["namespace"],
            "ownerReferences": [controller_reference(jobset, API_VERSION, KIND)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {JOBSET_NAME: jobset["metadata"]["name"]},
            "publishNotReadyAddresses": jobset["spec"]["network"].get("publishNotReadyAddresses", True),
        },
    }


def _labels(jobset: Object, replicated: Object, index: int, gates: Collection[str]) -> dict[str, str]:
    """What JobSet writes as labels and as annotations, on the Job and on its pods."""
    jobs = replicated_jobs(jobset)
    group = [job for job in jobs if group_of(job) == group_of(replicated)]
    meta = jobset["metadata"]
    labels = {
        JOBSET_NAME: meta["name"],
        JOBSET_UID: uid_of(jobset),
        REPLICATED_JOB: replicated["name"],
        RESTART_ATTEMPT: str(status_of(jobset).get("restarts", 0)),
        REPLICATED_JOB_REPLICAS: str(replicas_of(replicated)),
        GLOBAL_REPLICAS: str(sum(replicas_of(job) for job in jobs)),
        JOB_INDEX: str(index),
        JOB_KEY: job_key(meta["namespace"], job_name(meta["name"], replicated["name"], index)),
        JOB_GLOBAL_INDEX: str(_index_among(jobs, replicated, index)),
        GROUP_NAME: group_of(replicated),
        GROUP_REPLICAS: str(sum(replicas_of(job) for job in group)),
        JOB_GROUP_INDEX: str(_index_among(group, replicated, index)),
    }
    if RESTART_JOB in gates:
        statuses = status_of(jobset).get("replicatedJobsStatus") or ()
        labels[JOB_RESTART_ATTEMPT] = str(job_restarts(statuses, replicated)[index])
    if jobset["spec"].get("coordinator"):
        labels[COORDINATOR] = coordinator_endpoint(jobset)
    return labels


def _index_among(jobs: Any, replicated: Object, index: int) -> int:
    """The Job's index when all Jobs of these replicated jobs are numbered in the order of the spec."""
    before = 0
    for job in jobs:
        if job["name"] == replicated["name"]:
            break
        before += replicas_of(job)
    return before + index


def _placement(jobset: Object, template: Mapping[str, Any]) -> dict[str, str]:
    """The annotations of exclusive placement: the replicated job's own, else the JobSet's."""
    found: dict[str, str] = {}
    for asked in (annotations_of(jobset), (template.get("metadata") or {}).get("annotations") or {}):
        if EXCLUSIVE_TOPOLOGY in asked:
            found[EXCLUSIVE_TOPOLOGY] = asked[EXCLUSIVE_TOPOLOGY]
            if NODE_SELECTOR_STRATEGY in asked:
                found[NODE_SELECTOR_STRATEGY] = asked[NODE_SELECTOR_STRATEGY]
    return found
