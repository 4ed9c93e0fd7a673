"""Running a sequence on one cluster: what is done, when its state is taken, and when nothing moves any more."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worlds import until

from differential import normalise
from differential.clusters import Cluster
from differential.corpus import MERGE, Call
from differential.counting import LATE, LOOKS, Entry
from differential.rest import at_rest, is_ending
from differential.shapes import NAME, SLOT, placed
from differential.steps import Sequence, Step

RESOURCES = ("jobsets", "jobs", "pods", "services")
# Seconds of the cluster's time without a change: after them nothing is on its way that does not wait for something,
# the Job controller's batches of 1 s included
QUIET = 2.5
# After them nothing comes any more though something is missing: longer than the longest back-off of a sequence
STUCK = 28.0
LIMIT = 150.0
# A back-off of 10 s may be over after that: what a glance saw later may be the state before or after its end
GLANCE_SECONDS = 8.0
POLL = 0.5
STARTED = re.compile(r"Started container main as process (\d+)")
MARK = b"trap 'exit 3' USR1"


@dataclass
class Actor:
    """Does the steps of a sequence on one cluster and keeps what came of them."""

    cluster: Cluster
    slot: int
    record: list[Entry] = field(default_factory=list)
    acted: float = 0.0
    lost: str = ""

    def run(self, sequence: Sequence) -> list[Entry]:
        """The whole sequence, and the events at its end."""
        for number, step in enumerate(sequence.steps):
            if step.action not in LOOKS:
                self.acted = time.monotonic()
            if step.action == "create":
                value: Any = self._ask("POST", "jobsets", placed(sequence.jobset, self.slot))
            else:
                value = getattr(self, step.action)(step)
            self.record.append(Entry(f"{number} {step}", step.action, value))
        events = self.cluster.items("events")
        self.record.append(Entry("events", "events", normalise.events(events)))
        return self.record

    # ---- looking

    def settle(self, _step: Step) -> Any:
        """The state when nothing moves any more."""
        return self._state(wait_for_rest=True)

    def glance(self, _step: Step) -> Any:
        """The state when nothing is on its way out and only a back-off still runs; LATE where it may be over."""
        state = self._state(wait_for_rest=False)
        return LATE if (time.monotonic() - self.acted) / self.cluster.scale > GLANCE_SECONDS else state

    def _state(self, *, wait_for_rest: bool) -> Any:
        began = since = time.monotonic()
        last: Any = None
        while True:
            found = {plural: self.cluster.items(plural) for plural in RESOURCES}
            versions = [each["metadata"]["resourceVersion"] for items in found.values() for each in items]
            now = time.monotonic()
            if versions != last:
                last, since = versions, now
            quiet = (now - since) / self.cluster.scale
            done = at_rest(found) if wait_for_rest else not is_ending(found)
            if quiet >= STUCK or (quiet >= QUIET and done):
                return normalise.snapshot(found)
            assert now - began < LIMIT, f"{self.cluster.name} does not come to rest"
            time.sleep(POLL)

    # ---- doing

    def delete_pod(self, step: Step) -> Any:
        """Deletes one pod; `value` is the grace period."""
        pod = self._pod(step)
        return pod and self._delete(f"pods/{pod}", step.value)

    def delete_slice(self, step: Step) -> Any:
        """Deletes all pods of a Job at once."""
        labels = {"labelSelector": f"batch.kubernetes.io/job-name={step.job}"}
        options = {} if step.value is None else {"gracePeriodSeconds": step.value}
        pods = sum(_is_of(each, step.job) for each in self.cluster.items("pods"))
        answer = self.cluster.ask(Call("", "DELETE", "pods", options, labels))
        # Whether the answer shows the pods before or after is not promised
        return {"code": answer["code"], "pods": pods}

    def evict(self, step: Step) -> Any:
        """The Eviction API."""
        pod = self._pod(step)
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        return pod and _outcome(self._ask("POST", f"pods/{pod}/eviction", body))

    def signal(self, step: Step) -> Any:
        """Sends a signal to the main process of a pod."""
        pod = self._pod(step)
        pid = self._process(pod) if pod else 0
        if not pid:
            return None
        os.kill(pid, getattr(signal, f"SIG{step.value}"))
        return "sent"

    def suspend(self, step: Step) -> Any:
        """Suspends or resumes the JobSet."""
        return self.patch_jobset(Step("", value={"spec": {"suspend": step.value}}))

    def patch_jobset(self, step: Step) -> Any:
        """A merge patch of the JobSet."""
        return _outcome(self._ask("PATCH", f"jobsets/{NAME}", step.value, MERGE))

    def patch_job(self, step: Step) -> Any:
        """A merge patch of a Job."""
        return _outcome(self._ask("PATCH", f"jobs/{step.job}", step.value, MERGE))

    def delete_job(self, step: Step) -> Any:
        """Deletes a Job; `value` is the propagation policy."""
        body = {"propagationPolicy": step.value} if step.value else {}
        return _outcome(self._ask("DELETE", f"jobs/{step.job}", body))

    def delete_service(self, _step: Step) -> Any:
        """Deletes the headless Service."""
        names = [each["metadata"]["name"] for each in self.cluster.items("services")]
        return [self._ask("DELETE", f"services/{name}", {})["code"] for name in names]

    def delete_jobset(self, step: Step) -> Any:
        """Deletes the JobSet."""
        body = {"propagationPolicy": step.value} if step.value else {}
        return _outcome(self._ask("DELETE", f"jobsets/{NAME}", body))

    def cordon(self, step: Step) -> Any:
        """Makes the nodes of the slot unschedulable, or schedulable again."""
        api = self.cluster.api
        for node in api.request("GET", "/api/v1/nodes", query={"labelSelector": f"{SLOT}={self.slot}"}).body["items"]:
            path = f"/api/v1/nodes/{node['metadata']['name']}"
            api.request("PATCH", path, body={"spec": {"unschedulable": step.value or None}}, content_type=MERGE)

    def lose_node(self, step: Step) -> str:
        """Takes the power from the node of a pod."""
        self.lost = self._read(f"pods/{self._pod(step)}")["spec"]["nodeName"]
        self._node("PATCH", {"metadata": {"annotations": {"xlaunch.dev/lost": "true"}}})
        return "lost"

    def restore_node(self, _step: Step) -> None:
        """Gives it back."""
        self._node("PATCH", {"metadata": {"annotations": {"xlaunch.dev/lost": None}}})

    def delete_node(self, _step: Step) -> str:
        """Takes the Node object away, as a cloud does whose machine is gone."""
        self._node("DELETE", None)
        return "deleted"

    def await_eviction(self, step: Step) -> bool:
        """Waits until a pod of that Job is asked to leave its node."""
        return self._await(lambda pods: any("deletionTimestamp" in each["metadata"] for each in pods), step)

    def await_collection(self, step: Step) -> bool:
        """Waits until no pod is left on the node that is gone."""
        return self._await(lambda pods: all(each["spec"].get("nodeName") != self.lost for each in pods), step)

    def _await(self, check: Callable[[list[dict[str, Any]]], bool], step: Step) -> bool:
        return bool(until(lambda: check(self.cluster.items("pods")), f"{self.cluster.name}: {step}", LIMIT))

    def _node(self, method: str, body: Any) -> None:
        self.cluster.api.request(method, f"/api/v1/nodes/{self.lost}", body=body, content_type=MERGE)

    def _read(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.cluster.api.request("GET", self.cluster.path(path)).body
        return found

    def _ask(self, method: str, path: str, body: Any, content_type: str = "application/json") -> dict[str, Any]:
        return self.cluster.ask(Call("", method, path, body, content_type=content_type))

    def _delete(self, path: str, grace: int | None) -> Any:
        return _outcome(self._ask("DELETE", path, {} if grace is None else {"gracePeriodSeconds": grace}))

    def _pod(self, step: Step) -> str:
        """The name of the newest pod of that Job and index that lives; "" for none."""
        found = [
            (each["metadata"]["creationTimestamp"], each["metadata"]["name"])
            for each in self.cluster.items("pods")
            if _is_of(each, step.job)
            and each["metadata"]["labels"].get("batch.kubernetes.io/job-completion-index") == str(step.index)
            and each["status"].get("phase") in ("Pending", "Running")
        ]
        return max(found, default=("", ""))[1]

    def _process(self, pod: str) -> int:
        """The process of a pod's main container, as its node tells; 0 where there is none any more."""
        said = [
            (each["metadata"]["name"], found[1])
            for each in self.cluster.items("events")
            if each["involvedObject"]["name"] == pod and (found := STARTED.match(each.get("message", "")))
        ]
        pid = int(max(said, default=("", "0"))[1])
        command = Path(f"/proc/{pid}/cmdline")
        return pid if pid and command.exists() and MARK in command.read_bytes() else 0


def _is_of(pod: Mapping[str, Any], job: str) -> bool:
    """Whether a pod is one of a Job, and not on its way out."""
    meta = pod["metadata"]
    return "deletionTimestamp" not in meta and meta.get("labels", {}).get("batch.kubernetes.io/job-name") == job


def _outcome(answer: Mapping[str, Any]) -> Any:
    """An answer without the object, into which controllers write while we ask; test_answers.py compares objects."""
    return {key: value for key, value in answer.items() if key != "object"}
