"""The two writes to a pod that have endpoints of their own: binding it to a node, and evicting it."""

from __future__ import annotations

from typing import Any

from xlaunch.local.apiserver.bodies import metadata_of
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.kube import Object, StatusError


def with_condition(pod: Object, kind: str, **values: str) -> Object:
    """The pod with one condition of its status set."""
    status = pod.get("status", {})
    others = [each for each in status.get("conditions", []) if each["type"] != kind]
    return {**pod, "status": {**status, "conditions": [*others, {"type": kind, **values}]}}


def bound(pod: Object, binding: Any, now: str) -> Object:
    """The pod on the node that a Binding names (kubernetes v1.37, pkg/registry/core/pod/storage/storage.go)."""
    name = pod["metadata"]["name"]
    target = binding.get("target") if isinstance(binding, dict) else None
    node = target.get("name") if isinstance(target, dict) else None
    if not node:
        raise StatusError(422, "Invalid", f'Binding "{name}" is invalid: target.name: Required value')
    if "deletionTimestamp" in pod["metadata"]:
        raise BY_NAME["pods"].conflict(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if assigned := pod["spec"].get("nodeName"):
        raise BY_NAME["pods"].conflict(name, f'pod {name} is already assigned to node "{assigned}"')
    if uid := metadata_of(binding).get("uid"):
        pod = {**pod, "metadata": {**pod["metadata"], "uid": uid}}
    scheduled = with_condition(pod, "PodScheduled", status="True", lastTransitionTime=now)
    return {**scheduled, "spec": {**pod["spec"], "nodeName": node}}


def evicted(pod: Object, now: str) -> Object:
    """The pod marked as the Eviction API marks it (pkg/registry/core/pod/storage/eviction.go)."""
    return with_condition(
        pod,
        "DisruptionTarget",
        status="True",
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
        lastTransitionTime=now,
    )
