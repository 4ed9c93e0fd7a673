"""Names of pods: a file per namespace that stands for the cluster's DNS, `IP NAME ...` a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlaunch.local.state import replace_file

DOMAIN = "svc.cluster.local"


def names(pod: Mapping[str, Any]) -> list[str]:
    """The names under which a pod is found: its own, and below its subdomain as a headless Service gives them."""
    spec, namespace = pod["spec"], pod["metadata"]["namespace"]
    host, subdomain = spec.get("hostname"), spec.get("subdomain")
    own = [pod["metadata"]["name"]]
    if not host:
        return own
    if not subdomain:
        return [host, *own]
    short = f"{host}.{subdomain}"
    return [short, host, *own, f"{short}.{namespace}", f"{short}.{namespace}.svc", f"{short}.{namespace}.{DOMAIN}"]


class Hosts:
    """Keeps the files up to date; a reader sees the old file or the new one, never half of it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lines: dict[str, dict[str, str]] = {}
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, namespace: str) -> Path:
        """The file of a namespace."""
        return self._directory / namespace

    def add(self, pod: Mapping[str, Any], address: str) -> None:
        """The pod has an address; the newest of several pods of one name comes first."""
        meta = pod["metadata"]
        line = f"{address} {' '.join(names(pod))}\n"
        self._lines[meta["namespace"]] = {meta["uid"]: line, **self._lines.get(meta["namespace"], {})}
        self._write(meta["namespace"])

    def remove(self, pod: Mapping[str, Any]) -> None:
        """The pod has ended."""
        meta = pod["metadata"]
        if self._lines.get(meta["namespace"], {}).pop(meta["uid"], None):
            self._write(meta["namespace"])

    def _write(self, namespace: str) -> None:
        replace_file(self.path(namespace), "".join(self._lines[namespace].values()))
