"""When a pod was lost, as the Job controller sees it, and how long its replacement takes."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import pod, status, terminated

from xlaunch.core.replacement import last_loss, lost_at, seconds_left


@pytest.mark.parametrize(
    ("lost", "seconds"),
    [
        (pod(deleted="2026-11-29T12:00:30Z") | {}, 30),
        (pod(statuses=[status("pathways-worker", state=terminated(137, finishedAt="2026-11-29T12:00:07Z"))]), 7),
        (pod(ready=False, conditions=[]), 0),
    ],
)
def test_when_a_pod_was_lost(lost, seconds):
    if not lost["status"]["containerStatuses"]:
        lost["spec"] = {"containers": [{"name": "other"}]}
    assert lost_at(lost) == START + timedelta(seconds=seconds)


def test_the_grace_period_is_taken_off():
    lost = pod(deleted="2026-11-29T12:00:30Z")
    lost["metadata"]["deletionGracePeriodSeconds"] = 30
    assert lost_at(lost) == START


def test_a_pod_of_which_nothing_is_known_was_lost_at_no_time():
    assert lost_at({"metadata": {"name": "x"}, "status": {}}) is None


def test_the_last_loss_is_the_latest_of_all_that_is_known():
    told = [START + timedelta(seconds=3), None]
    gone, young = pod(deleted="2026-11-29T12:00:09Z"), pod(created="2026-11-29T12:00:30Z")
    assert last_loss([], [], [None, None]) is None
    assert last_loss([], [young], []) is None
    assert last_loss([], [], told) == START + timedelta(seconds=3)
    assert last_loss([gone], [], told) == START + timedelta(seconds=9)
    assert last_loss([gone], [young], told) == START + timedelta(seconds=30)


@pytest.mark.parametrize(("passed", "left"), [(0, 20.0), (5, 15.0), (20, 0.0), (90, 0.0), (-5, 20.0)])
def test_the_wait_counts_down_to_nothing(passed, left):
    assert seconds_left(2, START, START + timedelta(seconds=passed)) == left
    assert seconds_left(2, None, START) == 20.0
