"""Why there is no log yet, in one line."""

import pytest
from fakes.kueue import QUEUE
from fakes.objects import CREATED, condition, jobset, on_silent_node, pod, status, waiting

from xlaunch.core.pending import first_held_up, newest_warning, why_waiting, with_warning
from xlaunch.core.queueing import QueueState, State
from xlaunch.core.workload import describe

NAME = "train-pathways-head-0-0-aaaaa"
EVICTED = condition("DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")
UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available:\n 3 Insufficient cpu.")


def head(**more):
    return pod("pathways-head", phase="Pending", **more)


PODS = [
    (
        "not scheduled",
        head(conditions=[UNSCHEDULABLE]),
        f"pod {NAME} is not scheduled: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    (
        "gated",
        head(conditions=[condition("PodScheduled", "False", "SchedulingGated")]),
        f"pod {NAME} is not scheduled: SchedulingGated",
    ),
    (
        "image",
        head(statuses=[status(state=waiting("ImagePullBackOff", "Back-off pulling image"))]),
        f"pod {NAME}, container main: ImagePullBackOff: Back-off pulling image",
    ),
    (
        "a sidecar holds it up",
        head(
            init_statuses=[status("pathways-rm", state=waiting("CrashLoopBackOff"))],
            statuses=[status(state=waiting("PodInitializing"))],
        ),
        f"pod {NAME}, container pathways-rm: CrashLoopBackOff",
    ),
    (
        "nothing to tell",
        head(statuses=[status(state=waiting("PodInitializing"))]),
        f"pod {NAME} is Pending, its containers are being started",
    ),
    ("on its way out", head(deleted="2026-11-29T12:00:00Z"), f"pod {NAME} is being deleted"),
    (
        "evicted",
        head(deleted="2026-11-29T12:00:00Z", conditions=[EVICTED]),
        f"pod {NAME} is being deleted: EvictionByEvictionAPI: Eviction API: evicting",
    ),
    (
        "its node does not answer",
        on_silent_node(pod("pathways-head", statuses=[status()]), "cpu-np-0", seconds=300),
        f"pod {NAME} is on node cpu-np-0, which has not answered since {CREATED}; Kubernetes evicts it after 5m",
    ),
    (
        "given up by the kubelet",
        {**head(), "status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory"}},
        f"pod {NAME} failed: Evicted: low on memory",
    ),
]


@pytest.mark.parametrize(("made", "line"), [case[1:] for case in PODS], ids=[case[0] for case in PODS])
def test_a_pod_that_waits(made, line):
    assert why_waiting(made, describe(jobset())) == line


def test_silent_nodes_come_before_what_waits_for_them():
    pending = pod("worker", 1, 0, phase="Pending", conditions=[UNSCHEDULABLE])
    silent = [on_silent_node(pod("worker", 1, host), f"tpu-1-{host}") for host in (1, 2)]
    assert first_held_up([pending]).startswith("pod train-worker-1-0-aaaaa is not scheduled")
    assert first_held_up([pending, *silent]).startswith("2 pods are on nodes that have not answered since ")
    assert first_held_up([pod("worker", 1, 3)]) == ""


SUSPENDED = [condition("Suspended", reason="SuspendedJobs", message="jobset is suspended")]
WORKLOADS = [
    (jobset(ready=None, suspend=True, labels={"kueue.x-k8s.io/queue-name": "tpu"}), "it waits in queue tpu"),
    (jobset(suspend=True, conditions=SUSPENDED), "it is suspended: jobset is suspended"),
    (
        jobset(restarts=2, conditions=[condition("RestartingJobSet", message="applying")]),
        "JobSet restarts it (2 of 3): applying",
    ),
    (jobset(deleting=True), "it is being deleted"),
    (jobset(ready=None), "its pod has not been created yet"),
]


@pytest.mark.parametrize(("body", "line"), WORKLOADS)
def test_a_workload_without_a_pod(body, line):
    assert why_waiting(None, describe(body)) == line


QUEUED = jobset(suspend=True, conditions=SUSPENDED, labels=QUEUE)
QUEUES = [
    (QUEUED, QueueState(State.PENDING, message="no quota", local_queue="team"), "it waits in queue team: no quota"),
    (
        QUEUED,
        QueueState(State.HELD, message="The workload is deactivated"),
        "it is held back: The workload is deactivated",
    ),
    (QUEUED, QueueState(State.NOT_QUEUED), "it is suspended: jobset is suspended"),
    (jobset(ready=None, labels=QUEUE), QueueState(State.ADMITTED), "its pod has not been created yet"),
]


@pytest.mark.parametrize(("body", "queue", "line"), QUEUES)
def test_a_workload_that_a_queue_holds_back(body, queue, line):
    assert why_waiting(None, describe(body, queue)) == line


def test_a_jobset_that_is_gone():
    assert why_waiting(None, None) == "its JobSet is gone"


def test_the_newest_warning_of_either_event_api():
    events = [
        {"type": "Warning", "reason": "FailedMount", "message": "old", "lastTimestamp": "2026-11-29T12:00:00Z"},
        {"type": "Normal", "reason": "Pulling", "message": "x", "lastTimestamp": "2026-11-29T12:09:00Z"},
        {
            "type": "Warning",
            "reason": "FailedScheduling",
            "note": "0/3 nodes",
            "eventTime": "2026-11-29T12:01:00.1Z",
            "lastTimestamp": None,
        },
        {
            "type": "Warning",
            "reason": "BackOff",
            "message": "a",
            "series": {"lastObservedTime": "2026-11-29T12:00:30Z"},
        },
    ]
    assert newest_warning(events) == "FailedScheduling: 0/3 nodes"
    assert newest_warning(events[1:2]) == ""


@pytest.mark.parametrize(
    ("reason", "message", "told"),
    [
        ("not scheduled: Unschedulable: 0/3 nodes", "0/3 nodes", "not scheduled: Unschedulable: 0/3 nodes"),
        ("being started", "0/3  nodes", "being started; FailedScheduling: 0/3 nodes"),
        ("being started", "", "being started; FailedScheduling"),
    ],
)
def test_a_warning_is_added_where_it_says_something_else(reason, message, told):
    event = {"metadata": {}, "type": "Warning", "reason": "FailedScheduling", "message": message}
    assert with_warning(reason, [event]) == told
    assert with_warning(reason, []) == reason
