"""Who keeps the name of a Job from a JobSet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlaunch.cluster.api import Api, ApiError, namespaced
from xlaunch.core.checks import KIND
from xlaunch.local.objects import controller_of, is_deleting

Object = Mapping[str, Any]


def find_job(api: Api, name: str, *, namespace: str = "") -> Object | None:
    """The Job of that name, None where there is none. Raises ApiError, NetworkError."""
    try:
        found: Object = api.request("GET", namespaced(api, "batch/v1", "jobs", name, namespace=namespace or None)).body
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return found


def stranger(job: Object | None, jobset: str) -> str:
    """Whose a Job is that keeps its name from a JobSet named `jobset`; "" where it does not, or only for a moment.

    That of an earlier JobSet of the same name is deleted after it. JobSet itself waits for either (v0.12
    pkg/controllers/jobset_controller.go createJobs returns the error, and so is called again).
    """
    if job is None or is_deleting(job):
        return ""
    owner = controller_of(job)
    if owner is None:
        return "a Job of that name is there, which nothing controls"
    if (owner.get("kind"), owner.get("name")) == (KIND, jobset):
        return ""
    return f"{owner.get('kind')} {owner.get('name')} has a Job of that name"
