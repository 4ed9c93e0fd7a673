"""Why a pod that was followed is no more: noted while that can be seen, for it goes with the pod and the restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.cluster.api import Api
from xlaunch.cluster.observe import events_about
from xlaunch.core import pods as podlib
from xlaunch.core.ending import fate
from xlaunch.core.events import latest, message
from xlaunch.core.workload import Phase, Workload

Object = Mapping[str, Any]

# The events by which JobSet says what it does about a failed Job (JobSet v0.12 pkg/constants/constants.go)
ACTION = "FailurePolicyAction"


class Fates:
    """What became of a workload's pods, as far as one of their containers and JobSet's own words tell."""

    def __init__(self, api: Api, uid: str, container: str) -> None:
        self._api = api
        self._uid = uid
        self._container = container
        self._ends: dict[str, str] = {}
        self._attempts: dict[str, int] = {}
        self._restart = ""

    def look(self, pods: Iterable[Object], workload: Workload | None) -> None:
        """Notes what there is to be seen now."""
        for pod in pods:
            uid = podlib.uid(pod)
            self._attempts[uid] = podlib.attempt(pod)
            if told := fate(pod, self._container):
                self._ends[uid] = told
        if workload and workload.phase is Phase.RESTARTING:
            self._restart = workload.message

    def take(self, before: str, after: str) -> list[str]:
        """Why the pod of the uid `after` has taken the place of the other; a restart of the JobSet is told once.

        While all starts anew the JobSet itself has its reason. Where that was not seen in time, or by a JobSet before
        0.12, which has no such condition, it is asked for the event.
        """
        restarted = self._attempts.get(after, 0) > self._attempts.get(before, 0)
        restart, self._restart = self._restart, ""
        if restarted and not restart:
            actions = filter(_is_action, events_about(self._api, self._uid, type="Warning"))
            restart = message(latest(actions) or {})
        return [told for told in (self._ends.get(before, ""), restart) if told]


def _is_action(event: Object) -> bool:
    return str(event.get("reason", "")).endswith(ACTION)
