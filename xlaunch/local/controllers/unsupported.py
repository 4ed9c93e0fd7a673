"""Saying no to features of Jobs, pods and JobSets that the embedded controllers do not have: never half an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.local.kube import Kube, Object, not_implemented

JOB_FIELDS = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")
POD_FIELDS = ("resourceClaims", "topologySpreadConstraints")
JOBSET_FIELDS = ("volumeClaimPolicies",)


async def refuse_jobset(_kube: Kube, new: Object, _old: Object | None) -> Object:
    """501 for a JobSet that asks for such a feature, in its own spec or in that of a child."""
    return _refuse(new, _of_jobset(new["spec"]))


async def refuse_job(_kube: Kube, new: Object, _old: Object | None) -> Object:
    """501 for a Job that asks for such a feature."""
    return _refuse(new, _of_job(new["spec"], "spec"))


async def refuse_pod(_kube: Kube, new: Object, _old: Object | None) -> Object:
    """501 for a pod that asks for such a feature."""
    return _refuse(new, _present(new["spec"], POD_FIELDS, "spec"))


def _refuse(obj: Object, asked: Iterator[str]) -> Object:
    for path in asked:
        raise not_implemented(path)
    return obj


def _of_jobset(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from _present(spec, JOBSET_FIELDS, "spec")
    for index, replicated in enumerate(spec.get("replicatedJobs") or ()):
        # Any part of a template may be missing here: that is checked after this
        template = (replicated.get("template") or {}).get("spec") or {}
        yield from _of_job(template, f"spec.replicatedJobs[{index}].template.spec")


def _of_job(spec: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _present(spec, JOB_FIELDS, path)
    yield from _present((spec.get("template") or {}).get("spec") or {}, POD_FIELDS, f"{path}.template.spec")


def _present(spec: Mapping[str, Any], fields: tuple[str, ...], path: str) -> Iterator[str]:
    yield from (f"{path}.{field}" for field in fields if spec.get(field))
