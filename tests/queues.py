"""Kueue's queues as an administrator makes them, and how a workload stands with its own."""

from worlds import until

GROUP_VERSION = "kueue.x-k8s.io/v1beta2"
ROOT = f"/apis/{GROUP_VERSION}"
MERGE = "application/merge-patch+json"
PLENTY, ONE_SLICE = "1000Gi", "16"  # chips of a v5litepod-16
WORKLOADS = "workloads.kueue.x-k8s.io"


def thing(kind, name, spec):
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


class Queue:
    """A cluster queue of a namespace's name with room for one slice, and the local queue `team` that leads there."""

    def __init__(self, api, namespace):
        self.api, self.name = api, namespace
        covered = {"google.com/tpu": ONE_SLICE, "cpu": PLENTY, "memory": PLENTY}
        flavor = {
            "name": namespace,
            "resources": [{"name": key, "nominalQuota": each} for key, each in covered.items()],
        }
        spec = {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": list(covered), "flavors": [flavor]}],
            "preemption": {"withinClusterQueue": "LowerPriority"},
        }
        api.request("POST", f"{ROOT}/resourceflavors", body=thing("ResourceFlavor", namespace, {}))
        api.request("POST", f"{ROOT}/clusterqueues", body=thing("ClusterQueue", namespace, spec))
        local = thing("LocalQueue", "team", {"clusterQueue": namespace})
        api.request("POST", f"{ROOT}/namespaces/{namespace}/localqueues", body=local)

    def stop(self, policy):
        """None, Hold or HoldAndDrain."""
        self._patch({"stopPolicy": policy})

    def _patch(self, spec):
        self.api.request("PATCH", f"{ROOT}/clusterqueues/{self.name}", body={"spec": spec}, content_type=MERGE)


def priority_class(api, name, value):
    """Makes a PriorityClass."""
    body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    api.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", body=body)


def workload_of(cluster, name):
    """Kueue's Workload of a JobSet; None where it has none."""
    uid = cluster.get("jobset", name)["metadata"]["uid"]
    found = cluster.get(WORKLOADS, None, "-l", f"kueue.x-k8s.io/job-uid={uid}")
    return found[0] if found else None


def submit(cluster, name, *flags, **more):
    return cluster.create(name, "--queue=team", *flags, **more)


def runs(cluster, name):
    assert cluster.json("wait", name, "--for=running", "--timeout=60s")["result"] == "Running"


def evictions(cluster, name):
    """How often it was evicted, by reason and cause."""
    told = cluster.json("status", name)["queueing"]["evictions"]
    return {(each["reason"], each["underlyingCause"]): each["count"] for each in told}


def becomes(cluster, name, phase, state):
    """What `status` tells once the workload, and its state with its queue, are so."""

    def told():
        found = cluster.look("status", name)
        return found if (found["phase"], (found["queueing"] or {}).get("state")) == (phase, state) else None

    return until(told, f"{name} to be {phase} and {state}")
