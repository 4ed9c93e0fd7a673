"""When a slice lost hosts whose pods are gone already, by what is left to tell it.

That is a condition of the JobSet, which is about all slices together, and the last write of the Job's status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.conditions import condition
from xlaunch.core.timestamps import parse

Object = Mapping[str, Any]
Place = tuple[str, int]  # replicated job and index


@dataclass(frozen=True)
class Outage:
    """What is told of one slice; None is what nobody tells.

    `began`: since when it is short of hosts. `counted`: when its latest loss was counted, at the latest.
    """

    began: datetime | None
    counted: datetime | None

    @property
    def since(self) -> datetime | None:
        """The earlier one, since when hosts are lost as far as is known."""
        return self.began or self.counted


class Outages:
    """The outages of a JobSet's slices, of which each has so many hosts and these pods."""

    def __init__(self, jobset: Object, slices: Mapping[Place, tuple[int, Sequence[Object]]]) -> None:
        self._began = began = outage_since(jobset)
        self._short = [place for place, (hosts, pods) in slices.items() if began and had_part(hosts, pods, began)]

    def of(self, place: Place, job: Object | None) -> Outage:
        """That of one slice; where several had a part, nobody knows which of them began it."""
        return Outage(self._began if self._short == [place] else None, counted_at(job))


def outage_since(jobset: Object) -> datetime | None:
    """Since when a JobSet that starts in order is short of a slice or more, without a break; None where it is not."""
    since = condition(jobset.get("status") or {}, "StartupPolicyInProgress")
    return parse(since.get("lastTransitionTime")) if since.get("status") == "True" else None


def had_part(hosts: int, pods: Sequence[Object], began: datetime) -> bool:
    """Whether a slice of so many hosts had a part in an outage: some are not ready, or were replaced meanwhile."""
    there = sum(podlib.is_ready(pod) or podlib.phase(pod) == "Succeeded" for pod in pods)
    made = (parse(pod["metadata"].get("creationTimestamp")) for pod in pods)
    return there < hosts or any(moment > began for moment in made if moment)


def counted_at(job: Object | None) -> datetime | None:
    """When the Job's status was last written, which a loss is never later than once its pod is gone.

    managedFields, which API servers keep since Kubernetes 1.22; None without them.
    """
    entries = (job["metadata"].get("managedFields") or ()) if job else ()
    times = (parse(each.get("time")) for each in entries if each.get("subresource") == "status")
    return max((time for time in times if time), default=None)
