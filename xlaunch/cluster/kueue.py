"""Asking Kueue about workloads. What it does not answer is left out: a queue that is unknown stops no command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.jobsets import is_unknown_resource
from xlaunch.cluster.watch import list_all
from xlaunch.core.errors import NetworkError
from xlaunch.core.kueue import JOB_UID, current, essence, owner, places, read
from xlaunch.core.queueing import Place, QueueState, State
from xlaunch.core.workload import Workload, describe

Object = Mapping[str, Any]

GROUP, VISIBILITY = "kueue.x-k8s.io", "visibility.kueue.x-k8s.io"
# v1beta2 came with Kueue 0.15, and v1beta1 is to go
VERSIONS = ("v1beta2", "v1beta1")
# Seconds until an answer that only adds detail comes too late
TIMEOUT = 5.0


def with_queue(api: Api, jobset: Object) -> Workload:
    """A JobSet as a workload, with what its queue says and its place there."""
    return placed(api, with_queues(api, [jobset]))[0]


def with_queues(api: Api, jobsets: Sequence[Object], *, everywhere: bool = False) -> list[Workload]:
    """JobSets as workloads, with what their queues say: one list for all of a namespace, or of all namespaces."""
    plain = [describe(each) for each in jobsets]
    if not any(each.queue or each.suspended for each in plain):
        return plain
    try:
        found = _workloads(api, plain[0].uid if len(plain) == 1 else "", everywhere=everywhere)
    except (ApiError, NetworkError):
        return plain
    return [
        describe(jobset, _state(found, each)) if each.queue or each.suspended else each
        for jobset, each in zip(jobsets, plain, strict=True)
    ]


def workload_of(api: Api, jobset: Object) -> Object | None:
    """A JobSet's whole Workload, with its pod templates from before it was admitted; None where none can be read."""
    uid = jobset["metadata"].get("uid", "")
    try:
        found = _workloads(api, uid, everywhere=False, keep=lambda item: item)
    except (ApiError, NetworkError):
        return None
    return current((found or {}).get(uid, ()))


def placed(api: Api, workloads: Iterable[Workload]) -> list[Workload]:
    """The same with their places in the queues: one request for each local queue in which one of them waits."""
    known: dict[tuple[str, str], Mapping[str, Place]] = {}
    answers = True
    found = []
    for each in workloads:
        queue = each.queueing
        if queue is None or not queue.state.waits or not queue.local_queue:
            found.append(each)
            continue
        key = (each.namespace, queue.local_queue)
        if key not in known and answers:
            told = _places(api, *key)
            known[key], answers = told or {}, told is not None
        found.append(replace(each, queueing=replace(queue, place=known.get(key, {}).get(queue.workload))))
    return found


def _state(found: Mapping[str, Sequence[Object]] | None, workload: Workload) -> QueueState:
    if found is None:
        return QueueState(State.NOT_QUEUED)
    mine = current(found.get(workload.uid, ()))
    return read(mine) if mine else QueueState(State.UNSEEN, local_queue=workload.queue)


def _workloads(
    api: Api, uid: str, *, everywhere: bool, keep: Callable[[Object], Object] = essence
) -> Mapping[str, Sequence[Object]] | None:
    """Kueue's Workloads by the UID of their JobSet, all or those of one; None where the cluster has no Kueue."""
    query = {"labelSelector": f"{JOB_UID}={uid}"} if uid else {}
    place = "" if everywhere else f"/namespaces/{api.namespace}"
    for version in VERSIONS:
        try:
            items, _ = list_all(
                api, f"/apis/{GROUP}/{version}{place}/workloads", query=query, timeout=TIMEOUT, keep=keep
            )
        except ApiError as error:
            if error.status == 404:
                continue
            raise
        found: dict[str, list[Object]] = {}
        for item in items:
            found.setdefault(owner(item), []).append(item)
        return found
    return None


def _places(api: Api, namespace: str, local_queue: str) -> Mapping[str, Place] | None:
    """The places in a local queue, as far as they may be read; None where the visibility API is not there, or slow."""
    for version in VERSIONS:
        path = f"/apis/{VISIBILITY}/{version}/namespaces/{namespace}/localqueues/{local_queue}/pendingworkloads"
        try:
            body = api.request("GET", path, timeout=TIMEOUT).body
        except ApiError as error:
            if not is_unknown_resource(error):
                return {} if error.status in (403, 404) else None
        except NetworkError:
            return None
        else:
            return places(body) if isinstance(body, Mapping) else None
    return None
