"""Kubernetes' own admission of new objects: the namespace's life cycle, and a pod's service account and priority."""

from __future__ import annotations

from xlaunch.local.apiserver.resources import BY_NAME, Resource
from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import Object, StatusError


def forbidden(resource: Resource, name: str, why: str, **details: object) -> StatusError:
    """403 by an admission plugin."""
    name = name or "Unknown"
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    return StatusError(403, "Forbidden", message, {**resource.details(name), **details})


def check_namespace(store: Store, resource: Resource, name: str, namespace: str) -> None:
    """The namespace of a new object must exist (404) and stay (403; plugin NamespaceLifecycle)."""
    if not resource.namespaced:
        return
    home = store.get("namespaces", ("", namespace))
    if not home:
        message = f'namespaces "{namespace}" not found'
        raise StatusError(404, "NotFound", message, {"name": namespace, "kind": "namespaces"})
    if "deletionTimestamp" in home["metadata"]:
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        text = f"namespace {namespace} is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": text, "field": "metadata.namespace"}
        raise forbidden(resource, name, why, causes=[cause])


def admit_pod(store: Store, pod: Object) -> None:
    """A new pod's service account must exist, and its priority is that of its class (plugins ServiceAccount, Priority).

    Changes the pod; 403 where the account or the class is missing.
    """
    pods, metadata, spec = BY_NAME["pods"], pod["metadata"], pod["spec"]
    name, namespace, account = metadata["name"], metadata["namespace"], spec["serviceAccountName"]
    if not store.get("serviceaccounts", (namespace, account)):
        why = f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found'
        raise forbidden(pods, name, why)
    class_name = spec.get("priorityClassName") or _default_class(store)
    given = spec.get("priority")
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    if not class_name:
        _check_priority(pod, given, 0)
        return
    found = store.get("priorityclasses", ("", class_name))
    if not found:
        raise forbidden(pods, name, f"no PriorityClass with name {class_name} was found")
    _check_priority(pod, given, found["value"])
    spec |= {"priorityClassName": class_name, "priority": found["value"]}
    spec["preemptionPolicy"] = found.get("preemptionPolicy", "PreemptLowerPriority")


def _check_priority(pod: Object, given: int | None, computed: int) -> None:
    """403 where a client gives another number than the class does."""
    if given not in (None, computed):
        why = (
            f"the integer value of priority ({given}) must not be provided in pod spec; priority admission controller "
        )
        why += f"computed {computed} from the given PriorityClass name"
        raise forbidden(BY_NAME["pods"], pod["metadata"]["name"], why)


def _default_class(store: Store) -> str:
    classes = store.items("priorityclasses").values()
    return next((each["metadata"]["name"] for each in classes if each.get("globalDefault")), "")
