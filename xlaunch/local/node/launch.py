"""What to execute for a container: argv, environment and working directory on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlaunch.local.node.env import Addresses, Read, environment, expand
from xlaunch.local.node.process import Invocation
from xlaunch.local.node.volumes import temporary_directory
from xlaunch.local.state import MARKER

# Of the server's own environment a container gets no more than it takes to find and run programs: least of all
# credentials, with which a rehearsal could write to a real bucket
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", MARKER)

StandIn = Callable[[Mapping[str, Any]], list[str] | None]


class CreateError(Exception):
    """The container cannot be created: the message of the kubelet's CreateContainerError."""


@dataclass(frozen=True)
class Site:
    """What all pods of a cluster share. `directory` is the cluster's own, `shims` the Python packages put first.

    `reported_network` takes the place of 127 in the pod addresses that the API server is told: a real control plane
    takes no loopback address into EndpointSlices (kubernetes 1.37, pkg/apis/discovery/validation).
    """

    directory: Path
    subnet: int
    time_scale: float
    stand_in: StandIn
    shims: Path
    environ: Mapping[str, str]
    reported_network: int = 127

    def reported(self, address: str) -> str:
        """A pod's address as the API server is told it."""
        return f"{self.reported_network}.{address.partition('.')[2]}"

    @property
    def buckets(self) -> Path:
        """The directory that stands for gs://."""
        return self.directory / "buckets"

    def pod(self, uid: str) -> Path:
        """The scratch directory of a pod; it goes with the pod."""
        return self.directory / "pods" / uid

    def logs(self, uid: str) -> Path:
        """The directory of a pod's logs: CONTAINER/INSTANCE.log, named as in the kubelet's /var/log/pods."""
        return self.directory / "logs" / uid

    def forget(self, uid: str) -> None:
        """Removes all that a pod has left on disk."""
        for directory in (self.pod(uid), self.logs(uid)):
            shutil.rmtree(directory, ignore_errors=True)


async def invocation(
    container: Mapping[str, Any],
    pod: Mapping[str, Any],
    addresses: Addresses,
    read: Read,
    site: Site,
    *,
    hosts: Path,
    volumes: Mapping[str, Path],
) -> Invocation:
    """What to execute. Raises ConfigError for its environment, CreateError for what this machine cannot run."""
    given = await environment(container, pod, addresses, read)
    command = [expand(word, given) for word in container.get("command") or ()]
    args = [expand(word, given) for word in container.get("args") or ()]
    argv = [*command, *args] if command else site.stand_in({**container, "args": args})
    if not argv:
        raise CreateError(
            f'image "{container.get("image", "")}" is not run here: pods are processes of this machine. '
            "Give the container a command"
        )
    scratch = _fresh(site.pod(pod["metadata"]["uid"]) / "containers" / container["name"])
    temporary = temporary_directory(container, volumes) or scratch / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    env = {
        **{name: site.environ[name] for name in INHERITED if name in site.environ},
        "HOME": str(scratch),
        "HOSTNAME": hostname(pod),
        "TMPDIR": str(temporary),
        "TZ": "UTC",  # as in an image without a time zone
        **given,
        **_own(addresses, site, hosts, given.get("PYTHONPATH")),
    }
    return Invocation(argv, env, working_directory(container, scratch), is_stand_in=not command)


def _own(addresses: Addresses, site: Site, hosts: Path, python_path: str | None) -> dict[str, str]:
    """What the stand-ins and the rehearsal trainer need to know (docs/embedded-cluster-node.md)."""
    return {
        "XLAUNCH_POD_IP": addresses.pod,
        "XLAUNCH_HOSTS": str(hosts),
        "XLAUNCH_TIME_SCALE": f"{site.time_scale:g}",
        "XLAUNCH_BUCKETS": str(site.buckets),
        "PYTHONPATH": os.pathsep.join(part for part in (str(site.shims), python_path) if part),
    }


def hostname(pod: Mapping[str, Any]) -> str:
    """What the pod calls itself: its node's name on the host network (kubelet, `GeneratePodHostNameAndDomain`)."""
    spec = pod["spec"]
    if spec.get("hostNetwork"):
        return str(spec["nodeName"])
    return str(spec.get("hostname") or pod["metadata"]["name"])[:63]


def working_directory(container: Mapping[str, Any], scratch: Path) -> Path:
    """The manifest's workingDir if this machine has it, the container's own directory if none is given.

    An image's own files are not there, so that another directory would only hide why nothing is found: CreateError.
    """
    wanted = container.get("workingDir")
    if not wanted:
        return scratch
    if not Path(wanted).is_dir():
        raise CreateError(f'workingDir "{wanted}" does not exist on this machine, and images are not run here')
    return Path(wanted)


def _fresh(directory: Path) -> Path:
    """An empty directory: a restarted container has none of the files that it wrote outside its volumes."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700, parents=True)
    return directory
