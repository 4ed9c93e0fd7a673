"""JobSet's labels beyond those that core reads, and the names that it derives.

JobSet v0.12.0, api/jobset/v1alpha2 and pkg/util/placement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from xlaunch.core.names import coordinator_address
from xlaunch.local.kube import Object

GROUP = "jobset.x-k8s.io"
API_VERSION = f"{GROUP}/v1alpha2"
KIND = "JobSet"

PREFIX = "jobset.sigs.k8s.io/"
REPLICATED_JOB_REPLICAS = PREFIX + "replicatedjob-replicas"
GLOBAL_REPLICAS = PREFIX + "global-replicas"
JOB_KEY = PREFIX + "job-key"
JOB_GLOBAL_INDEX = PREFIX + "job-global-index"
GROUP_NAME = PREFIX + "group-name"
GROUP_REPLICAS = PREFIX + "group-replicas"
JOB_GROUP_INDEX = PREFIX + "job-group-index"
COORDINATOR = PREFIX + "coordinator"
PRIORITY = PREFIX + "priority"
EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
NODE_SELECTOR_STRATEGY = "alpha.jobset.sigs.k8s.io/node-selector"
NAMESPACED_JOB = "alpha.jobset.sigs.k8s.io/namespaced-job"
NO_SCHEDULE_TAINT = "alpha.jobset.sigs.k8s.io/no-schedule"


def replicated_jobs(jobset: Mapping[str, Any]) -> Sequence[Object]:
    """The replicated jobs in the order of the spec."""
    jobs: Sequence[Object] = jobset["spec"].get("replicatedJobs") or ()
    return jobs


def replicas_of(replicated: Mapping[str, Any]) -> int:
    """How many Jobs a replicated job has."""
    replicas: int = replicated.get("replicas", 1)
    return replicas


def group_of(replicated: Mapping[str, Any]) -> str:
    """The group that a replicated job belongs to."""
    group: str = replicated.get("groupName", "default")
    return group


def job_key(namespace: str, name: str) -> str:
    """What a child Job's pods are found by: short, and unique in the cluster."""
    return hashlib.sha1(f"{namespace}/{name}".encode(), usedforsecurity=False).hexdigest()


def subdomain(jobset: Mapping[str, Any]) -> str:
    """The name of the headless Service; the JobSet's own where none is given."""
    name: str = (jobset["spec"].get("network") or {}).get("subdomain") or jobset["metadata"].get("name", "")
    return name


def has_dns_hostnames(jobset: Mapping[str, Any]) -> bool:
    """Whether pods are to be reached by name."""
    return bool((jobset["spec"].get("network") or {}).get("enableDNSHostnames"))


def coordinator_endpoint(jobset: Mapping[str, Any]) -> str:
    """The DNS name of the coordinator's pod; the JobSet must have a coordinator."""
    given, network = jobset["spec"]["coordinator"], jobset["spec"].get("network") or {}
    job, pod = given.get("jobIndex", 0), given.get("podIndex", 0)
    name: str = jobset["metadata"]["name"]
    return coordinator_address(name, given["replicatedJob"], job, pod, network.get("subdomain", ""))
