"""From what a user said about the target to one API server: kubeconfig, pod, embedded cluster or GKE name."""

from __future__ import annotations

from dataclasses import dataclass

from xlaunch.cluster.api import Api


@dataclass(frozen=True)
class Connection:
    """An API server, the words that say where it leads, and the flags that lead there again.

    `where` stands in sentences ("cluster my-gke (europe-west4)"); `flags` holds only what the user gave, to be put
    into the commands that are proposed next.
    """

    api: Api
    where: str
    flags: tuple[str, ...] = ()
