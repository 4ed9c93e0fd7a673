"""Naming lost pods that are gone, by the events that they and their Jobs have left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlaunch.cluster.api import Api, ApiError
from xlaunch.cluster.observe import events_where
from xlaunch.core import pods as podlib
from xlaunch.core.errors import NetworkError
from xlaunch.core.ledger import Ledger, Slice
from xlaunch.core.losses import Loss
from xlaunch.core.names import job_name
from xlaunch.core.traces import last_pod, who_ended

Object = Mapping[str, Any]

# So many hosts are asked about: people read no more, and each is a request
FEW_HOSTS = 4


def with_traces(api: Api, ledger: Ledger, jobs: Sequence[Object] | None) -> Ledger:
    """The ledger with the names of the first few lost pods that are gone, and who ended them, as far as events tell.

    Asks nothing where no host is missing, and nothing more once events could not be read.
    """
    uids = {job["metadata"]["name"]: podlib.uid(job) for job in jobs or ()}
    left = FEW_HOSTS
    slices = []
    for each in ledger.slices:
        job = job_name(ledger.workload.name, each.role, each.index)
        gone = [loss for loss in each.losses if not loss.pod and job in uids][:left]
        left -= len(gone)
        try:
            slices.append(_traced(api, each, gone, job, uids[job]) if gone else each)
        except (ApiError, NetworkError):
            slices.append(each)
            left = 0
    return replace(ledger, slices=tuple(slices))


def _traced(api: Api, each: Slice, gone: Sequence[Loss], job: str, uid: str) -> Slice:
    made = events_where(api, {"involvedObject.uid": uid, "reason": "SuccessfulCreate"})
    found = {loss: _named(api, loss, last_pod(made, job, loss.host)) for loss in gone}
    return replace(each, losses=tuple(found.get(loss, loss) for loss in each.losses))


def _named(api: Api, loss: Loss, pod: str) -> Loss:
    told = events_where(api, {"involvedObject.kind": "Pod", "involvedObject.name": pod}) if pod else ()
    return replace(loss, pod=pod, why=who_ended(told))
