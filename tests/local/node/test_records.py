from datetime import UTC, datetime

import pytest

from xlaunch.local.node.records import records

from .fakes import container, pod, sidecar

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def one(**options):
    return records(pod(**options))[0]


@pytest.mark.parametrize(
    ("policy", "init", "side"),
    [("Never", "Never", "Always"), ("OnFailure", "OnFailure", "Always"), ("Always", "OnFailure", "Always")],
)
def test_policies_of_containers(policy, init, side):
    found = records(pod(inits=[container("i"), sidecar("s")], policy=policy))
    assert [(each.name, each.kind, each.policy) for each in found] == [
        ("i", "init", init),
        ("s", "sidecar", side),
        ("main", "main", policy),
    ]


def test_a_container_may_have_a_policy_of_its_own():
    assert records(pod(container(restartPolicy="OnFailure"), policy="Never"))[0].policy == "OnFailure"


@pytest.mark.parametrize(("inits", "reason"), [((), "ContainerCreating"), ((sidecar(),), "PodInitializing")])
def test_first_waiting_reason(inits, reason):
    assert records(pod(inits=inits))[-1].state == {"waiting": {"reason": reason}}


def test_a_restart_keeps_the_last_end_and_counts():
    record = one(policy="OnFailure")
    record.begin("a", NOW)
    assert record.restarts == 0
    record.end(139, NOW, 5.0)
    assert record.terminated == {
        "exitCode": 139,
        "reason": "Error",
        "startedAt": "2026-11-29T12:00:00Z",
        "finishedAt": "2026-11-29T12:00:00Z",
        "containerID": "a",
    }
    record.begin("b", NOW)
    assert record.restarts == 1
    assert record.last["terminated"]["containerID"] == "a"
    record.end(0, NOW, 6.0)
    record.wait("CrashLoopBackOff", "m")
    assert record.restarts == 1
    assert record.last["terminated"]["exitCode"] == 0
    assert record.status()["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}}


def test_a_lost_machine_leaves_255():
    record = one()
    record.begin("a", NOW)
    record.vanish(NOW, 1.0)
    assert (record.exit_code, record.terminated["reason"]) == (255, "Unknown")
    assert not record.may_restart


@pytest.mark.parametrize(
    ("policy", "code", "again"),
    [("Never", 1, False), ("OnFailure", 1, True), ("OnFailure", 0, False), ("Always", 0, True), ("Always", 1, True)],
)
def test_may_restart(policy, code, again):
    record = one(policy=policy)
    assert record.may_restart
    record.begin("a", NOW)
    record.end(code, NOW, 1.0)
    assert record.may_restart is again


def test_records_go_on_from_the_status():
    body = pod(policy="OnFailure")
    before = records(body)[0]
    before.begin("a", NOW)
    before.end(1, NOW, 1.0)
    before.begin("b", NOW)
    after = records({**body, "status": {"containerStatuses": [before.status()]}})[0]
    assert after.status() == before.status()
