"""Deleting workloads: with all their Jobs and pods, and saying what hangs when it takes too long."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xlaunch.cluster import jobsets
from xlaunch.cluster.api import Api, ApiError, namespaced
from xlaunch.cluster.retry import is_passing, persist
from xlaunch.cluster.watch import watch
from xlaunch.core.clock import Clock
from xlaunch.core.errors import DeadlineError

Object = Mapping[str, Any]

JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
REQUEST_PATIENCE = 60.0
TOLD_PODS = 3


def delete(api: Api, jobset: Object, *, clock: Clock, notice: Callable[[str], None]) -> None:
    """Asks for the deletion of this very JobSet (by UID), its Jobs and its pods; gone already is fine.

    Foreground: the JobSet stays, marked, until all that belongs to it is gone, so that its name is free for good
    afterwards.
    """
    metadata = jobset["metadata"]
    options = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": metadata["uid"]},
    }
    target = jobsets.path(api, metadata["name"], namespace=metadata.get("namespace", ""))

    def attempt() -> None:
        try:
            api.request("DELETE", target, body=options)
        except ApiError as error:
            # 409: the name belongs to another JobSet by now
            if error.status not in (404, 409):
                raise

    persist(attempt, clock=clock, timeout=REQUEST_PATIENCE, notice=notice, is_worth=is_passing)


def wait_gone(
    api: Api,
    jobset: Object,
    *,
    clock: Clock,
    timeout: float,
    notice: Callable[[str], None],
    flags: Sequence[str] = (),
) -> None:
    """Returns when this very JobSet is gone; DeadlineError after `timeout` seconds says what hangs and why."""
    metadata = jobset["metadata"]
    name, uid, namespace = metadata["name"], metadata["uid"], metadata.get("namespace", "")
    changes = watch(
        api,
        jobsets.path(api, namespace=namespace),
        query={"fieldSelector": f"metadata.name={name}"},
        clock=clock,
        timeout=timeout,
        notice=notice,
    )
    for change in changes:
        if change.type == "LISTED" and uid not in {item["metadata"]["uid"] for item in change.items}:
            return
        if change.type == "DELETED" and change.object["metadata"]["uid"] == uid:
            return
    reasons, pod = hanging(api, jobset)
    raise DeadlineError(
        f"{name} is not gone after {timeout:g} s",
        why="; ".join(reasons),
        next=(
            f"kubectl delete pod {pod} --namespace {namespace or api.namespace} --force --grace-period=0"
            if pod
            else jobsets.command(f"xlaunch wait {name} --for=deleted", flags)
        ),
    )


def wait_all_gone(
    api: Api,
    gone: Sequence[Object],
    *,
    clock: Clock,
    timeout: float,
    notice: Callable[[str], None],
    flags: Sequence[str] = (),
) -> None:
    """`wait_gone` for several, within one time limit; the error names all that are left."""
    deadline = clock.monotonic() + timeout
    hung: list[DeadlineError] = []
    for jobset in gone:
        left = max(0.0, deadline - clock.monotonic())
        try:
            wait_gone(api, jobset, clock=clock, timeout=left, notice=notice, flags=flags)
        except DeadlineError as error:
            hung.append(error)
    if len(hung) > 1:
        why = "; ".join(f"{error.message}: {error.why}" for error in hung)
        raise DeadlineError(f"{len(hung)} workloads are not gone after {timeout:g} s", why=why, next=hung[0].next)
    if hung:
        raise hung[0]


def hanging(api: Api, jobset: Object) -> tuple[list[str], str]:
    """What keeps a JobSet from going, in words; and a pod that only force will remove ("" for none)."""
    metadata = jobset["metadata"]
    namespace = metadata.get("namespace", "")
    query = {"labelSelector": f"{JOBSET_NAME}={metadata['name']}", "limit": "500"}
    try:
        pods = api.request("GET", namespaced(api, "v1", "pods", namespace=namespace or None), query=query).body["items"]
        now = jobsets.find(api, metadata["name"], namespace=namespace)
    except ApiError as error:
        return [f"What hangs cannot be read: {error.message}"], ""
    lost = {pod["metadata"]["name"]: node for pod in pods if (node := _dead_node(api, pod))}
    reasons = [_why(pod, lost) for pod in pods[:TOLD_PODS]]
    if len(pods) > TOLD_PODS:
        reasons.append(f"and {len(pods) - TOLD_PODS} more pods")
    finalizers = [each for each in (now or {}).get("metadata", {}).get("finalizers") or () if "foreground" not in each]
    if finalizers:
        reasons.append(f"the JobSet has the finalizers {', '.join(finalizers)}")
    return reasons or ["No pod of it is left; the garbage collector has not come round yet"], next(iter(lost), "")


def _why(pod: Object, lost: Mapping[str, str]) -> str:
    metadata = pod["metadata"]
    name = metadata["name"]
    if name in lost:
        return f"pod {name} is on node {lost[name]}, which does not answer"
    if metadata.get("finalizers"):
        return f"pod {name} has the finalizers {', '.join(metadata['finalizers'])}"
    grace = metadata.get("deletionGracePeriodSeconds")
    return f"pod {name} is ending (grace period {grace} s)" if grace is not None else f"pod {name} is still there"


def _dead_node(api: Api, pod: Object) -> str:
    """The node of a pod that waits for an answer from there, where the node is not ready or gone."""
    node = (pod.get("spec") or {}).get("nodeName", "")
    if not node or "deletionTimestamp" not in pod["metadata"]:
        return ""
    try:
        conditions = api.request("GET", f"/api/v1/nodes/{node}").body["status"].get("conditions") or ()
    except ApiError as error:
        # Nodes may be nobody's business (403); one that is gone (404) answers no more
        return node if error.status == 404 else ""
    ready = next((each["status"] for each in conditions if each["type"] == "Ready"), "Unknown")
    return node if ready != "True" else ""
