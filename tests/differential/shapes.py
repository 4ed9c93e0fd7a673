"""JobSets of many shapes, each made from a seed."""

from __future__ import annotations

from random import Random
from typing import Any

from xlaunch.cluster.api import JOBSET_GROUP_VERSION

Object = dict[str, Any]

SLOT, ROLE = "differential.test/slot", "differential.test/role"
POOL = "cloud.google.com/gke-nodepool"
NAME = "set"

# What a process does on SIGTERM; without a handler the shell ends with 143. None exits 0: whether a deleted pod counts
# as succeeded then depends on whether it ends before the Job controller's next batch, on a real cluster as here
TERM = {"dies": "", "exits 7": "trap 'exit 7' TERM; ", "stays": "trap '' TERM; "}
# USR1 and USR2 are how a sequence makes a container end with a code
SCRIPT = "trap 'exit 3' USR1; trap 'exit 0' USR2; %swhile :; do sleep 600 & wait $!; done"
FAILURE_POLICIES: tuple[Object | None, ...] = (
    None,
    {"maxRestarts": 0},
    {"maxRestarts": 1},
    {"maxRestarts": 2, "restartStrategy": "BlockingRecreate"},
    {"maxRestarts": 1, "rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["worker"]}]},
    {"maxRestarts": 0, "rules": [{"name": "again", "action": "RestartJobSetAndIgnoreMaxRestarts"}]},
    {"maxRestarts": 1, "rules": [{"action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}]},
)
# For JobSets that restart single Jobs; JobSet must have its gate RestartJob on
SLICE = {"action": "RestartJob", "targetReplicatedJobs": ["worker"]}
RESTART_JOB_POLICIES: tuple[Object, ...] = (
    {"maxRestarts": 4, "rules": [SLICE]},
    {"maxRestarts": 1, "rules": [SLICE]},
    {"maxRestarts": 4, "restartStrategy": "BlockingRecreate", "rules": [SLICE]},
    {"maxRestarts": 4, "rules": [{"action": "RestartJob"}]},
    {"maxRestarts": 0, "rules": [{"name": "free", "action": "RestartJobAndIgnoreMaxRestarts"}]},
    {"maxRestarts": 1, "rules": [SLICE | {"action": "RestartJobAndIgnoreMaxRestarts"}]},
    {"maxRestarts": 3, "rules": [SLICE | {"onJobFailureReasons": ["PodFailurePolicy"]}]},
    {"maxRestarts": 3, "rules": [{"action": "RestartJob", "onJobFailureMessagePatterns": ["backoff limit"]}]},
    {"maxRestarts": 3, "rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["head"]}, SLICE]},
)
SUCCESS_POLICIES: tuple[Object | None, ...] = (
    None,
    None,
    {"operator": "Any"},
    {"operator": "All", "targetReplicatedJobs": ["head"]},
)
POD_FAILURE_POLICIES: tuple[Object, ...] = (
    {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]},
    {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
    {"rules": [{"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [7]}}]},
)


def jobset(random: Random) -> Object:
    """A JobSet of one head and one or two slices of one or two hosts."""
    head = _replicated("head", _job(random, hosts=1, backoff=random.choice((0, 0, 1))))
    hosts = random.choice((1, 2, 2))
    worker = _replicated("worker", _job(random, hosts, backoff=random.choice((0, 1, 2, 6))), random.choice((1, 2)))
    spec: Object = {"replicatedJobs": [head, worker]}
    order = random.choice(("any", "in order", "depends"))
    if order == "in order":
        spec["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    elif order == "depends":
        worker["dependsOn"] = [{"name": "head", "status": "Ready"}]
    if failure := random.choice(FAILURE_POLICIES):
        spec["failurePolicy"] = failure
    if success := random.choice(SUCCESS_POLICIES):
        spec["successPolicy"] = success
    if random.random() < 0.3:
        spec["coordinator"] = {"replicatedJob": "head", "jobIndex": 0, "podIndex": 0}
    if random.random() < 0.2:
        spec["suspend"] = True
    if random.random() < 0.2:
        spec["ttlSecondsAfterFinished"] = 3
    if random.random() < 0.2:
        spec["network"] = random.choice(({"subdomain": "sub"}, {"enableDNSHostnames": False}))
    metadata: Object = {"name": NAME, "labels": {"test": "differential"}}
    if random.random() < 0.35:
        worker["template"]["metadata"] = {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": POOL}}
    return {"apiVersion": JOBSET_GROUP_VERSION, "kind": "JobSet", "metadata": metadata, "spec": spec}


def restarting(random: Random) -> Object:
    """A JobSet that restarts single Jobs; most have no losses to spare, and most slices another one beside them."""
    made = jobset(random)
    made["spec"]["failurePolicy"] = random.choice(RESTART_JOB_POLICIES)
    for replicated in made["spec"]["replicatedJobs"]:
        replicated["template"]["spec"]["backoffLimit"] = random.choice((0, 0, 0, 1))
    made["spec"]["replicatedJobs"][1]["replicas"] = random.choice((1, 2, 2))
    return made


def impatient() -> Object:
    """A JobSet whose pods leave a node that does not answer after five seconds."""
    random = Random("impatient")
    worker = _replicated("worker", _job(random, hosts=2, backoff=6))
    job = worker["template"]["spec"]
    pod = job["template"]["spec"]
    pod["tolerations"] += [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
        for key in ("not-ready", "unreachable")
    ]
    return {
        "apiVersion": JOBSET_GROUP_VERSION,
        "kind": "JobSet",
        "metadata": {"name": NAME},
        "spec": {"replicatedJobs": [worker], "startupPolicy": {"startupPolicyOrder": "InOrder"}},
    }


def _replicated(name: str, job: Object, replicas: int = 1) -> Object:
    return {"name": name, "replicas": replicas, "template": {"spec": job}}


def _job(random: Random, hosts: int, backoff: int) -> Object:
    policy = random.choice(("Never", "OnFailure"))
    handler = random.choice(("dies", "dies", "exits 7", "stays"))
    container: Object = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", SCRIPT % TERM[handler]]}
    pod: Object = {
        "restartPolicy": policy,
        "terminationGracePeriodSeconds": 2,
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists"}],
        "containers": [container],
    }
    if random.random() < 0.2:
        pod["initContainers"] = [container | {"name": "side", "restartPolicy": "Always"}]
    job: Object = {"parallelism": hosts, "completions": hosts, "backoffLimit": backoff, "template": {"spec": pod}}
    if policy == "Never" and random.random() < 0.25:
        job["podFailurePolicy"] = random.choice(POD_FAILURE_POLICIES)
    elif random.random() < 0.15:
        job["podReplacementPolicy"] = "Failed"
    return job


def placed(obj: Object, slot: int) -> Object:
    """Binds the pods of a generated JobSet to the nodes of one slot; changes it and returns it.

    The head has a node of its own: in a pool of the workers it would keep an exclusively placed slice out.
    """
    for replicated in obj["spec"]["replicatedJobs"]:
        where = {SLOT: str(slot), ROLE: "head" if replicated["name"] == "head" else "worker"}
        replicated["template"]["spec"]["template"]["spec"]["nodeSelector"] = where
    return obj
