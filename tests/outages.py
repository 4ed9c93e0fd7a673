"""What scenarios about lost machines do: nodes fall silent and come back, pools go and are made again."""

import json
import shlex
import threading
from contextlib import contextmanager
from datetime import datetime

from losing import hosts, row
from worlds import until

from xlaunch.cluster.api import namespaced
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.cluster.watch import watch
from xlaunch.core.clock import SystemClock
from xlaunch.core.pods import is_ready

# The labels of clusters on which a silent node is noticed after some 10 s of everybody's time
FAST_NODES = ("embedded-fast-nodes", "real-fast-nodes")
TPU_NODES, HEAD_NODES = "cloud.google.com/gke-tpu-topology", "!cloud.google.com/gke-tpu-topology"
UNREACHABLE = "node.kubernetes.io/unreachable"
# Seconds of everybody's time for which pods stay on a silent node: enough to look at them on a busy machine
PATIENCE = 15


@contextmanager
def lost(cluster, *nodes):
    """These machines lose power. At the end they are there and ready again, also those whose objects are gone."""
    cluster.kubectl("annotate", "node", *nodes, "xlaunch.dev/lost=true")
    try:
        yield
    finally:
        restore(cluster, nodes)


@contextmanager
def cordoned(cluster, selector):
    """The nodes with these labels take no more pods for a while."""
    try:
        cluster.kubectl("cordon", "-l", selector)
        yield
    finally:
        cluster.kubectl("uncordon", "-l", selector)


def restore(cluster, nodes):
    """Brings machines back: by a new Node object where there is none."""
    there = {node["metadata"]["name"] for node in cluster.get("nodes")}
    for name in nodes:
        if name in there:
            cluster.kubectl("annotate", "node", name, "xlaunch.dev/lost-")
        else:
            body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            cluster.kubectl("create", "-f", "-", stdin=json.dumps(body))
    until(lambda: all(is_well(cluster.get("node", name)) for name in nodes), f"{nodes} to be ready")


def is_well(node):
    """Whether the node is ready, and no taint says that it was not."""
    taints = {taint["key"] for taint in node["spec"].get("taints", ())}
    told = {each["type"]: each["status"] for each in node.get("status", {}).get("conditions", ())}
    return told.get("Ready") == "True" and not any(key.startswith("node.kubernetes.io/") for key in taints)


def patience(cluster):
    """The tolerationSeconds that come to PATIENCE."""
    return round(PATIENCE / cluster.unit)


def impatient(cluster, pod):
    """Lets a pod that lives tolerate a silent node for no longer than that."""
    seconds, tolerations = patience(cluster), cluster.get("pod", pod)["spec"]["tolerations"]
    shorter = [{**each, "tolerationSeconds": seconds} if "tolerationSeconds" in each else each for each in tolerations]
    patch = [{"op": "replace", "path": "/spec/tolerations", "value": shorter}]
    cluster.kubectl("patch", "pod", pod, "--type=json", "-p", json.dumps(patch))


def short_of_hosts(cluster, name, index=0):
    """The slice's row while hosts are missing."""
    found = row(cluster, name, index)
    return found if found["missing"] else None


def alarm(cluster, name):
    """The one alarm of a workload, once there is one."""
    found = until(lambda: cluster.look("status", name)["alarms"], "an alarm", timeout=90)
    assert len(found) == 1, found
    return found[0]


def obey(cluster, told):
    """Runs the command that an alarm recommends."""
    program, *argv = shlex.split(told["next"])
    assert program == "kubectl"
    cluster.kubectl(*argv)


def disrupted(cluster, pod):
    """Why a pod was told to go: reason and message of its condition DisruptionTarget."""
    told = cluster.get("pod", pod)["status"]["conditions"]
    return next((each["reason"], each["message"]) for each in told if each["type"] == "DisruptionTarget")


def made(item):
    """When an object was made, in seconds since the epoch."""
    return seconds(item["metadata"]["creationTimestamp"])


def told_to_go(pod):
    """When the deletion of a pod began: its timestamp is when the grace period ends."""
    meta = pod["metadata"]
    return seconds(meta["deletionTimestamp"]) - meta["deletionGracePeriodSeconds"]


def tainted(node):
    """When a silent node got the taint by which its pods are evicted."""
    taints = [each for each in node["spec"]["taints"] if (each["key"], each["effect"]) == (UNREACHABLE, "NoExecute")]
    return seconds(taints[0]["timeAdded"])


def seconds(stamp):
    """A timestamp as seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


def nodes_of(cluster, name, index):
    """The nodes of a slice, in the order of its hosts."""
    there = hosts(cluster, name, index)
    return [there[host]["spec"]["nodeName"] for host in sorted(there)]


def is_deleting(cluster, pod):
    """Whether a pod has been told to go."""
    return "deletionTimestamp" in cluster.get("pod", pod)["metadata"]


def is_head_first(history, name):
    """Whether the head was ready before any worker's pod was made, by the order in which the API server told it."""
    told = [(each["metadata"]["name"], is_ready(each)) for each in list(history.versions)]
    ready = next(at for at, (pod, good) in enumerate(told) if pod.startswith(f"{name}-pathways-head") and good)
    return ready < next(at for at, (pod, _) in enumerate(told) if pod.startswith(f"{name}-worker"))


class PodHistory:
    """Every version of every pod from now on, in order: what was there for a moment only is in it too."""

    def __init__(self, cluster):
        # A connection of its own: the scenario goes on using the other one
        api = connect(TargetOptions(kubeconfig=str(cluster.kubeconfig)), {}).api
        self._changes = watch(api, namespaced(api, "v1", "pods"), clock=SystemClock(), period=1)
        self.versions = list(next(self._changes).items)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._take)

    def _take(self):
        for change in self._changes:
            if self._over.is_set():
                return
            if change.object:
                self.versions.append(change.object)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def of(self, pod):
        """The versions of one pod."""
        return [each for each in list(self.versions) if each["metadata"]["name"] == pod]
