"""The two writes to a pod that have endpoints of their own: binding it to a node, and evicting it."""

from __future__ import annotations

from typing import Any

from xlaunch.local.apiserver.bodies import metadata_of
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.kube import Object, StatusError
from xlaunch.local.objects import with_condition


def _with(pod: Object, kind: str, **values: Any) -> Object:
    """The pod with one condition that holds from now on."""
    status = pod.get("status", {})
    conditions = with_condition(status.get("conditions", []), {"type": kind, "status": "True", **values})
    return {**pod, "status": {**status, "conditions": conditions}}


def bound(pod: Object, binding: Any, now: str) -> Object:
    """The pod on the node that a Binding names (kubernetes v1.37, pkg/registry/core/pod/storage/storage.go)."""
    name = pod["metadata"]["name"]
    target = binding.get("target") if isinstance(binding, dict) else None
    node = target.get("name") if isinstance(target, dict) else None
    if not node:
        raise StatusError(422, "Invalid", f'Binding "{name}" is invalid: target.name: Required value')
    if pod["spec"].get("schedulingGates"):
        raise BY_NAME["pods"].conflict(name, f"pod {name} has non-empty .spec.schedulingGates", "binding")
    if "deletionTimestamp" in pod["metadata"]:
        raise BY_NAME["pods"].conflict(name, f"pod {name} is being deleted, cannot be assigned to a host", "binding")
    if assigned := pod["spec"].get("nodeName"):
        raise BY_NAME["pods"].conflict(name, f'pod {name} is already assigned to node "{assigned}"', "binding")
    if uid := metadata_of(binding).get("uid"):
        pod = {**pod, "metadata": {**pod["metadata"], "uid": uid}}
    scheduled = _with(pod, "PodScheduled", lastTransitionTime=now)
    return {**scheduled, "spec": {**pod["spec"], "nodeName": node}}


def evicted(pod: Object, now: str) -> Object:
    """The pod marked as the Eviction API marks it (pkg/registry/core/pod/storage/eviction.go)."""
    return _with(
        pod,
        "DisruptionTarget",
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
        lastTransitionTime=now,
        observedGeneration=pod["metadata"].get("generation"),
    )
