"""kwok as a process: plays the kubelet for nodes that carry its annotation, and for the pods on them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from testbed.build import Build
from testbed.instance import Command, Instance
from testbed.processes import LOOPBACK, answers

PORTS = ("kwok",)
# A node that a test creates with this annotation, and with its capacity in `status`, is kwok's
NODE_ANNOTATION = "kwok.x-k8s.io/node"
# Without pod-complete, which ends the pods of Jobs as soon as they run
STAGES = (
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
)
# Endpoint controllers fail on loopback, and flood the events
POD_CIDR = "10.244.0.0/16"
NODE_IP = "10.9.9.9"


def command(instance: Instance, build: Build) -> Command:
    """kwok with the stages of a pod that starts at once and runs until it is deleted; it renews no leases.

    A test gives the controller manager `--node-monitor-grace-period=24h`, or its nodes are lost after 50 s.
    """
    config = instance.directory / "kwok-stages.yaml"
    config.write_text(stages(build), encoding="utf-8")
    address = f"{LOOPBACK}:{instance.ports['kwok']}"
    argv: list[str | Path] = [
        build.binary("kwok"),
        f"--kubeconfig={instance.kubeconfig}",
        f"--config={config}",
        f"--manage-nodes-with-annotation-selector={NODE_ANNOTATION}=fake",
        "--node-lease-duration-seconds=0",
        f"--cidr={POD_CIDR}",
        f"--node-ip={NODE_IP}",
        f"--server-address={address}",
    ]
    return Command("kwok", argv, partial(answers, f"http://{address}/readyz"))


def stages(build: Build) -> str:
    """kwok's own stage files as one stream of YAML documents."""
    return "\n---\n".join(build.file(name).read_text(encoding="utf-8") for name in STAGES)
