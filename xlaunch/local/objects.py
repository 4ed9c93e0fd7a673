"""Reading Kubernetes objects as they are on the wire: names, owners, conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.pods import phase
from xlaunch.local.kube import Object

Key = tuple[str, str]
"""Namespace ("" for what has none) and name."""

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
"""Finalizers of the garbage collector."""
LEASE_NAMESPACE = "kube-node-lease"
"""Where a node's Lease lies."""


def key_of(obj: Mapping[str, Any]) -> Key:
    """Where the object lives."""
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


def uid_of(obj: Mapping[str, Any]) -> str:
    """The object's UID, "" where it has none yet."""
    uid: str = obj["metadata"].get("uid", "")
    return uid


def labels_of(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """The object's labels."""
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """The object's annotations."""
    return obj["metadata"].get("annotations") or {}


def finalizers_of(obj: Mapping[str, Any]) -> Sequence[str]:
    """The object's finalizers."""
    return obj["metadata"].get("finalizers") or ()


def is_deleting(obj: Mapping[str, Any]) -> bool:
    """Whether somebody has asked for the object's deletion."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner reference of the one owner that manages the object."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            found: Mapping[str, Any] = reference
            return found
    return None


def is_controlled_by(obj: Mapping[str, Any], uid: str) -> bool:
    """Whether the object of that UID manages this one."""
    owner = controller_of(obj)
    return owner is not None and owner["uid"] == uid


def controller_reference(owner: Mapping[str, Any], api_version: str, kind: str) -> Object:
    """The owner reference that a controller writes into what it creates."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def status_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object's status, empty where nobody has written one."""
    return obj.get("status") or {}


def is_terminal(pod: Mapping[str, Any]) -> bool:
    """Whether a Pod has come to its end."""
    return phase(pod) in ("Succeeded", "Failed")


def node_of(pod: Mapping[str, Any]) -> str:
    """The node that a Pod is bound to, "" while it waits."""
    node: str = (pod.get("spec") or {}).get("nodeName") or ""
    return node


def containers_of(spec: Mapping[str, Any]) -> list[Object]:
    """The init containers and the main containers of a Pod's spec, in the order in which they start."""
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def taints_of(node: Mapping[str, Any]) -> Sequence[Object]:
    """A Node's taints."""
    return (node.get("spec") or {}).get("taints") or ()


def end_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The condition that ended a Job or JobSet; {} while it goes on."""
    status = status_of(obj)
    return next((condition(status, kind) for kind in ("Complete", "Completed", "Failed") if is_true(status, kind)), {})


def without_empties(value: Any) -> Any:
    """JSON-like data without empty maps and lists, which Kubernetes' semantic equality takes for absent."""
    if isinstance(value, Mapping):
        kept = {key: without_empties(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ({}, [], None)}
    return [without_empties(each) for each in value] if isinstance(value, list) else value


def with_condition(conditions: Sequence[Object], new: Object) -> list[Object]:
    """The conditions with `new` in the place of the one of its type.

    Its `lastTransitionTime` moves only when its status does, as in Kubernetes' `UpdatePodCondition`
    (pkg/api/v1/pod/util.go).
    """
    old = next((each for each in conditions if each["type"] == new["type"]), None)
    if old is None:
        return [*conditions, new]
    if old.get("status") == new.get("status"):
        new = {**new, "lastTransitionTime": old.get("lastTransitionTime")}
    return [new if each is old else each for each in conditions]
