"""Which pods are lost, what a podFailurePolicy says, and the test of restarts in place."""

import pytest

from xlaunch.local.controllers.job.failure import Verdict, is_failed, judge, past_restart_limit


def job(policy=None, **spec):
    rules = {"podFailurePolicy": {"rules": policy}} if policy else {}
    return {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}, **rules, **spec}}


def pod(phase="Running", *, deleting=False, codes=None, conditions=(), restarts=(), sidecar_restarts=()):
    statuses = [{"name": name, "state": {"terminated": {"exitCode": code}}} for name, code in (codes or {}).items()]
    statuses += [{"name": f"c{index}", "restartCount": count} for index, count in enumerate(restarts)]
    meta = {"name": "p", "namespace": "ns", **({"deletionTimestamp": "now"} if deleting else {})}
    return {
        "metadata": meta,
        "status": {
            "phase": phase,
            "containerStatuses": statuses,
            "initContainerStatuses": [{"name": "s", "restartCount": count} for count in sidecar_restarts],
            "conditions": [{"type": each, "status": "True"} for each in conditions],
        },
    }


@pytest.mark.parametrize(
    ("lost", "policy", "failed"),
    [
        (pod(), None, False),
        (pod("Failed"), None, True),
        (pod(deleting=True), None, True),
        (pod("Pending", deleting=True), None, True),
        (pod("Succeeded", deleting=True), None, False),
        (pod("Failed", deleting=True), "Failed", True),
        (pod(deleting=True), "Failed", False),
    ],
)
def test_a_pod_is_lost_when_its_deletion_begins(lost, policy, failed):
    assert is_failed(lost, job(podReplacementPolicy=policy)) == failed


def on_codes(action, operator, *values, name=None):
    codes = {"operator": operator, "values": list(values), **({"containerName": name} if name else {})}
    return {"action": action, "onExitCodes": codes}


FAIL_42 = on_codes("FailJob", "In", 42)
IGNORE_DISRUPTION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


@pytest.mark.parametrize(
    ("rules", "lost", "verdict"),
    [
        (None, pod("Failed", codes={"main": 1}), Verdict()),
        ([FAIL_42], pod("Failed", codes={"main": 1}), Verdict()),
        (
            [FAIL_42],
            pod("Failed", codes={"main": 42}),
            Verdict(message="Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 0"),
        ),
        ([on_codes("FailJob", "In", 42, name="other")], pod("Failed", codes={"main": 42}), Verdict()),
        ([on_codes("Ignore", "NotIn", 42)], pod("Failed", codes={"main": 1}), Verdict(counts=False)),
        ([on_codes("Ignore", "NotIn", 42)], pod("Failed", codes={"main": 0}), Verdict()),
        ([on_codes("Count", "In", 1), on_codes("Ignore", "In", 1)], pod("Failed", codes={"main": 1}), Verdict()),
        ([IGNORE_DISRUPTION], pod("Failed", conditions=["DisruptionTarget"]), Verdict(counts=False)),
        ([IGNORE_DISRUPTION], pod("Failed"), Verdict()),
        (
            [FAIL_42, {**IGNORE_DISRUPTION, "action": "FailJob"}],
            pod("Failed", conditions=["DisruptionTarget"]),
            Verdict(message="Pod ns/p has condition DisruptionTarget matching FailJob rule at index 1"),
        ),
    ],
)
def test_the_verdict_of_the_first_rule_that_matches(rules, lost, verdict):
    assert judge(job(rules), lost) == verdict


@pytest.mark.parametrize(
    ("pods", "limit", "past"),
    [
        ([pod(restarts=[3])], 4, False),
        ([pod(restarts=[2, 1]), pod(restarts=[1])], 4, True),
        ([pod(restarts=[1], sidecar_restarts=[3])], 4, True),
        ([pod("Failed", restarts=[9])], 4, False),
        ([pod("Pending", restarts=[4])], 4, True),
        ([pod(restarts=[0])], 0, False),
        ([pod(restarts=[1])], 0, True),
    ],
)
def test_restarts_in_place(pods, limit, past):
    assert past_restart_limit(job(), pods, limit) == past


def test_restarts_count_only_under_on_failure():
    never = {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}}
    assert not past_restart_limit(never, [pod(restarts=[99])], 0)
