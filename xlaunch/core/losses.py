"""The hosts that a slice has lost and not got back yet: which, since when, and why, in Kubernetes' own words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.ending import disruption, ending
from xlaunch.core.excerpt import reason_and_message
from xlaunch.core.replacement import lost_at
from xlaunch.core.silence import silent_since

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Loss:
    """One host, and the pod that was lost there.

    `pod` and `why` are "" where that object is gone and nothing else tells; `since` is None where no time is known.
    `replaced`: another pod has its place already, while this one is still going.
    """

    host: int
    pod: str
    since: datetime | None
    why: str
    replaced: bool = False


def losses(
    gone: Sequence[Object], missing: Iterable[int], alive: Collection[int], outage: datetime | None
) -> tuple[Loss, ...]:
    """The losses of a slice by host.

    `gone` are its lost pods that are still there, and those on nodes that do not answer; `missing` the hosts without a
    pod that answers, `alive` those that have one, and `outage` since when the slice is short of hosts: all that is
    known of a loss whose pod is gone.
    """
    found = [_loss(host, _last_of(host, gone), outage) for host in missing]
    going = [pod for pod in gone if podlib.is_deleting(pod) and podlib.completion_index(pod) in alive]
    found += [_loss(podlib.completion_index(pod), pod, outage, replaced=True) for pod in going]
    return tuple(sorted(found, key=lambda loss: (loss.host, loss.replaced, loss.pod)))


def why_lost(pod: Object) -> str:
    """Why a pod is lost, or will be; "" for one that is not."""
    status = pod.get("status") or {}
    if not podlib.is_lost(pod):
        return f"node {pod['spec']['nodeName']} does not answer" if silent_since(pod) else ""
    if disrupted := disruption(pod):
        return disrupted
    if podlib.is_deleting(pod):
        return "deleted"
    if status.get("reason"):
        return reason_and_message(status)
    ends = (ending(each.name, each.exit) for each in podlib.containers(pod) if each.exit and each.exit.code)
    return next(ends, "failed")


def loss_words(loss: Loss) -> str:
    """ "pod train-worker-1-2-aaaaa: deleted", or which host it was where nothing is left of the pod."""
    return f"pod {loss.pod}: {loss.why or 'gone'}" if loss.pod else f"host {loss.host}, whose pod is gone"


def _last_of(host: int, pods: Iterable[Object]) -> Object | None:
    mine = (pod for pod in pods if podlib.completion_index(pod) == host)
    return max(mine, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")), default=None)


def _loss(host: int, pod: Object | None, outage: datetime | None, *, replaced: bool = False) -> Loss:
    if pod is None:
        return Loss(host, "", outage, "")
    return Loss(host, pod["metadata"]["name"], lost_at(pod) or outage, why_lost(pod), replaced)
