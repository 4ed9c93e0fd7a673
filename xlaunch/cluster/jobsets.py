"""Reading JobSets by name or all of them, and what it means when there are none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from xlaunch.cluster.answers import strange
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, Api, ApiError, namespaced
from xlaunch.cluster.watch import list_all
from xlaunch.core.errors import NotFoundError, RefusedError
from xlaunch.core.names import is_dns1123_subdomain

Object = Mapping[str, Any]


def path(api: Api, *name: str, namespace: str = "") -> str:
    """The path of the collection, or of one JobSet."""
    return namespaced(api, JOBSET_GROUP_VERSION, "jobsets", *name, namespace=namespace or None)


def find(api: Api, name: str, *, namespace: str = "", timeout: float = 30.0) -> Object | None:
    """The JobSet of that name, None where there is none; RefusedError where the cluster has no JobSet at all."""
    if not is_dns1123_subdomain(name):
        return None  # nobody has it, and "." or "a/b" would be another path
    try:
        found: Object = api.request("GET", path(api, name, namespace=namespace), timeout=timeout).body
    except ApiError as error:
        if error.status != 404:
            raise
        if is_unknown_resource(error):
            raise without_jobset() from error
        return None
    metadata = found.get("metadata") if isinstance(found, Mapping) else None
    if not isinstance(metadata, Mapping) or metadata.get("name") != name:
        raise strange(f"the JobSet {name}")
    return found


def get(api: Api, name: str, *, flags: Sequence[str] = ()) -> Object:
    """The JobSet of that name; NotFoundError where there is none."""
    found = find(api, name)
    if found is None:
        raise not_found(api, name, flags)
    return found


def list_jobsets(api: Api, *, everywhere: bool = False, timeout: float = 30.0) -> tuple[Object, ...]:
    """All JobSets of the namespace, or of all namespaces."""
    try:
        collection = f"/apis/{JOBSET_GROUP_VERSION}/jobsets" if everywhere else path(api)
        items, _ = list_all(api, collection, timeout=timeout)
    except ApiError as error:
        if error.status == 404:
            raise without_jobset() from error
        raise
    return items


def is_unknown_resource(error: ApiError) -> bool:
    """Whether a 404 is about the kind, not about one object: then the server names no object."""
    return error.status == 404 and not error.details.get("name")


def without_jobset() -> RefusedError:
    """What to say on a cluster where nobody has installed JobSet."""
    return RefusedError(
        "This cluster has no JobSet",
        why="The API server does not know jobsets.jobset.x-k8s.io",
        next="Install it: https://jobset.sigs.k8s.io/docs/installation/",
        reason="NoJobSet",
    )


def not_found(api: Api, name: str, flags: Sequence[str] = ()) -> NotFoundError:
    """What to say where a workload is not there."""
    return NotFoundError(
        f"There is no workload {name} in namespace {api.namespace}", next=command("xlaunch workload list", flags)
    )


def command(words: str, flags: Sequence[str]) -> str:
    """A command to type next, with the flags that lead to the same target."""
    return " ".join([words, *map(shlex.quote, flags)])
