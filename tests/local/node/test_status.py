"""Phases as kubernetes 1.35's getPhase gives them (pkg/kubelet/kubelet_pods_test.go has the like)."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.node.env import Addresses
from xlaunch.local.node.records import ContainerRecord
from xlaunch.local.node.status import Ending, close_records, phase, pod_status

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WHERE = Addresses("127.77.128.1", "127.77.0.1")
RUN = {"running": {"startedAt": "2026-11-29T11:00:00Z"}}
NEW = {"waiting": {"reason": "ContainerCreating"}}
DONE = {"terminated": {"exitCode": 0, "reason": "Completed"}}
BAD = {"terminated": {"exitCode": 1, "reason": "Error"}}
BACK = {"waiting": {"reason": "CrashLoopBackOff"}}


def record(kind, state, last=None, policy="Never"):
    return ContainerRecord(
        name=kind, image="x", kind=kind, policy=policy, state=state, last=last or {}, id="" if state is NEW else "id"
    )


def main(state, last=None):
    return record("main", state, last)


@pytest.mark.parametrize(
    ("records", "policy", "terminal", "expected"),
    [
        ([main(NEW)], "Never", False, "Pending"),
        ([main(RUN)], "Never", False, "Running"),
        ([main(RUN), main(NEW)], "Never", False, "Pending"),
        ([main(NEW)], "OnFailure", True, "Failed"),
        ([main(DONE)], "Never", False, "Succeeded"),
        ([main(DONE)], "OnFailure", False, "Succeeded"),
        ([main(DONE)], "Always", False, "Running"),
        ([main(DONE)], "Always", True, "Succeeded"),
        ([main(BAD)], "Never", False, "Failed"),
        ([main(BAD)], "OnFailure", False, "Running"),
        ([main(BAD)], "OnFailure", True, "Failed"),
        ([main(BAD)], "Always", True, "Failed"),
        ([main(BACK, BAD)], "OnFailure", False, "Running"),
        ([main(BACK, DONE)], "Always", False, "Running"),
        ([main(DONE), main(BAD)], "Never", False, "Failed"),
        ([main(DONE), main(RUN)], "Never", False, "Running"),
        ([record("init", NEW), main(NEW)], "Never", False, "Pending"),
        ([record("init", RUN), main(NEW)], "Never", False, "Pending"),
        ([record("init", BAD), main(NEW)], "Never", False, "Failed"),
        ([record("init", BAD), main(NEW)], "OnFailure", False, "Pending"),
        ([record("init", BACK, BAD), main(NEW)], "Always", False, "Pending"),
        ([record("init", DONE), main(RUN)], "Never", False, "Running"),
        ([record("sidecar", NEW), main(NEW)], "Never", False, "Pending"),
        ([record("sidecar", RUN), main(NEW)], "Never", False, "Pending"),
        ([record("sidecar", BACK, BAD), main(RUN)], "Never", False, "Running"),
        ([record("sidecar", BAD), main(DONE)], "Never", False, "Succeeded"),
        ([record("sidecar", DONE), main(BAD)], "Never", False, "Failed"),
        ([record("sidecar", RUN), main(DONE)], "Never", False, "Running"),
    ],
)
def test_phase(records, policy, terminal, expected):
    initialized = any(each.kind == "main" and each.id for each in records)
    assert phase(records, policy, terminal=terminal, initialized=initialized) == expected


def written(records, before=None, policy="Never", **ending):
    pod = {"spec": {"restartPolicy": policy}, "status": before or {}}
    return pod_status(pod, records, WHERE, NOW, Ending(**ending))


def conditions(status):
    return {each["type"]: each for each in status["conditions"]}


@pytest.mark.parametrize(
    ("records", "ready", "reason"),
    [
        ([main(RUN)], "True", None),
        ([main(NEW)], "False", "ContainersNotReady"),
        ([main(DONE)], "False", "PodCompleted"),
        ([main(BAD)], "False", "PodFailed"),
        ([record("sidecar", BACK, BAD), main(RUN)], "False", "ContainersNotReady"),
        ([record("init", DONE), main(RUN)], "True", None),
    ],
)
def test_ready(records, ready, reason):
    found = conditions(written(records))
    for kind in ("Ready", "ContainersReady"):
        assert (found[kind]["status"], found[kind].get("reason")) == (ready, reason)


def test_a_condition_keeps_the_time_of_its_last_change():
    before = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-29T10:00:00Z"}]
    found = conditions(written([main(RUN)], {"conditions": before}))
    assert found["Ready"]["lastTransitionTime"] == "2026-11-29T10:00:00Z"
    assert found["ContainersReady"]["lastTransitionTime"] == "2026-11-29T12:00:00Z"


def test_a_reason_that_no_longer_holds_is_removed_by_the_patch():
    before = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "m"}]
    ready = conditions(written([main(RUN)], {"conditions": before}))["Ready"]
    assert (ready["reason"], ready["message"]) == (None, None)
    assert ready["lastTransitionTime"] == "2026-11-29T12:00:00Z"


def test_a_pod_ended_by_its_node_has_the_reason():
    status = written([main(BAD)], reason="DeadlineExceeded", message="too long", terminal=True)
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "DeadlineExceeded", "too long")


def test_no_final_phase_while_a_container_runs():
    status = written([record("sidecar", RUN), main(BAD)], reason="DeadlineExceeded", message="m")
    assert status["phase"] == "Running"


def test_start_time_is_written_once():
    assert written([main(RUN)])["startTime"] == "2026-11-29T12:00:00Z"
    before = {"startTime": "2026-11-29T09:00:00Z"}
    assert written([main(RUN)], before)["startTime"] == "2026-11-29T09:00:00Z"


def test_ready_of_init_containers_means_done():
    status = written([record("init", DONE), record("sidecar", RUN), main(RUN)])
    assert [each["ready"] for each in status["initContainerStatuses"]] == [True, True]
    assert "initContainerStatuses" not in written([main(RUN)])


def codes(records):
    close_records(records)
    return [each.exit_code for each in records]


def test_close_records():
    records = [main(NEW), main(BACK, BAD), main(DONE)]
    assert codes(records) == [137, 1, 0]
    assert records[0].terminated["reason"] == "ContainerStatusUnknown"
    assert records[1].last == {}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([record("init", BAD), record("sidecar", NEW), main(NEW)], [1, None, None]),
        ([record("init", NEW), main(NEW)], [None, None]),
        ([record("init", DONE), main(NEW)], [0, 137]),
        ([record("sidecar", BAD), main(NEW), main(RUN)], [1, 137, 137]),
    ],
    ids=["init failed", "nothing began", "initialized", "one main began"],
)
def test_containers_that_were_not_due_go_on_waiting(records, expected):
    assert codes(records) == expected
    assert written(records, terminal=True)["phase"] == "Failed"
