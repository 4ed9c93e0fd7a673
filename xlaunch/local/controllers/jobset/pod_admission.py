"""Exclusive placement: leaders get affinities, followers their leader's domain (JobSet v0.12.0, pod_webhook.go).

A leader in phase Failed counts as a second leader, so that followers are refused until it is deleted: JobSet's #1276,
which v0.12.0 has.
"""

from __future__ import annotations

import copy
from typing import Any

from xlaunch.core.names import job_name
from xlaunch.core.pods import COMPLETION_INDEX, JOB_INDEX, JOBSET_NAME, REPLICATED_JOB
from xlaunch.local.controllers.jobset.names import (
    EXCLUSIVE_TOPOLOGY,
    JOB_KEY,
    NODE_SELECTOR_STRATEGY,
    PRIORITY,
)
from xlaunch.local.controllers.jobset.refusals import forbidden
from xlaunch.local.kube import Kube, Object, StatusError
from xlaunch.local.objects import annotations_of, controller_of, is_deleting, labels_of, node_of

MUTATING, VALIDATING = "mpod.kb.io", "vpod.kb.io"


async def place(kube: Kube, new: Object, old: Object | None) -> Object:
    """Gives a new pod of an exclusively placed Job what the scheduler needs; other pods pass unchanged."""
    if old is not None or not _is_managed(new):
        return new
    pod = copy.deepcopy(new)
    # A real API server always fills in the priority; the anti-affinity compares this label
    pod["metadata"].setdefault("labels", {})[PRIORITY] = str(pod["spec"].get("priority", 0))
    topology = annotations_of(pod).get(EXCLUSIVE_TOPOLOGY)
    if topology is None:
        return pod
    if _is_leader(pod):
        _add_affinities(pod, topology)
        return pod
    leader = await _leader(kube, pod)
    if isinstance(leader, str) or not node_of(leader):
        return pod  # the validating webhook refuses it with the reason
    pod["spec"].setdefault("nodeSelector", {})[topology] = await _domain(kube, node_of(leader), topology)
    return pod


async def admit(kube: Kube, new: Object, old: Object | None) -> Object:
    """Refuses a follower whose leader has no node yet: 403, and the Job controller tries again."""
    topology = annotations_of(new).get(EXCLUSIVE_TOPOLOGY)
    if old is not None or not _is_managed(new) or topology is None or _is_leader(new):
        return new
    selector = new["spec"].get("nodeSelector")
    if selector is None:
        raise forbidden(VALIDATING, "follower pod node selector not set")
    if topology not in selector:
        raise forbidden(
            VALIDATING, f"follower pod node selector for topology domain not found. missing selector: {topology}"
        )
    leader = await _leader(kube, new)
    if isinstance(leader, str):
        raise forbidden(VALIDATING, leader)
    if not node_of(leader):
        raise forbidden(
            VALIDATING,
            "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error",
        )
    return new


def _is_managed(pod: Object) -> bool:
    annotations = annotations_of(pod)
    return JOBSET_NAME in annotations and NODE_SELECTOR_STRATEGY not in annotations


def _is_leader(pod: Object) -> bool:
    return annotations_of(pod).get(COMPLETION_INDEX) == "0"


def _add_affinities(pod: Object, topology: str) -> None:
    """Together with its own Job's pods, and with no other Job's of the same priority, in one domain."""
    key = labels_of(pod).get(JOB_KEY, "")
    priority = labels_of(pod).get(PRIORITY, "")
    own = [{"key": JOB_KEY, "operator": "In", "values": [key]}]
    others = [
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": [key]},
        {"key": PRIORITY, "operator": "In", "values": [priority]},
    ]
    affinity = pod["spec"].setdefault("affinity", {})
    for kind, expressions in (("podAffinity", own), ("podAntiAffinity", others)):
        terms = affinity.setdefault(kind, {}).setdefault("requiredDuringSchedulingIgnoredDuringExecution", [])
        terms.append(
            {
                "labelSelector": {"matchExpressions": expressions},
                "topologyKey": topology,
                "namespaceSelector": {},
            }
        )


async def _leader(kube: Kube, follower: Object) -> Object | str:
    """The pod with index 0 of the follower's Job, or the sentence that says why there is none."""
    labels: dict[str, Any] = dict(labels_of(follower))
    for needed in (JOBSET_NAME, REPLICATED_JOB, JOB_INDEX):
        if needed not in labels:
            return f"pod missing label: {needed}"
    leader_name = job_name(labels[JOBSET_NAME], labels[REPLICATED_JOB], labels[JOB_INDEX]) + "-0"
    # The name says which pods are meant, the labels only narrow the list down
    selector = f"{JOB_KEY}={labels.get(JOB_KEY, '')},{COMPLETION_INDEX}=0"
    pods, _ = await kube.list("pods", follower["metadata"].get("namespace"), labels=selector)
    leaders = [
        pod for pod in pods if pod["metadata"]["name"].rpartition("-")[0] == leader_name and not is_deleting(pod)
    ]
    if len(leaders) != 1:
        return f"expected 1 leader pod ({leader_name}), but got {len(leaders)}. this is an expected, transient error"
    owner, leader_owner = controller_of(follower), controller_of(leaders[0])
    if owner is None:
        return "follower pod has no owner reference"
    if leader_owner is None:
        return f'leader pod "{leaders[0]["metadata"]["name"]}" has no owner reference'
    if owner["uid"] != leader_owner["uid"]:
        return f"follower pod owner UID ({owner['uid']}) != leader pod owner UID ({leader_owner['uid']})"
    return leaders[0]


async def _domain(kube: Kube, node_name: str, topology: str) -> str:
    try:
        node = await kube.get("nodes", node_name)
    except StatusError as error:
        raise forbidden(MUTATING, error.message) from error
    if topology not in labels_of(node):
        raise forbidden(MUTATING, f"node does not have topology label: {topology}")
    return labels_of(node)[topology]
