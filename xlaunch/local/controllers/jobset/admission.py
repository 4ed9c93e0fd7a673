"""JobSet's own admission: defaults, refusals, immutability (JobSet v0.12.0, pkg/webhooks/jobset_webhook.go)."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from xlaunch.core.names import job_name
from xlaunch.local import managers
from xlaunch.local.controllers.jobset.names import (
    COORDINATOR,
    GROUP,
    KIND,
    coordinator_endpoint,
    group_of,
    replicas_of,
    replicated_jobs,
)
from xlaunch.local.controllers.jobset.refusals import denied, internal
from xlaunch.local.controllers.jobset.rules import failure_policy_errors
from xlaunch.local.kube import Kube, Object
from xlaunch.local.names import dns_1035_label, label_value
from xlaunch.local.names import subdomain as dns_subdomain
from xlaunch.local.objects import without_empties
from xlaunch.local.problems import Problem, invalid, refusal

WEBHOOK = "vjobset.kb.io"
MAX_INT32 = 2**31 - 1
# What Kueue may set while the JobSet is suspended
POD_SPEC_WHILE_SUSPENDED = ("nodeSelector", "tolerations", "schedulingGates")
POD_META_WHILE_SUSPENDED = ("labels", "annotations")
TOO_LONG = "must be no more than 63 characters"


async def default(_kube: Kube, new: Object, old: Object | None) -> Object:
    """The mutating webhook: defaults for a new JobSet; those of the CRD are there."""
    jobset = copy.deepcopy(new)
    jobset.setdefault("spec", {})
    return jobset if old is not None else defaulted(jobset)


def defaulted(jobset: Object) -> Object:
    """A new JobSet with the defaults that do not come from the CRD; changes the one that it is given."""
    spec = jobset["spec"]
    spec.setdefault("successPolicy", {"operator": "All"})
    spec.setdefault("startupPolicy", {"startupPolicyOrder": "AnyOrder"})
    for replicated in replicated_jobs(jobset):
        job_template = replicated.setdefault("template", {})
        job = job_template.setdefault("spec", {})
        job.setdefault("completionMode", "Indexed")
        pod_template = job.setdefault("template", {})
        pod = pod_template.setdefault("spec", {})
        for template in (job_template, pod_template):  # which Go always writes
            template.setdefault("metadata", {})
        if not pod.get("restartPolicy"):
            pod["restartPolicy"] = "OnFailure"
    network = spec.setdefault("network", {})
    network.setdefault("enableDNSHostnames", True)
    network.setdefault("publishNotReadyAddresses", True)
    for index, rule in enumerate((spec.get("failurePolicy") or {}).get("rules") or ()):
        if not rule.get("name"):
            rule["name"] = f"failurePolicyRule{index}"
    return jobset


async def validate(_kube: Kube, new: Object, old: Object | None, *, gates: Collection[str] = ()) -> Object:
    """Refuses what the validating webhook refuses: 422 with causes. The CRD's own rules have held before."""
    errors = list(_create_errors(new, gates) if old is None else _update_errors(new, old))
    if errors:
        raise denied(WEBHOOK, refusal(GROUP, KIND, new["metadata"]["name"], errors))
    return new


def _create_errors(jobset: Object, gates: Collection[str]) -> Iterator[Problem]:
    spec = jobset["spec"]
    jobs = replicated_jobs(jobset)
    if (spec.get("failurePolicy") or {}).get("restartStrategy") == "InPlaceRestart":
        yield internal("InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled")
    if jobs and jobs[0].get("dependsOn") is not None:
        yield internal("DependsOn can't be set for the first ReplicatedJob")
    yield from _subdomain_errors((spec.get("network") or {}).get("subdomain", ""))
    if (manager := spec.get("managedBy")) is not None:
        yield from managers.check(manager)
    seen: list[str] = []
    for index, replicated in enumerate(jobs):
        seen.append(replicated["name"])
        yield from _replicated_job_errors(jobset["metadata"].get("name", ""), index, replicated, seen)
    for target in (spec.get("successPolicy") or {}).get("targetReplicatedJobs") or ():
        if target not in seen:
            yield internal(f"invalid replicatedJob name '{target}' does not appear in .spec.ReplicatedJobs")
    yield from failure_policy_errors((spec.get("failurePolicy") or {}).get("rules") or (), jobs, gates)
    if spec.get("coordinator"):
        yield from _coordinator_errors(jobset)


def _subdomain_errors(subdomain: str) -> Iterator[Problem]:
    if not subdomain:
        return
    for wrong in dns_subdomain(subdomain):
        yield invalid("spec.network.subdomain", subdomain, wrong)
    for wrong in dns_1035_label(subdomain):
        detail = ".spec.network.subdomain is too long, must be less than 63 characters" if wrong == TOO_LONG else wrong
        yield invalid("spec.network.subdomain", subdomain, detail)


def _replicated_job_errors(
    jobset: str, index: int, replicated: Mapping[str, Any], seen: Sequence[str]
) -> Iterator[Problem]:
    field = f"spec.replicatedJobs[{index}]"
    name, replicas, job = replicated["name"], replicas_of(replicated), replicated["template"]["spec"]
    if job.get("parallelism", 1) * replicas > MAX_INT32:
        yield internal(
            f"the product of replicas and parallelism must not exceed {MAX_INT32} for replicatedJob '{name}'"
        )
    for wrong in dns_1035_label(group_of(replicated)):
        detail = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters"
        yield invalid(f"{field}.groupName", group_of(replicated), detail if wrong == TOO_LONG else wrong)
    longest_job = job_name(jobset, name, replicas - 1)
    names = [(longest_job, "job")]
    if job.get("completionMode") == "Indexed" and job.get("completions") is not None:
        # Pod names end in a dash and five random characters
        names.append((f"{longest_job}-{job['completions'] - 1}-abcde", "pod"))
    for generated, what in names:
        for wrong in dns_1035_label(generated):
            detail = f"JobSet name is too long, {what} names generated for this JobSet will exceed 63 characters"
            yield invalid(f"{field}.name", longest_job, detail if wrong == TOO_LONG else wrong)
    for dependency in replicated.get("dependsOn") or ():
        if dependency["name"] not in seen:
            yield internal(f"replicatedJob: {name} cannot depend on replicatedJob: {dependency['name']}")


def _coordinator_errors(jobset: Object) -> Iterator[Problem]:
    coordinator = jobset["spec"]["coordinator"]
    wrong = _coordinator_error(coordinator, replicated_jobs(jobset))
    if wrong:
        yield internal(wrong)
    endpoint = coordinator_endpoint(jobset)
    problems = label_value(endpoint)
    if problems:
        yield internal(
            f'spec will lead to invalid label value "{endpoint}" for coordinator label "{COORDINATOR}" (long JobSet /'
            f" ReplicatedJob / SubDomain name?): {', '.join(problems)}"
        )


def _coordinator_error(coordinator: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> str:
    name = coordinator["replicatedJob"]
    job_index, pod_index = coordinator.get("jobIndex", 0), coordinator.get("podIndex", 0)
    replicated = next((job for job in jobs if job["name"] == name), None)
    if replicated is None:
        return f"coordinator replicatedJob {name} does not exist"
    if not 0 <= job_index < replicas_of(replicated):
        return f"coordinator job index {job_index} is invalid for replicatedJob {name}"
    job = replicated["template"]["spec"]
    if job.get("completionMode") != "Indexed" or job.get("completions") is None:
        return "job for coordinator pod must be indexed completion mode, and completions number must be set"
    if not 0 <= pod_index < job["completions"]:
        return f"coordinator pod index {pod_index} is invalid for replicatedJob {name} job index {job_index}"
    return ""


def _update_errors(new: Object, old: Object) -> Iterator[Problem]:
    compared = copy.deepcopy(new["spec"])
    if old["spec"].get("suspend") or compared.get("suspend"):
        before = {replicated["name"]: replicated for replicated in replicated_jobs(old)}
        for replicated in compared.get("replicatedJobs") or ():
            if replicated["name"] in before:
                _take_pod_template(replicated, before[replicated["name"]])
    if without_empties(compared.get("replicatedJobs")) != without_empties(old["spec"].get("replicatedJobs")):
        yield invalid("spec.replicatedJobs", compared.get("replicatedJobs"), "field is immutable")
    if compared.get("managedBy") != old["spec"].get("managedBy"):
        yield invalid("spec.managedBy", compared.get("managedBy"), "field is immutable")


def _take_pod_template(replicated: Object, old: Mapping[str, Any]) -> None:
    """Leaves out of the comparison what may change while suspended, by taking the old values."""
    pod, pod_before = replicated["template"]["spec"]["template"], old["template"]["spec"]["template"]
    for part, fields in (("metadata", POD_META_WHILE_SUSPENDED), ("spec", POD_SPEC_WHILE_SUSPENDED)):
        kept = {name: value for name, value in (pod.get(part) or {}).items() if name not in fields}
        taken = {name: value for name, value in (pod_before.get(part) or {}).items() if name in fields}
        pod[part] = {**kept, **taken}
    if not pod["metadata"] and "metadata" not in pod_before:
        del pod["metadata"]
