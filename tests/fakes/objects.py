"""JobSets, Jobs and pods as the API server returns them, of the usual shape: one head, some slices of workers."""

import copy
import functools
from pathlib import Path

import yaml

REFERENCE = Path(__file__).parents[1] / "data" / "jobset-elastic-v5e16x3.yaml"
CREATED = "2026-11-29T12:00:00Z"


def condition(kind, status="True", reason="", message="", at=CREATED):
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def jobset(name="train", *, conditions=(), ready=(1, 3), suspend=None, deleting=False, labels=None, **status):
    """The reference manifest as it lives in a cluster: `ready` Jobs of head and worker (None: no status at all)."""
    body = _reference()
    body["metadata"] = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": CREATED,
        "labels": labels or {},
    }
    if deleting:
        body["metadata"]["deletionTimestamp"] = CREATED
    if suspend is not None:
        body["spec"]["suspend"] = suspend
    if ready is not None:
        counts = [
            {"name": each["name"], "ready": count, "active": count, "succeeded": 0, "failed": 0, "suspended": 0}
            for each, count in zip(body["spec"]["replicatedJobs"], ready, strict=True)
        ]
        body["status"] = {"restarts": 0, "replicatedJobsStatus": counts, "conditions": list(conditions), **status}
    return body


@functools.cache
def _read():
    return yaml.safe_load(REFERENCE.read_text(encoding="utf-8"))


def _reference():
    return copy.deepcopy(_read())


def ended(word, reason="", message="", **more):
    """A JobSet in a terminal state."""
    said = condition(word, reason=reason, message=message, at="2026-11-29T13:00:00Z")
    return jobset(conditions=[said], terminalState=word, **more)


def pod(
    role="worker",
    job=0,
    index=0,
    *,
    name="train",
    phase="Running",
    ready=True,
    deleted=None,
    suffix="aaaaa",
    created=CREATED,
    statuses=(),
    init_statuses=(),
    conditions=(),
    spec=None,
    uid="",
    attempt=0,
    finalizer=True,
):
    pod_name = f"{name}-{role}-{job}-{index}-{suffix}"
    metadata = {
        "name": pod_name,
        "namespace": "default",
        "uid": uid or f"uid-{pod_name}",
        "resourceVersion": "1",
        "creationTimestamp": created,
        "labels": {
            "jobset.sigs.k8s.io/jobset-name": name,
            "jobset.sigs.k8s.io/jobset-uid": f"uid-{name}",
            "jobset.sigs.k8s.io/replicatedjob-name": role,
            "jobset.sigs.k8s.io/job-index": str(job),
            "jobset.sigs.k8s.io/restart-attempt": str(attempt),
            "batch.kubernetes.io/job-completion-index": str(index),
        },
    }
    if finalizer:
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    if deleted:
        metadata |= {"deletionTimestamp": deleted, "deletionGracePeriodSeconds": 0}
    template = next(each for each in _reference()["spec"]["replicatedJobs"] if each["name"] in (role, "worker"))
    return {
        "metadata": metadata,
        "spec": spec or {**template["template"]["spec"]["template"]["spec"], "nodeName": "node-1"},
        "status": {
            "phase": phase,
            "conditions": [condition("Ready", "True" if ready and phase == "Running" else "False"), *conditions],
            "containerStatuses": list(statuses),
            "initContainerStatuses": list(init_statuses),
        },
    }


def on_silent_node(made, node="node-1", at=CREATED, seconds=30):
    """The pod as the node lifecycle controller leaves it once its node does not answer."""
    patient = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    made["spec"] = {**made["spec"], "nodeName": node, "tolerations": [{**patient, "tolerationSeconds": seconds}]}
    made["status"]["conditions"] = [condition("Ready", "False", at=at), condition("ContainersReady")]
    return made


def status(name="main", *, restarts=0, state=None, last=None, ready=True):
    """A container status; running unless `state` says otherwise."""
    told = {"name": name, "restartCount": restarts, "ready": ready, "state": state or running()}
    return {**told, "lastState": last} if last else told


def running(at=CREATED):
    return {"running": {"startedAt": at}}


def waiting(reason, message=""):
    return {"waiting": {"reason": reason, "message": message}}


def terminated(code=0, reason="", **more):
    word = reason or ("Error" if code else "Completed")
    return {"terminated": {"exitCode": code, "reason": word, "startedAt": CREATED, "finishedAt": CREATED, **more}}


def job(role="worker", index=0, *, name="train", failed=0, conditions=(), uncounted=(), deleted=False, **state):
    template = next(each for each in _reference()["spec"]["replicatedJobs"] if each["name"] == role)["template"]
    metadata = {
        "name": f"{name}-{role}-{index}",
        "uid": f"uid-{name}-{role}-{index}",
        "labels": {
            "jobset.sigs.k8s.io/jobset-name": name,
            "jobset.sigs.k8s.io/replicatedjob-name": role,
            "jobset.sigs.k8s.io/job-index": str(index),
        },
    }
    if deleted:
        metadata["deletionTimestamp"] = CREATED
    told = {"failed": failed, "conditions": list(conditions), **state}
    if uncounted:
        told["uncountedTerminatedPods"] = {"failed": list(uncounted)}
    return {"metadata": metadata, "spec": template["spec"], "status": told}
