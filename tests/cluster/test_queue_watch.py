"""Commands that wait tell each eviction and each alarm once."""

import pytest
from fakes.clock import FakeClock
from fakes.kubelet import FakeKubelet
from fakes.kueue import ADMITTED, QUEUE, TOO_BIG, evicted, pending, stats, workload
from fakes.objects import ended, jobset

from xlaunch.cluster.queue_watch import QueueWatch
from xlaunch.core.workload import Phase

RUNNING, SUSPENDED = jobset(labels=QUEUE), jobset(labels=QUEUE, suspend=True)
FOR_ANOTHER = evicted("Preempted", "Preempted to accommodate a workload")
TOLD = "train was evicted by its queue ({} time; no restart): Preempted: Preempted to accommodate a workload"


def preempted(times):
    return workload(conditions=[pending(), *FOR_ANOTHER], schedulingStats=stats(("Preempted", "", times)))


@pytest.fixture
def watch():
    api, said = FakeKubelet(), []
    api.workloads = [workload(conditions=ADMITTED)]
    made = QueueWatch(api, said.append, FakeClock())
    made.api, made.said = api, said
    return made


def test_each_eviction_is_told_once_and_asked_for_once(watch):
    watch.describe(RUNNING, ask=True)
    for times in (1, 2):
        watch.api.workloads = [preempted(times)]
        for _ in range(3):
            assert watch.describe(SUSPENDED).phase is Phase.QUEUED
    assert watch.said == [TOLD.format("1st"), TOLD.format("2nd")]
    assert watch.take_eviction() == "its queue evicted it: Preempted: Preempted to accommodate a workload"
    assert watch.take_eviction() == ""


def test_evictions_before_the_first_look_are_not_news(watch):
    watch.api.workloads = [preempted(3)]
    watch.describe(SUSPENDED)
    assert (watch.said, watch.take_eviction()) == ([], "")


def test_an_eviction_that_was_over_before_one_looked_is_still_told(watch):
    watch.describe(RUNNING, ask=True)
    again = [*ADMITTED, {**FOR_ANOTHER[0], "status": "False", "message": "Previously: Preempted to accommodate"}]
    watch.api.workloads = [workload(conditions=again, schedulingStats=stats(("Preempted", "", 1)))]
    watch.describe(RUNNING, ask=True)
    assert watch.said == ["train was evicted by its queue (1st time; no restart): Preempted to accommodate"]


def test_a_workload_that_runs_or_has_ended_is_not_asked_for(watch):
    watch.api.down = True
    assert watch.describe(RUNNING).queueing is None
    assert watch.describe(ended("Failed", labels=QUEUE), ask=True).queueing is None
    assert watch.describe(jobset(), ask=True).queueing is None


def test_alarms_are_told_once_and_anew_when_they_come_back(watch):
    never = workload(conditions=[pending(TOO_BIG)])
    for workloads in ([never], [never], [workload(conditions=[pending()])], [never]):
        watch.api.workloads = workloads
        watch.describe(SUSPENDED)
    told = (
        "train asks for more than queue team has when it is empty, and will never be admitted. "
        "Next: kubectl describe localqueue team -n default"
    )
    assert watch.said == [told, told]


def test_a_queue_that_does_not_answer_is_no_news(watch):
    watch.describe(RUNNING, ask=True)
    watch.api.down = True
    assert watch.describe(SUSPENDED).phase is Phase.QUEUED
    watch.api.down = False
    watch.api.workloads = [preempted(1)]
    watch.describe(SUSPENDED)
    assert watch.said == [TOLD.format("1st")]
