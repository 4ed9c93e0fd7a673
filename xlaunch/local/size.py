"""How large a local cluster is, or is asked to be: its record before it runs, and its size in words."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace

from xlaunch.core.errors import RefusedError, UsageError
from xlaunch.core.tpu import TpuType, lookup
from xlaunch.local import state
from xlaunch.local.gates import check_gates
from xlaunch.local.plane import EMBEDDED, EMBEDDED_PLANE, Plane
from xlaunch.local.state import DEFAULT_NAME, LocalCluster

MOST = 512
MOST_HOSTS = 2048
HELP = "xlaunch local up --help"


def request(
    name: str,
    tpu_type: str,
    slices: int,
    heads: int,
    machine_type: str,
    time_scale: float,
    feature_gates: Iterable[str],
    plane: Plane,
    env: Mapping[str, str],
) -> LocalCluster:
    """The record of a cluster that does not run yet; UsageError for values that make none."""
    state.require_linux()
    for flag, value in (("--slices", slices), ("--heads", heads)):
        if not 1 <= value <= MOST:
            raise UsageError(f"{flag} {value} is out of range", why=f"It may be 1 to {MOST}", next=HELP)
    if not 0.01 <= time_scale <= 1.0:
        raise UsageError(f"--time-scale {time_scale:g} is out of range", why="It may be 0.01 to 1", next=HELP)
    tpu = lookup(tpu_type, machine_type or None)
    if slices * tpu.hosts > MOST_HOSTS:
        raise UsageError(
            f"{slices} slices of {tpu.name} have {slices * tpu.hosts} hosts",
            why=f"A local cluster has at most {MOST_HOSTS}, each of which may run a process",
            next="Ask for fewer or smaller slices",
        )
    return LocalCluster(
        name=state.check_name(name),
        directory=str(state.root(env) / name),
        id=secrets.token_hex(16),
        tpu_type=tpu.name,
        slices=slices,
        heads=heads,
        machine_type="" if tpu == lookup(tpu_type) else machine_type,
        time_scale=time_scale,
        feature_gates=check_gates(feature_gates),
        plane=plane,
    )


def describe(cluster: LocalCluster) -> str:
    """Its size in words, and its control plane where that is a real one."""
    heads = "1 CPU node" if cluster.heads == 1 else f"{cluster.heads} CPU nodes"
    slices = "1 slice" if cluster.slices == 1 else f"{cluster.slices} slices"
    real = "" if cluster.plane.kind == EMBEDDED else f", {cluster.plane}"
    return f"{slices} of {cluster.tpu_type} and {heads}{real}"


def tpu_of(cluster: LocalCluster) -> TpuType:
    """The shape of its slices."""
    return lookup(cluster.tpu_type, cluster.machine_type or None)


def check_size(running: LocalCluster, wanted: LocalCluster) -> None:
    """Raises RefusedError with the lines to type if the cluster is too small or of another type."""
    same = tpu_of(running) == tpu_of(wanted)
    if same and running.slices >= wanted.slices and running.heads >= wanted.heads:
        return
    grown = replace(
        wanted,
        slices=max(wanted.slices, running.slices) if same else wanted.slices,
        heads=max(wanted.heads, running.heads),
        feature_gates=check_gates((*running.feature_gates, *wanted.feature_gates)),
        plane=running.plane,
    )
    needed = describe(replace(wanted, plane=EMBEDDED_PLANE))
    raise RefusedError(
        f"The {running.title} has {describe(running)}, and {needed} are needed",
        why="A running one does not grow; the next line ends all that runs there. --cluster=local:NAME starts another",
        next=f"xlaunch local down --name {running.name} && {up_line(grown)}",
        reason="ClusterTooSmall",
    )


def check_has_gates(running: LocalCluster, wanted: LocalCluster) -> None:
    """Raises RefusedError with the lines to type if the cluster runs without a feature gate that is needed."""
    missing = [gate for gate in wanted.feature_gates if gate not in running.feature_gates]
    if not missing:
        return
    changed = replace(running, feature_gates=check_gates((*running.feature_gates, *missing)))
    raise RefusedError(
        f"The {running.title} runs without JobSet's feature gate {missing[0]}",
        why="A running one does not change; the next line ends all that runs there",
        next=f"xlaunch local down --name {running.name} && {up_line(changed)}",
        reason="FeatureGateOff",
    )


def up_line(cluster: LocalCluster) -> str:
    """The command that starts a cluster of that name and size."""
    words = ["xlaunch local up", f"--tpu-type {cluster.tpu_type}", f"--slices {cluster.slices}"]
    if cluster.heads != 1:
        words.append(f"--heads {cluster.heads}")
    if cluster.machine_type:
        words.append(f"--machine-type {cluster.machine_type}")
    words += [f"--feature-gate {gate}" for gate in cluster.feature_gates]
    if cluster.time_scale != 1.0:
        words.append(f"--time-scale {cluster.time_scale:g}")
    if cluster.name != DEFAULT_NAME:
        words.append(f"--name {cluster.name}")
    return " ".join(words) + cluster.plane.flags()
