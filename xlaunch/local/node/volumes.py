"""What becomes of a pod's volumes and of other things that a local process cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xlaunch.local.objects import containers_of

Containers = Mapping[str, Any]
# A real API server mounts a service account's token into every container, whether its owner asked for that or not
# (kubernetes 1.37, plugin/pkg/admission/serviceaccount, DefaultAPITokenMountPath)
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"


def make_volumes(pod: Mapping[str, Any], directory: Path) -> dict[str, Path]:
    """The directory that stands for each volume: a fresh one for emptyDir, the machine's own for hostPath.

    Volumes of other kinds have none.
    """
    found: dict[str, Path] = {}
    for volume in pod["spec"].get("volumes") or ():
        if "hostPath" in volume:
            found[volume["name"]] = Path(volume["hostPath"]["path"])
        elif "emptyDir" in volume:
            found[volume["name"]] = directory / volume["name"]
            found[volume["name"]].mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def temporary_directory(container: Containers, volumes: Mapping[str, Path]) -> Path | None:
    """The volume that the container mounts at /tmp: processes get it as TMPDIR."""
    for mount in container.get("volumeMounts") or ():
        if mount["mountPath"].rstrip("/") == "/tmp" and mount["name"] in volumes:
            return volumes[mount["name"]] / (mount.get("subPath") or "")
    return None


def not_emulated(pod: Mapping[str, Any], volumes: Mapping[str, Path]) -> Iterator[str]:
    """One sentence for each thing that the manifest asks for and that a process here does not get."""
    for container in containers_of(pod["spec"]):
        name = container["name"]
        for mount in container.get("volumeMounts") or ():
            if sentence := _mount(name, mount, volumes):
                yield sentence
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if container.get(probe):
                yield f"container {name}: its {probe} is not run; it counts as passed while the container runs"
        for hook in container.get("lifecycle") or {}:
            yield f"container {name}: its {hook} hook is not run"


def _mount(container: str, mount: Mapping[str, Any], volumes: Mapping[str, Path]) -> str:
    path = mount["mountPath"]
    if path == TOKEN:
        return ""
    directory = volumes.get(mount["name"])
    where = f"container {container}: nothing is mounted at {path}, since it is a process of this machine"
    if directory is None:
        return f"{where}; volume {mount['name']} is of a kind that the embedded cluster does not have"
    directory /= mount.get("subPath") or ""
    if path.rstrip("/") == "/tmp" or Path(path) == directory:
        return ""
    return f"{where}; volume {mount['name']} is {directory}"
