"""Reading Kubernetes objects as they are on the wire: names, owners, conditions, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from xlaunch.local.kube import Object

Key = tuple[str, str]
"""Namespace ("" for what has none) and name."""

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


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


def phase_of(pod: Mapping[str, Any]) -> str:
    """A Pod's phase; a Pod that no agent has seen yet is Pending."""
    phase: str = status_of(pod).get("phase") or "Pending"
    return phase


def is_terminal(pod: Mapping[str, Any]) -> bool:
    """Whether a Pod has come to its end."""
    return phase_of(pod) in ("Succeeded", "Failed")


def node_of(pod: Mapping[str, Any]) -> str:
    """The node that a Pod is bound to, "" while it waits."""
    node: str = (pod.get("spec") or {}).get("nodeName") or ""
    return node


def condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The condition of that type in a status."""
    for entry in status.get("conditions") or ():
        if entry["type"] == kind:
            found: Mapping[str, Any] = entry
            return found
    return None


def is_true(status: Mapping[str, Any], kind: str) -> bool:
    """Whether the condition of that type holds."""
    entry = condition(status, kind)
    return entry is not None and entry.get("status") == "True"


def with_condition(conditions: Sequence[Object], new: Object) -> list[Object]:
    """The conditions with `new` in the place of the one of its type.

    Its `lastTransitionTime` moves only when its status does, as in Kubernetes' `UpdatePodCondition`
    (pkg/api/v1/pod/util.go).
    """
    merged = []
    for old in conditions:
        if old["type"] != new["type"]:
            merged.append(old)
        elif old.get("status") == new.get("status"):
            merged.append({**old, **new, "lastTransitionTime": old.get("lastTransitionTime")})
        else:
            merged.append({**old, **new})
    if len(merged) == len(conditions) and not any(old["type"] == new["type"] for old in conditions):
        merged.append(new)
    return merged


def stamp(moment: datetime) -> str:
    """A time as Kubernetes writes it: whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(moment: datetime) -> str:
    """A time as `MicroTime` fields have it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(text: str) -> datetime:
    """The time that `stamp` or `micro_stamp` wrote."""
    return datetime.fromisoformat(text)


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Object:
    """The JSON merge patch (RFC 7386) that makes `after` of `before`; {} where they are equal."""
    patch: Object = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if key in before and value == old:
            continue
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            patch[key] = merge_patch(old, value)
        else:
            patch[key] = value
    return patch
