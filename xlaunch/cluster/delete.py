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
    wait_all_gone(api, [jobset], clock=clock, timeout=timeout, notice=notice, flags=flags)


def wait_all_gone(
    api: Api,
    gone: Sequence[Object],
    *,
    clock: Clock,
    timeout: float,
    notice: Callable[[str], None],
    flags: Sequence[str] = (),
) -> None:
    """As `wait_gone` for several of one namespace within one time limit; the error names all that are left."""
    left = _left(api, gone, clock=clock, timeout=timeout, notice=notice)
    if not left:
        return
    name, namespace = left[0]["metadata"]["name"], left[0]["metadata"].get("namespace") or api.namespace
    found = {each["metadata"]["name"]: hanging(api, each) for each in left}
    pod = next((pod for _, pod in found.values() if pod), "")
    told = (f"{each}: {'; '.join(why)}" if len(left) > 1 else "; ".join(why) for each, (why, _) in found.items())
    raise DeadlineError(
        f"{', '.join(found)} {'is' if len(left) == 1 else 'are'} not gone after {timeout:g} s",
        why=". ".join(told),
        next=(
            f"kubectl delete pod {pod} --namespace {namespace} --force --grace-period=0"
            if pod
            else jobsets.command(f"xlaunch wait {name} --for=deleted", flags)
        ),
    )


def _left(
    api: Api, gone: Sequence[Object], *, clock: Clock, timeout: float, notice: Callable[[str], None]
) -> list[Object]:
    """Those that are still there after so many seconds; returns at once when none is. All are in one namespace."""
    left = {each["metadata"]["uid"]: each for each in gone}
    namespace = next((each["metadata"].get("namespace", "") for each in gone), "")
    collection = jobsets.path(api, namespace=namespace)
    # One watch for all, of the whole collection where they are several: a field selector knows no "or"
    query = {"fieldSelector": f"metadata.name={gone[0]['metadata']['name']}"} if len(gone) == 1 else {}
    for change in watch(api, collection, query=query, clock=clock, timeout=timeout, notice=notice):
        if change.type == "LISTED":
            there = {item["metadata"]["uid"] for item in change.items}
            left = {uid: each for uid, each in left.items() if uid in there}
        elif change.type == "DELETED":
            left.pop(change.object["metadata"]["uid"], None)
        if not left:
            break
    return list(left.values())


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
