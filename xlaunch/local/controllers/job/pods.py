"""The pod that a Job creates (Kubernetes 1.37, pkg/controller/job and controller_utils.go)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from xlaunch.core.pods import COMPLETION_INDEX, TRACKING_FINALIZER
from xlaunch.local.kube import Object
from xlaunch.local.objects import containers_of, controller_reference

API_VERSION, KIND = "batch/v1", "Job"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
# The API server appends five random characters
MAX_GENERATE_NAME = 58


def pod_for(job: Mapping[str, Any], index: int | None) -> Object:
    """The pod for one completion index, or for a Job that is not indexed (None)."""
    template = copy.deepcopy(job["spec"]["template"])
    meta = template.get("metadata") or {}
    labels, annotations = dict(meta.get("labels") or {}), dict(meta.get("annotations") or {})
    spec: Object = template["spec"]
    suffix = "-"
    if index is not None:
        labels[COMPLETION_INDEX] = annotations[COMPLETION_INDEX] = str(index)
        spec["hostname"] = f"{job['metadata']['name']}-{index}"
        suffix = f"-{index}-"
        for container in containers_of(spec):
            _add_index_variable(container)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": job["metadata"]["name"][: MAX_GENERATE_NAME - len(suffix)] + suffix,
            "namespace": job["metadata"]["namespace"],
            "labels": labels,
            "annotations": annotations,
            "finalizers": [*(meta.get("finalizers") or ()), TRACKING_FINALIZER],
            "ownerReferences": [controller_reference(job, API_VERSION, KIND)],
        },
        "spec": spec,
    }


def _add_index_variable(container: Object) -> None:
    env = container.setdefault("env", [])
    if any(variable["name"] == INDEX_VARIABLE for variable in env):
        return
    field = {"apiVersion": "v1", "fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}
    env.append({"name": INDEX_VARIABLE, "valueFrom": {"fieldRef": field}})
