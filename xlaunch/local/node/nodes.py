"""The nodes of an embedded cluster as objects: GKE's labels, taints and capacities. Pure."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from xlaunch.core.timestamps import micro_stamp, stamp
from xlaunch.core.tpu import TpuType
from xlaunch.local.kube import KUBERNETES_VERSION, Object
from xlaunch.local.objects import taints_of

LOST = "xlaunch.dev/lost"
# kubelet 1.35's default of nodeLeaseDurationSeconds
LEASE_SECONDS = 40
# Where a kubelet serves logs (pkg/cluster/ports)
KUBELET_PORT = 10250
TPU = "google.com/tpu"
TPU_TAINT = {"key": TPU, "value": "present", "effect": "NoSchedule"}
HEAD_POOL = "cpu-np"
POOL_LABEL = "cloud.google.com/gke-nodepool"
# xpk's default machine for Pathways heads (xpk 1.16, core/nodepool.py)
HEAD_MACHINE = "n2-standard-64"
NODES_PER_BYTE = 250
# vCPUs and GiB of Google Cloud's machine types; what is not listed gets the smallest
MACHINES = {
    "n2-standard-64": (64, 256),
    "ct4p-hightpu-4t": (240, 407),
    "ct5lp-hightpu-1t": (24, 48),
    "ct5lp-hightpu-4t": (112, 192),
    "ct5lp-hightpu-8t": (224, 384),
    "ct5p-hightpu-1t": (52, 112),
    "ct5p-hightpu-2t": (104, 224),
    "ct5p-hightpu-4t": (208, 448),
    "ct6e-standard-1t": (44, 176),
    "ct6e-standard-4t": (180, 720),
    "ct6e-standard-8t": (180, 1440),
    "tpu7x-standard-4t": (224, 960),
}
SMALLEST = (24, 48)


@dataclass(frozen=True)
class NodeSpec:
    """One node: `pool` is its node pool, `tpu` the type of its slice (None for a head's CPU node)."""

    name: str
    pool: str
    address: str
    machine_type: str
    tpu: TpuType | None = None


def plan(tpu: TpuType, slices: int, heads: int, subnet: int) -> list[NodeSpec]:
    """One CPU node per head, and the hosts of each slice in a node pool `tpu-<slice>` of its own.

    Each node has an address of its own in 127.`subnet`.0.0/16, so that pods on different nodes may use the same port.
    """
    wanted: list[tuple[str, str, str, TpuType | None]] = [
        (f"{HEAD_POOL}-{index}", HEAD_POOL, HEAD_MACHINE, None) for index in range(heads)
    ]
    for each in range(slices):
        wanted += [(f"tpu-{each}-{host}", f"tpu-{each}", tpu.machine_type, tpu) for host in range(tpu.hosts)]
    return [
        NodeSpec(name, pool, address(subnet, index), machine, kind)
        for index, (name, pool, machine, kind) in enumerate(wanted)
    ]


def address(subnet: int, index: int) -> str:
    """The loopback address of the `index`-th node."""
    return f"127.{subnet}.{index // NODES_PER_BYTE}.{index % NODES_PER_BYTE + 1}"


def pod_address(subnet: int, index: int) -> str:
    """The loopback address of the `index`-th pod without host network: from 127.x.128.1 on, used again in turn."""
    index %= 127 * NODES_PER_BYTE
    return f"127.{subnet}.{128 + index // NODES_PER_BYTE}.{index % NODES_PER_BYTE + 1}"


def node(spec: NodeSpec, now: datetime) -> Object:
    """The Node object with its status, as GKE and its kubelet make it."""
    body: Object = {"metadata": {"name": spec.name, "labels": _labels(spec)}, "spec": {}}
    if spec.tpu:
        body["spec"]["taints"] = [TPU_TAINT]
    return {**body, "status": status(spec, now)}


def introduction(spec: NodeSpec, known: Object) -> Object:
    """The merge patch that makes a bare Node object that node; 409 where it has changed since."""
    version = known["metadata"]["resourceVersion"]
    patch: Object = {"metadata": {"resourceVersion": version, "labels": _labels(spec)}}
    if spec.tpu:
        patch["spec"] = {"taints": [*taints_of(known), TPU_TAINT]}
    return patch


def _labels(spec: NodeSpec) -> dict[str, str]:
    labels = {
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": _architecture(),
        "node.kubernetes.io/instance-type": spec.machine_type,
        POOL_LABEL: spec.pool,
    }
    if spec.tpu:
        labels["cloud.google.com/gke-tpu-accelerator"] = spec.tpu.accelerator
        labels["cloud.google.com/gke-tpu-topology"] = spec.tpu.topology
    return labels


def status(spec: NodeSpec, now: datetime) -> Object:
    """The node's status: ready, with all its capacity allocatable."""
    cpu, memory = MACHINES.get(spec.machine_type, SMALLEST)
    capacity = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    if spec.tpu:
        capacity[TPU] = str(spec.tpu.chips_per_host)
    return {
        "capacity": capacity,
        "allocatable": capacity,
        "addresses": [{"type": "InternalIP", "address": spec.address}, {"type": "Hostname", "address": spec.name}],
        "conditions": conditions(now),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": {
            "architecture": _architecture(),
            "operatingSystem": "linux",
            "osImage": "this machine",
            "kernelVersion": platform.release(),
            "containerRuntimeVersion": "xlaunch://processes",
            "kubeletVersion": KUBERNETES_VERSION,
            "kubeProxyVersion": "",
            "machineID": spec.name,
            "systemUUID": spec.name,
            "bootID": spec.name,
        },
    }


def conditions(now: datetime) -> Sequence[Object]:
    """A healthy node's conditions (kubernetes 1.35, pkg/kubelet/nodestatus/setters.go)."""
    table = (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    )
    times = {"lastHeartbeatTime": stamp(now), "lastTransitionTime": stamp(now)}
    return [
        {"type": kind, "status": state, "reason": reason, "message": message, **times}
        for kind, state, reason, message in table
    ]


def lease(name: str, now: datetime, seconds: int = LEASE_SECONDS) -> Object:
    """The lease that tells the node lifecycle controller that the node is alive."""
    return {
        "metadata": {"name": name},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": seconds, "renewTime": micro_stamp(now)},
    }


def is_registered(body: Object) -> bool:
    """Whether the object says to which pool it belongs, as all do that were not made by their bare names."""
    return POOL_LABEL in (body["metadata"].get("labels") or {})


def is_lost(body: Object) -> bool:
    """Whether somebody has asked for the node's loss by annotation."""
    return (body["metadata"].get("annotations") or {}).get(LOST) == "true"


def _architecture() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
