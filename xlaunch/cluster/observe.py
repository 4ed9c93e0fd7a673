"""Reading a workload: its JobSet, Jobs and pods, as much of it as the caller may see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.cluster import jobsets, kueue
from xlaunch.cluster.answers import strange
from xlaunch.cluster.api import Api, ApiError, namespaced
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.watch import list_all
from xlaunch.core import pods as podlib
from xlaunch.core.errors import NetworkError
from xlaunch.core.queueing import QueueState
from xlaunch.core.roles import Role
from xlaunch.core.workload import Workload

Object = Mapping[str, Any]

# Seconds until events come too late: they only add detail to what objects say
EVENTS_TIMEOUT = 5.0


@dataclass(frozen=True)
class Observation:
    """What the API server says of a workload; jobs or pods are None where the caller may not list them.

    `queueing` is what its queue says, None where it has none or that is not known.
    """

    jobset: Object
    jobs: tuple[Object, ...] | None
    pods: tuple[Object, ...] | None
    queueing: QueueState | None = None

    @property
    def forbidden(self) -> tuple[str, ...]:
        """The resources that the caller may not list."""
        return tuple(word for word, items in (("jobs", self.jobs), ("pods", self.pods)) if items is None)


def observe(connection: Connection, name: str) -> Observation:
    """All of a workload, as far as the caller may list it. NotFoundError where it is not there."""
    jobset = jobsets.get(connection.api, name, flags=connection.flags)
    uid = jobset["metadata"].get("uid", "")
    return Observation(
        jobset,
        _owned(connection.api, namespaced(connection.api, "batch/v1", "jobs"), name, uid, without_template),
        _owned(connection.api, namespaced(connection.api, "v1", "pods"), name, uid, podlib.essence),
        kueue.with_queue(connection.api, jobset).queueing,
    )


def without_template(job: Object) -> Object:
    """A Job without its pod template, which the JobSet has too."""
    return {**job, "spec": {key: value for key, value in job["spec"].items() if key != "template"}}


def _owned(api: Api, path: str, name: str, uid: str, keep: Callable[[Object], Object]) -> tuple[Object, ...] | None:
    try:
        items, _ = list_all(api, path, query={"labelSelector": selector(name)}, keep=keep)
    except ApiError as error:
        if error.status == 403:
            return None
        raise
    return tuple(item for item in items if podlib.belongs(item, uid))


def selector(name: str, role: Role | None = None) -> str:
    """The label selector of a workload's Jobs and pods, or of those of one Job: index 0 of a role."""
    words = {podlib.JOBSET_NAME: name}
    if role:
        words |= {podlib.REPLICATED_JOB: role.name, podlib.JOB_INDEX: "0"}
    return ",".join(f"{key}={value}" for key, value in words.items())


def target_pods(api: Api, workload: Workload) -> tuple[Object, ...]:
    """The pods that carry the training command's log: index 0 of Job 0 of the head, or of the first worker."""
    role = workload.target
    if role is None:
        return ()
    items, _ = list_all(api, namespaced(api, "v1", "pods"), query={"labelSelector": selector(workload.name, role)})
    mine = (pod for pod in items if podlib.belongs(pod, workload.uid))
    return tuple(pod for pod in mine if podlib.completion_index(pod) in (0, -1))


def owned_pods(api: Api, workload: Workload) -> tuple[Object, ...] | None:
    """All its pods; None where the caller may not list them."""
    return _owned(api, namespaced(api, "v1", "pods"), workload.name, workload.uid, podlib.essence)


def events_about(api: Api, uid: str, **fields: str) -> tuple[Object, ...]:
    """The events about the object of that uid, with these fields; none where they cannot be read."""
    try:
        return events_where(api, {"involvedObject.uid": uid, **fields})
    except (ApiError, NetworkError):
        return ()


def events_where(api: Api, fields: Mapping[str, str]) -> tuple[Object, ...]:
    """The events with these fields, as many as fit one answer. ApiError or NetworkError where they cannot be read."""
    query = {"fieldSelector": ",".join(f"{key}={value}" for key, value in fields.items()), "limit": "500"}
    body = api.request("GET", namespaced(api, "v1", "events"), query=query, timeout=EVENTS_TIMEOUT).body
    items = body.get("items") if isinstance(body, Mapping) else None
    if not isinstance(items, list):
        raise strange("a list of events")
    return tuple(items)
