"""Which hosts are lost, since when, and why: as much as the API server still knows."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, on_silent_node, pod, status, terminated

from xlaunch.core.losses import Loss, loss_words, losses, why_lost

DELETED = "2026-11-29T12:00:09Z"
EVICTED = condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting")
RECALLED = condition("DisruptionTarget", "False", "DeletionByTaintManager", "Taint manager: deleting")
LOW = {"reason": "Evicted", "message": "The node was low on resource: memory.\nThreshold quantity: 100Mi"}
OOM = status("pathways-worker", state=terminated(137, "OOMKilled"))


def failed(**told):
    made = pod("worker", 1, 2, phase="Failed", statuses=told.pop("statuses", ()))
    made["status"] |= told
    return made


WHY = [
    ("it lives", pod("worker", 1, 2), ""),
    ("told to go, and that is all", pod("worker", 1, 2, deleted=DELETED), "deleted"),
    (
        "evicted through the API",
        pod("worker", 1, 2, deleted=DELETED, conditions=[EVICTED]),
        "EvictionByEvictionAPI: Eviction API: evicting",
    ),
    ("a disruption that was called off", pod("worker", 1, 2, deleted=DELETED, conditions=[RECALLED]), "deleted"),
    ("marked, but it lives", pod("worker", 1, 2, conditions=[EVICTED]), ""),
    (
        "by the kubelet",
        failed(**LOW),
        "Evicted: The node was low on resource: memory. Threshold quantity: 100Mi",
    ),
    ("its container failed", failed(statuses=[OOM]), "pathways-worker ended with exit code 137 (OOMKilled, SIGKILL)"),
    ("nobody says why", failed(), "failed"),
    ("its node is silent", on_silent_node(pod("worker", 1, 2), "tpu-1-2"), "node tpu-1-2 does not answer"),
    ("done, then told to go", pod("worker", 1, 2, phase="Succeeded", deleted=DELETED), ""),
]


@pytest.mark.parametrize(("lost", "why"), [case[1:] for case in WHY], ids=[case[0] for case in WHY])
def test_why_a_pod_is_lost(lost, why):
    assert why_lost(lost) == why


GONE = pod("worker", 1, 2, deleted=DELETED, conditions=[EVICTED])
NAME, WORDS = "train-worker-1-2-aaaaa", "EvictionByEvictionAPI: Eviction API: evicting"
AT = START + timedelta(seconds=9)
OUTAGE = START + timedelta(seconds=3)


def test_a_lost_pod_that_is_still_there():
    assert losses([GONE], [2], {0, 1, 3}, OUTAGE) == (Loss(2, NAME, AT, WORDS),)


def test_of_one_that_is_gone_the_host_is_known_and_since_when_the_slice_is_short():
    assert losses([], [2], {0, 1, 3}, OUTAGE) == (Loss(2, "", OUTAGE, ""),)
    assert losses([], [2], {0, 1, 3}, None) == (Loss(2, "", None, ""),)


def test_one_that_is_replaced_and_does_not_go():
    """As on a dead node, where it still holds the ports that the replacement waits for."""
    assert losses([GONE], [], {0, 1, 2, 3}, None) == (Loss(2, NAME, AT, WORDS, replaced=True),)


def test_a_failed_pod_that_is_kept_and_replaced_is_no_news():
    assert losses([failed()], [], {0, 1, 2, 3}, None) == ()


def test_the_last_of_a_host_that_was_lost_twice():
    first = pod("worker", 1, 2, phase="Failed")
    second = pod("worker", 1, 2, created="2026-11-29T12:00:05Z", deleted=DELETED, suffix="bbbbb")
    assert [each.pod for each in losses([second, first], [2], {0, 1, 3}, None)] == ["train-worker-1-2-bbbbb"]


def test_hosts_in_order():
    pods = [pod("worker", 1, host, deleted=DELETED) for host in (3, 0)]
    assert [each.host for each in losses(pods, [3, 1, 0], {2}, OUTAGE)] == [0, 1, 3]


def test_in_words():
    assert loss_words(Loss(2, NAME, AT, WORDS)) == f"pod {NAME}: {WORDS}"
    assert loss_words(Loss(2, NAME, AT, "")) == f"pod {NAME}: gone"
    assert loss_words(Loss(2, "", AT, "")) == "host 2, whose pod is gone"
