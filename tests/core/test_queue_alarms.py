"""A queue that will never let a workload run, or will take a running one away, is an alarm; a wait is none."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.kueue import ADMITTED, QUEUE, SHORT, TOO_BIG, evicted, pending, workload
from fakes.objects import condition, ended, jobset

from xlaunch.core.kueue import read
from xlaunch.core.ledger import ledger
from xlaunch.core.queue_alarms import queue_alarms
from xlaunch.core.queueing import QueueState, State
from xlaunch.core.workload import describe

SUSPENDED = jobset(suspend=True, labels=QUEUE)
RUNNING = jobset(labels=QUEUE)
LOOK = "kubectl describe localqueue team -n default"
STOPPED = pending("ClusterQueue cq is inactive", "Inadmissible")
GAVE_UP = evicted(
    "DeactivatedDueToRequeuingLimitExceeded",
    "The workload is deactivated due to exceeding the maximum number of re-queuing retries",
)
ANEW = "kubectl delete workload.kueue.x-k8s.io jobset-train-c07e7 -n default --wait=false"
RECOVERING = [*ADMITTED, condition("PodsReady", "False", "WaitForRecovery")]
CONFIGURATION = "kubectl get configmap kueue-manager-config -n kueue-system -o yaml"


def found(body, queue, after=60.0):
    return list(queue_alarms(describe(body, queue), START + timedelta(seconds=after)))


CASES = [
    ("it waits for quota", SUSPENDED, {"conditions": [pending(SHORT)]}, []),
    ("never fits", SUSPENDED, {"conditions": [pending(TOO_BIG)]}, [("QueueNeverFits", LOOK)]),
    (
        "no such queue",
        SUSPENDED,
        {"conditions": [pending("LocalQueue team doesn't exist", "Inadmissible")]},
        [("QueueMissing", "kubectl get localqueues -n default")],
    ),
    ("stopped", SUSPENDED, {"conditions": [STOPPED]}, [("QueueStopped", LOOK)]),
    (
        "drained",
        SUSPENDED,
        {"conditions": [STOPPED, *evicted("ClusterQueueStopped", "The ClusterQueue is stopped", requeued=False)]},
        [("QueueStopped", LOOK)],
    ),
    ("given up", SUSPENDED, {"conditions": [pending(), *GAVE_UP], "active": False}, [("QueueGaveUp", ANEW)]),
    ("given up, and reactivated", SUSPENDED, {"conditions": [pending(), *GAVE_UP]}, [("QueueGaveUp", ANEW)]),
    ("held by a person", SUSPENDED, {"conditions": evicted("Deactivated", "x"), "active": False}, []),
    ("admitted", RUNNING, {"conditions": ADMITTED}, []),
    ("pods are lost", RUNNING, {"conditions": RECOVERING}, [("QueueMayEvict", CONFIGURATION)]),
    ("it has ended", ended("Failed", labels=QUEUE), {"conditions": RECOVERING}, []),
    ("it is being deleted", jobset(suspend=True, labels=QUEUE, deleting=True), {"conditions": [STOPPED]}, []),
]


@pytest.mark.parametrize(("body", "given", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_alarms(body, given, expected):
    assert [(each.reason, each.next) for each in found(body, read(workload(**given)))] == expected


@pytest.mark.parametrize(("after", "reasons"), [(10.0, []), (60.0, ["QueueSilent"])])
def test_a_queue_that_takes_no_note(after, reasons):
    assert [each.reason for each in found(SUSPENDED, QueueState(State.UNSEEN), after)] == reasons
    assert found(RUNNING, QueueState(State.UNSEEN), after) == []


def test_what_is_not_known_is_no_alarm():
    assert found(SUSPENDED, None) == []
    assert found(SUSPENDED, QueueState(State.NOT_QUEUED)) == []


def test_how_long_the_queue_has_waited_for_lost_pods():
    [alarm] = found(RUNNING, read(workload(conditions=RECOVERING)))
    assert alarm.message.startswith("Kueue has waited 60s for lost pods; when its recoveryTimeout (waitForPodsReady)")


def test_the_ledger_has_them_also_while_it_is_suspended():
    queue = read(workload(conditions=[pending(TOO_BIG)]))
    counted = ledger(SUSPENDED, [], [], START, queue)
    assert [each.reason for each in counted.alarms] == ["QueueNeverFits"]
    assert counted.waiting == f"it waits in queue team: {TOO_BIG}"
