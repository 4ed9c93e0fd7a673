"""Alarms about a queue: what keeps a workload waiting for ever, and what will take a running one away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from xlaunch.core.alarms import Alarm
from xlaunch.core.queueing import State, release
from xlaunch.core.timestamps import words
from xlaunch.core.workload import Workload

# Kueue makes a Workload within a second or two
UNSEEN_SECONDS = 30.0


def queue_alarms(workload: Workload, now: datetime) -> Iterator[Alarm]:
    """All that calls for a person, as far as the queue is known."""
    queue = workload.queueing
    if queue is None or workload.phase.ended or workload.deleting:
        return
    name, namespace = workload.name, workload.namespace
    look = f"kubectl describe localqueue {queue.local_queue} -n {namespace}"
    if queue.state.waits and queue.never_fits:
        told = f"{name} asks for more than queue {queue.local_queue} has when it is empty, and will never be admitted"
        yield Alarm("QueueNeverFits", told, look)
    if queue.state.waits and queue.queue_is_missing:
        told = f"{name} waits in vain: {queue.refusal}"
        yield Alarm("QueueMissing", told, f"kubectl get localqueues -n {namespace}")
    if queue.state.waits and queue.queue_is_stopped:
        yield Alarm("QueueStopped", f"Nothing is admitted until the queue is started again: {queue.refusal}", look)
    if queue.given_up:
        told = f"Kueue has given {name} up until its Workload is made anew: {queue.message}"
        yield Alarm("QueueGaveUp", told, release(queue, namespace))
    if queue.state is State.UNSEEN and workload.suspended and _age(workload, now) > UNSEEN_SECONDS:
        told = (
            f"Kueue has taken no note of {name} in {words(_age(workload, now))}: its controller does not run, or does "
            "not manage JobSets or this namespace"
        )
        yield Alarm("QueueSilent", told, "kubectl logs -n kueue-system deployment/kueue-controller-manager")
    if queue.recovering_since and not workload.suspended:
        told = (
            f"Kueue has waited {words(now - queue.recovering_since)} for lost pods; when its recoveryTimeout "
            "(waitForPodsReady) is over, it evicts the whole workload, head included"
        )
        yield Alarm("QueueMayEvict", told, "kubectl get configmap kueue-manager-config -n kueue-system -o yaml")


def _age(workload: Workload, now: datetime) -> float:
    return (now - workload.created).total_seconds() if workload.created else 0.0
