"""What a cluster has before anybody uses it: namespaces and what belongs in them, priority classes, JobSet's CRD."""

from __future__ import annotations

import uuid
from typing import Any

from xlaunch.local.apiserver.resources import BY_NAME, DEFINITIONS, JOBSET
from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import JOBSET_VERSION, Object

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
# Kubernetes' own two, and those that `xpk cluster create` makes (xpk, src/xpk/templates/kueue_config.yaml.j2)
PRIORITY_CLASSES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
    "very-low": 100,
    "low": 250,
    "medium": 500,
    "high": 750,
    "very-high": 1000,
}


def put(store: Store, now: str, plural: str, name: str, namespace: str = "", **parts: Any) -> None:
    """Stores an object as if it had been created."""
    resource, labels = BY_NAME[plural], parts.pop("labels", None)
    metadata: Object = {"name": name, "uid": str(uuid.uuid4()), "creationTimestamp": now}
    metadata |= {"namespace": namespace} if namespace else {}
    metadata |= {"labels": labels} if labels else {}
    base = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    store.put(plural, (namespace, name), {**base, **parts})


def furnish(store: Store, now: str, namespace: str) -> None:
    """What the controllers of a real cluster put into every new namespace."""
    put(store, now, "serviceaccounts", "default", namespace)
    put(store, now, "configmaps", "kube-root-ca.crt", namespace, data={"ca.crt": ""})


def cluster(store: Store, now: str) -> None:
    """A fresh cluster."""
    for name in NAMESPACES:
        labels = {"kubernetes.io/metadata.name": name}
        put(
            store,
            now,
            "namespaces",
            name,
            labels=labels,
            spec={"finalizers": ["kubernetes"]},
            status={"phase": "Active"},
        )
        furnish(store, now, name)
    for name, value in PRIORITY_CLASSES.items():
        put(store, now, "priorityclasses", name, value=value, preemptionPolicy="PreemptLowerPriority")
    put(store, now, "customresourcedefinitions", f"jobsets.{JOBSET}", **_jobset_crd(now))


def _jobset_crd(now: str) -> Object:
    """JobSet's CRD, with the Job template as a free object: `kubectl explain` has its fields."""
    resource = BY_NAME["jobsets"]
    names = {"kind": resource.kind, "listKind": "JobSetList", "plural": resource.plural, "singular": resource.singular}
    version = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": _structural(DEFINITIONS["JobSet"])},
    }
    conditions = [
        {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now}
        for kind, reason, message in (
            ("NamesAccepted", "NoConflicts", "no conflicts found"),
            ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        )
    ]
    return {
        # As Helm charts say it; there is no controller's image to read it from
        "labels": {"app.kubernetes.io/version": JOBSET_VERSION},
        "spec": {"group": resource.group, "names": names, "scope": "Namespaced", "versions": [version]},
        "status": {"acceptedNames": names, "conditions": conditions, "storedVersions": [resource.version]},
    }


def _structural(node: Any) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {key: _structural(value) for key, value in node.items()}
    return [_structural(each) for each in node] if isinstance(node, list) else node
