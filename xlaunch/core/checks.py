"""Whether a manifest is a JobSet that the API server and JobSet's webhook will take: one sentence if not.

The rules are those of JobSet v0.12 pkg/webhooks/jobset_webhook.go and of the CRD, as far as they can be broken by a
template, a patch or a value; their messages are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xlaunch.core import jobset_fields, pod_checks
from xlaunch.core.budget import MAX_INT32
from xlaunch.core.claims import claims
from xlaunch.core.errors import UsageError
from xlaunch.core.names import (
    LABEL_LENGTH,
    coordinator_address,
    is_dns1035_label,
    is_dns1123_label,
    longest_name,
)

API_VERSION, KIND = "jobset.x-k8s.io/v1alpha2", "JobSet"
ACTIONS = (
    "FailJobSet",
    "RestartJobSet",
    "RestartJobSetAndIgnoreMaxRestarts",
    "RestartJob",
    "RestartJobAndIgnoreMaxRestarts",
)
REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
STRATEGIES = ("Recreate", "BlockingRecreate", "InPlaceRestart")
_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
# etcd's --max-request-bytes is 1.5 MiB; the server adds managedFields
LARGEST = 1_200_000


def check(manifest: Mapping[str, Any]) -> None:
    """Raises UsageError with the first problem of a manifest, and how many more there are."""
    found = list(jobset_fields.problems(manifest)) or list(_problems(manifest))
    if found:
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        raise UsageError(
            f"The manifest is not a valid JobSet: {found[0]}{more}",
            why="Nothing was submitted",
            next="Correct the value, the template or the patch that it comes from",
            reason="InvalidManifest",
        )


def _problems(manifest: Mapping[str, Any]) -> Iterator[str]:
    if (manifest.get("apiVersion"), manifest.get("kind")) != (API_VERSION, KIND):
        yield f"apiVersion and kind are not {API_VERSION} {KIND}"
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    name = metadata.get("name") or ""
    if not is_dns1035_label(name):
        yield f"metadata.name is {name!r}, which can't be the name of a JobSet"
    if metadata.get("namespace") is not None and not is_dns1123_label(metadata["namespace"]):
        yield f"metadata.namespace is {metadata['namespace']!r}, which can't be the name of a namespace"
    yield from pod_checks.metadata_problems(metadata, "metadata")
    jobs = spec.get("replicatedJobs") or []
    if not jobs:
        yield "spec.replicatedJobs is empty"
    known: dict[str, Mapping[str, Any]] = {}
    claimed = claims(name, spec)
    for index, job in enumerate(jobs):
        yield from _job_problems(name, job, f"spec.replicatedJobs[{index}]", known, claimed)
        known[job.get("name") or ""] = job
    yield from _coordinator_problems(name, spec, known)
    yield from _policy_problems(spec, known)
    if _size(manifest) > LARGEST:
        yield "it is larger than the 1.2 MB that fit into one object"


def _job_problems(
    name: str, job: Mapping[str, Any], path: str, known: Mapping[str, Any], claimed: Iterable[str]
) -> Iterator[str]:
    role = job.get("name") or ""
    if not is_dns1035_label(role):
        yield f"{path}.name is {role!r}, which can't be a name"
    if role in known:
        yield f"{path}.name {role} is taken by another replicated job"
    spec = (job.get("template") or {}).get("spec") or {}
    replicas, pods = _or(job.get("replicas"), 1), _pods(spec)
    numbers = {
        "replicas": replicas,
        **{key: spec.get(key) for key in ("completions", "parallelism", "backoffLimit")},
    }
    for key, number in numbers.items():
        if number is not None and not 0 <= number <= MAX_INT32:
            yield f"{path}: {key} {number} is not between 0 and {MAX_INT32}"
            return
    if replicas * _or(spec.get("parallelism"), 1) > MAX_INT32:
        yield f"{path} has more than {MAX_INT32} pods"
    limit = longest_name(role, max(replicas, 1), max(pods, 1))
    if len(name) > limit:
        yield f"metadata.name has {len(name)} characters, and the names of the pods of {role} leave room for {limit}"
    template = spec.get("template") or {}
    if spec.get("podFailurePolicy") and (template.get("spec") or {}).get("restartPolicy") != "Never":
        yield f"{path} has a podFailurePolicy, which needs the restartPolicy Never"
    yield from pod_checks.metadata_problems(
        (job.get("template") or {}).get("metadata") or {}, f"{path}.template.metadata"
    )
    yield from pod_checks.problems(template, f"{path}.template.spec.template", claimed)


def _coordinator_problems(name: str, spec: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    subdomain = (spec.get("network") or {}).get("subdomain") or ""
    if subdomain and not is_dns1035_label(subdomain):
        yield f"spec.network.subdomain is {subdomain!r}, which can't be the name of a Service"
    coordinator = spec.get("coordinator")
    if not coordinator:
        return
    role = coordinator.get("replicatedJob") or ""
    if role not in known:
        yield f"spec.coordinator names the replicated job {role!r}, which there is not"
        return
    job = known[role]
    job_index, pod_index = _or(coordinator.get("jobIndex"), 0), _or(coordinator.get("podIndex"), 0)
    job_spec = (job.get("template") or {}).get("spec") or {}
    if not 0 <= job_index < _or(job.get("replicas"), 1) or not 0 <= pod_index < _pods(job_spec):
        yield f"spec.coordinator names the pod {job_index}/{pod_index}, which {role} does not have"
    if job_spec.get("completionMode", "Indexed") != "Indexed":
        yield f"spec.coordinator names {role}, which is not Indexed"
    address = coordinator_address(name, role, job_index, pod_index, subdomain)
    if len(address) > LABEL_LENGTH:
        yield f"the coordinator's address {address} has {len(address)} characters, and labels have at most 63"


def _policy_problems(spec: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    success = spec.get("successPolicy") or {}
    if success and success.get("operator") not in ("All", "Any"):
        yield f"spec.successPolicy.operator is {success.get('operator')!r}, not All or Any"
    failure = spec.get("failurePolicy") or {}
    if failure.get("restartStrategy", "Recreate") not in STRATEGIES:
        yield f"spec.failurePolicy.restartStrategy is not one of {', '.join(STRATEGIES)}"
    if not 0 <= _or(failure.get("maxRestarts"), 0) <= MAX_INT32:
        yield f"spec.failurePolicy.maxRestarts is not between 0 and {MAX_INT32}"
    targets = list(success.get("targetReplicatedJobs") or ())
    names: set[str] = set()
    for index, rule in enumerate(failure.get("rules") or ()):
        place = f"spec.failurePolicy.rules[{index}]"
        targets += rule.get("targetReplicatedJobs") or ()
        if rule.get("action") not in ACTIONS:
            yield f"{place}.action is {rule.get('action')!r}, not one of {', '.join(ACTIONS)}"
        if unknown := set(rule.get("onJobFailureReasons") or ()) - set(REASONS):
            yield f"{place}.onJobFailureReasons has {min(unknown)!r}"
        rule_name = rule.get("name") or f"failurePolicyRule{index}"
        if not _RULE_NAME.fullmatch(rule_name) or len(rule_name) > 128 or rule_name in names:
            yield f"{place}.name is {rule_name!r}, which is no name or taken by another rule"
        names.add(rule_name)
    for target in targets:
        if target not in known:
            yield f"a policy names the replicated job {target!r}, which there is not"
    order = (spec.get("startupPolicy") or {}).get("startupPolicyOrder", "AnyOrder")
    if order not in ("InOrder", "AnyOrder"):
        yield f"spec.startupPolicy.startupPolicyOrder is {order!r}, not InOrder or AnyOrder"
    if order == "InOrder" and any(job.get("dependsOn") for job in known.values()):
        yield "spec has both startupPolicy InOrder and dependsOn, which exclude each other"
    if not 0 <= _or(spec.get("ttlSecondsAfterFinished"), 0) <= MAX_INT32:
        yield f"spec.ttlSecondsAfterFinished is not between 0 and {MAX_INT32}"


def _pods(job_spec: Mapping[str, Any]) -> int:
    return int(_or(job_spec.get("completions"), _or(job_spec.get("parallelism"), 1)))


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _size(manifest: Mapping[str, Any]) -> int:
    import json

    return len(json.dumps(manifest))
