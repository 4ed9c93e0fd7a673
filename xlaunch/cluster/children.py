"""What JobSet and the Job controller would make of a JobSet, for a server to look at before it is made.

JobSet's webhook does not look into pods, and a refused child Job shows only as an event of a JobSet that stays without
pods. The Jobs are those of the embedded cluster's controllers, which follow JobSet v0.12.0 and Kubernetes 1.37.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from xlaunch.core.claims import claims
from xlaunch.core.names import job_name

Object = dict[str, Any]

# By these JobSet finds its pods; its webhook refuses a follower whose leader is not there
_JOBSET_KEYS = ("jobset.sigs.k8s.io/", "alpha.jobset.sigs.k8s.io/")


@dataclass(frozen=True)
class Children:
    """The Jobs of one replicated job: `replicas` of them, each made when it is asked for.

    They have no owner: in a dry run there is none, and Kueue's webhook looks it up (Kueue v0.17.0
    pkg/controller/jobframework/reconciler.go FindAncestorJobManagedByKueue).
    """

    jobset: Object
    replicated: Object
    replicas: int

    def name(self, index: int) -> str:
        """The name of the Job of that index."""
        return job_name(self.jobset["metadata"]["name"], self.replicated["name"], index)

    def job(self, index: int) -> Object:
        """The Job of that index."""
        from xlaunch.local.controllers.jobset.build import child_job

        return _with_claims(_without_owner(child_job(self.jobset, self.replicated, index)), self.jobset)


def children(jobset: Mapping[str, Any]) -> Iterator[Children]:
    """Those of each replicated job that has replicas. The JobSet may be one that no webhook has defaulted."""
    from xlaunch.local.controllers.jobset.admission import defaulted
    from xlaunch.local.controllers.jobset.names import replicas_of, replicated_jobs

    jobset = defaulted(deepcopy(dict(jobset)))
    for replicated in replicated_jobs(jobset):
        if replicas := replicas_of(replicated):
            yield Children(jobset, replicated, replicas)


def pod(job: Mapping[str, Any]) -> Object:
    """The Job's last pod, without JobSet's labels and annotations and without an owner."""
    from xlaunch.local.controllers.job.pods import pod_for

    spec = job["spec"]
    is_indexed = spec.get("completionMode") == "Indexed"
    made = _without_owner(pod_for(job, spec.get("completions", 1) - 1 if is_indexed else None))
    metadata = made["metadata"]
    for place in ("labels", "annotations"):
        kept = {key: value for key, value in metadata[place].items() if not key.startswith(_JOBSET_KEYS)}
        metadata[place] = kept
    return made


def _with_claims(job: Object, jobset: Mapping[str, Any]) -> Object:
    """The Job with those claims of the JobSet that it mounts (JobSet v0.12 volume_claim_policy.go addVolumes)."""
    spec = job["spec"]["template"]["spec"]
    containers = (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts") or ()}
    for volume, claim in claims(jobset["metadata"]["name"], jobset["spec"]).items():
        if volume in mounted:
            added = {"name": volume, "persistentVolumeClaim": {"claimName": claim}}
            spec["volumes"] = [*(spec.get("volumes") or ()), added]
    return job


def _without_owner(made: Object) -> Object:
    metadata = {key: value for key, value in made["metadata"].items() if key not in ("ownerReferences", "finalizers")}
    return {**made, "metadata": metadata}
