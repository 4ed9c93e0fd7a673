"""Writes that several controllers make, each safe against what others write at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xlaunch.core.merge_patch import difference
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import finalizers_of, is_terminal, key_of, status_of, uid_of, with_condition

ATTEMPTS = 5


async def write_status(kube: Kube, resource: str, obj: Object, status: Mapping[str, Any]) -> Object:
    """Writes a status that was made from `obj`; 409 where the object has changed since. Nothing new: no write."""
    patch = difference(status_of(obj), status)
    if not patch:
        return obj
    namespace, name = key_of(obj)
    body = {"metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]}, "status": patch}
    return await kube.patch(resource, name, body, namespace or None, subresource="status")


async def change(
    kube: Kube, resource: str, obj: Object, make: Callable[[Object], Object | None], *, subresource: str = ""
) -> Object | None:
    """Applies the merge patch that `make` gives for the latest version, again when another write came between.

    None where the object has gone or was replaced by another of its name; `make` returns None for nothing to do.
    """
    namespace, name = key_of(obj)
    for _ in range(ATTEMPTS):
        try:
            latest = await kube.get(resource, name, namespace or None)
            if uid_of(latest) != uid_of(obj):
                return None
            body = make(latest)
            if body is None:
                return latest
            version = {"resourceVersion": latest["metadata"]["resourceVersion"]}
            body = {**body, "metadata": {**body.get("metadata", {}), **version}}
            return await kube.patch(resource, name, body, namespace or None, subresource=subresource)
        except StatusError as error:
            if error.code == 404:
                return None
            if error.code != 409:
                raise
    raise StatusError(409, "Conflict", f"{resource} {name} kept changing")


async def remove_finalizer(kube: Kube, resource: str, obj: Object, finalizer: str) -> None:
    """Takes one finalizer off; an object that has gone is fine."""

    def without(latest: Object) -> Object | None:
        kept: Sequence[str] = [name for name in finalizers_of(latest) if name != finalizer]
        return None if len(kept) == len(finalizers_of(latest)) else {"metadata": {"finalizers": kept}}

    await change(kube, resource, obj, without)


async def delete(
    kube: Kube, resource: str, obj: Object, *, grace: int | None = None, propagation: str | None = None
) -> None:
    """Deletes this very object; one that has gone or was replaced is fine."""
    namespace, name = key_of(obj)
    try:
        await kube.delete(resource, name, namespace or None, grace=grace, propagation=propagation, uid=uid_of(obj))
    except StatusError as error:
        if error.code not in (404, 409):
            raise


async def disrupt(kube: Kube, pod: Object, reason: str, message: str, now: str) -> None:
    """Marks a pod as about to be ended from outside, with the reason that a Job's podFailurePolicy may look at."""
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    }

    def marked(latest: Object) -> Object:
        new = {**target, "observedGeneration": latest["metadata"].get("generation")}
        return {"status": {"conditions": with_condition(status_of(latest).get("conditions") or [], new)}}

    await change(kube, "pods", pod, marked, subresource="status")


async def end(kube: Kube, pod: Object, phase: str) -> None:
    """Gives a pod its last phase in the place of a node that cannot; one that has ended keeps its own."""

    def ended(latest: Object) -> Object | None:
        return None if is_terminal(latest) else {"status": {"phase": phase}}

    await change(kube, "pods", pod, ended, subresource="status")
