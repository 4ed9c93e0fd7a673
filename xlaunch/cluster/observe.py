"""Reading a workload: its JobSet, Jobs and pods, as much of it as the caller may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.cluster.api import JOBSET_GROUP_VERSION, Api, ApiError, namespaced
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.watch import list_all
from xlaunch.core import pods as podlib
from xlaunch.core.errors import NetworkError, NotFoundError
from xlaunch.core.workload import Role, Workload

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Observation:
    """What the API server says of a workload; `forbidden` names the resources that the caller may not list."""

    jobset: Object
    jobs: tuple[Object, ...]
    pods: tuple[Object, ...]
    forbidden: tuple[str, ...] = ()


def jobset_path(api: Api, name: str = "") -> str:
    """The path of a JobSet, or of all of the namespace."""
    return namespaced(api, JOBSET_GROUP_VERSION, "jobsets", *([name] if name else []))


def read_jobset(api: Api, name: str) -> Object | None:
    """The JobSet, None where there is none. Raises ApiError where the cluster has no JobSet API."""
    try:
        body: Object = api.request("GET", jobset_path(api, name)).body
    except ApiError as error:
        if error.status == 404 and error.details.get("name") == name:
            return None
        raise
    return body


def find_jobset(connection: Connection, name: str) -> Object:
    """The JobSet; NotFoundError with the command that lists what there is."""
    api = connection.api
    try:
        jobset = read_jobset(api, name)
    except ApiError as error:
        if error.status != 404:
            raise
        raise NotFoundError(
            f"{connection.where} has no JobSet API",
            why=error.message,
            next="Install JobSet, or name another cluster: https://jobset.sigs.k8s.io/docs/installation/",
        ) from error
    if jobset is None:
        listing = " ".join(["xlaunch workload list", *connection.flags])
        raise NotFoundError(
            f"There is no workload {name} in namespace {api.namespace} of {connection.where}", next=listing
        )
    return jobset


def observe(connection: Connection, name: str) -> Observation:
    """All of a workload. What the caller may not list is left out and named; NotFoundError where it is not there."""
    jobset = find_jobset(connection, name)
    uid = jobset["metadata"].get("uid", "")
    forbidden: list[str] = []
    found: dict[str, tuple[Object, ...]] = {}
    for resource, version in (("jobs", "batch/v1"), ("pods", "v1")):
        try:
            items, _ = list_all(
                connection.api, namespaced(connection.api, version, resource), query={"labelSelector": selector(name)}
            )
            found[resource] = tuple(item for item in items if podlib.belongs(item, uid))
        except ApiError as error:
            if error.status != 403:
                raise
            forbidden.append(resource)
    return Observation(jobset, found.get("jobs", ()), found.get("pods", ()), tuple(forbidden))


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


def pod_events(api: Api, pod: Object) -> tuple[Object, ...]:
    """The events about a pod; none where they cannot be read, since they only add detail to what the pod says."""
    query = {"fieldSelector": f"involvedObject.uid={podlib.uid(pod)}", "limit": "100"}
    try:
        return tuple(api.request("GET", namespaced(api, "v1", "events"), query=query).body.get("items") or ())
    except (ApiError, NetworkError):
        return ()
