"""Deletion: preconditions, finalizers of the garbage collector, and the grace period of pods.

Sources: kubernetes v1.37, staging/src/k8s.io/apiserver/pkg/registry/{rest/delete.go,generic/registry/store.go} and
pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from xlaunch.core.timestamps import stamp
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.kube import Object, StatusError
from xlaunch.local.objects import FOREGROUND, ORPHAN, is_terminal, node_of

_FINALIZER = {"Foreground": FOREGROUND, "Orphan": ORPHAN, "Background": ""}
PRESERVED = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
_KEPT_NAMESPACES = ("default", "kube-public", "kube-system")


@dataclass(frozen=True)
class DeleteOptions:
    """`grace` in seconds, None for the pod's own; `uid` and `resource_version` are preconditions."""

    grace: int | None = None
    propagation: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False


@dataclass(frozen=True)
class Deletion:
    """What a deletion makes of an object: its last or its new state, whether it is gone, and a warning or ""."""

    object: Object
    gone: bool
    warning: str = ""


def check(resource: Resource, old: Object, options: DeleteOptions) -> None:
    """409 for a precondition that does not hold, 403 for a namespace that must stay."""
    metadata = old["metadata"]
    name = metadata["name"]
    if options.uid not in (None, metadata["uid"]):
        why = f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
        why += "The object might have been deleted and then recreated"
        raise resource.lost(name, why)
    if options.resource_version not in (None, metadata["resourceVersion"]):
        why = f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
        why += f"ResourceVersion in record ({metadata['resourceVersion']}). The object might have been modified"
        raise resource.lost(name, why)
    if resource.plural == "namespaces" and name in _KEPT_NAMESPACES:
        why = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
        raise StatusError(403, "Forbidden", why, resource.details(name))


def delete(resource: Resource, old: Object, options: DeleteOptions, now: datetime) -> Deletion:
    """The object after a request to delete it. A shorter grace period than the running one replaces it."""
    metadata = dict(old["metadata"])
    policy = options.propagation or ("Orphan" if resource.plural == "jobs" else "Background")
    finalizers = [each for each in metadata.get("finalizers", []) if each not in (FOREGROUND, ORPHAN)]
    finalizers += filter(None, [_FINALIZER[policy]])
    if finalizers or "finalizers" in metadata:
        metadata["finalizers"] = finalizers
    grace = _grace(old, options.grace) if resource.plural == "pods" else 0
    running = metadata.get("deletionGracePeriodSeconds", 0) if "deletionTimestamp" in metadata else None
    if running is None or grace < running:
        ends = now + timedelta(seconds=grace)
        metadata |= {"deletionTimestamp": stamp(ends), "deletionGracePeriodSeconds": grace}
        if "generation" in metadata:
            metadata["generation"] += 1
    new = {**old, "metadata": metadata}
    if resource.plural == "namespaces":
        new["status"] = {**old.get("status", {}), "phase": "Terminating"}
    warning = PRESERVED if resource.plural == "jobs" and not options.propagation else ""
    return Deletion(new, not is_held(new), warning)


def is_held(obj: Object) -> bool:
    """Whether a finalizer, the namespace controller or a grace period keeps a deleted object from going."""
    metadata = obj["metadata"]
    spec: Object = obj.get("spec", {})
    return bool(metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds") or spec.get("finalizers"))


def _grace(pod: Object, asked: int | None) -> int:
    """Seconds that a pod may take: nothing where no kubelet has it, or where it has ended."""
    if not node_of(pod) or is_terminal(pod):
        return 0
    seconds = pod["spec"].get("terminationGracePeriodSeconds", 30) if asked is None else asked
    return 1 if seconds < 0 else seconds


def answer(resource: Resource, deletion: Deletion) -> Object:
    """What the API answers: the object of a kind that says so or that stays, otherwise a Status with its uid."""
    if resource.returns_object or not deletion.gone:
        return deletion.object
    metadata = deletion.object["metadata"]
    details = {**resource.details(metadata["name"]), "uid": metadata["uid"]}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
