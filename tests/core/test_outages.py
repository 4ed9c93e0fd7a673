"""When hosts were lost whose pods are gone: never earlier than it was, or a forecast would promise too much."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, job, jobset, pod

from xlaunch.core.outages import Outages, counted_at, had_part, outage_since

BEGAN = START + timedelta(seconds=60)
SHORT = jobset(conditions=[condition("StartupPolicyInProgress", at="2026-11-29T12:01:00Z")])
WHOLE = jobset(conditions=[condition("StartupPolicyInProgress", "False", at="2026-11-29T12:01:00Z")])
FIRST, SECOND = ("worker", 0), ("worker", 1)


def written(*times, subresource="status"):
    made = job("worker", 1)
    made["metadata"]["managedFields"] = [{"time": time, "subresource": subresource} for time in times]
    return made


def slices(**lost):
    """Two slices of four hosts, without those of `first` and `second`."""
    gone = {0: lost.get("first", ()), 1: lost.get("second", ())}
    return {
        ("worker", index): (4, [pod("worker", index, host) for host in range(4) if host not in gone[index]])
        for index in range(2)
    }


def test_an_outage_lasts_until_all_slices_are_whole():
    assert (outage_since(SHORT), outage_since(WHOLE), outage_since(jobset(ready=None))) == (BEGAN, None, None)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (written("2026-11-29T12:01:01Z"), BEGAN + timedelta(seconds=1)),
        (written("2026-11-29T12:01:09Z", "2026-11-29T12:01:01Z"), BEGAN + timedelta(seconds=9)),
        (written("2026-11-29T12:01:01Z", subresource=""), None),
        (written(), None),
        (job("worker", 1), None),
        (None, None),
    ],
)
def test_a_loss_is_counted_when_the_jobs_status_is_written(made, expected):
    assert counted_at(made) == expected


YOUNG = pod("worker", 0, 3, created="2026-11-29T12:01:10Z")
FOUR = [pod("worker", 0, host) for host in range(4)]
PARTS = [
    ("it is whole and old", FOUR, False),
    ("one is gone", FOUR[:3], True),
    ("one is going", [*FOUR[:3], pod("worker", 0, 3, deleted="2026-11-29T12:01:00Z")], True),
    ("one is not ready", [*FOUR[:3], pod("worker", 0, 3, ready=False)], True),
    ("one was replaced meanwhile", [*FOUR[:3], YOUNG], True),
    ("one is done", [*FOUR[:3], pod("worker", 0, 3, phase="Succeeded")], False),
]


@pytest.mark.parametrize(("pods", "had"), [case[1:] for case in PARTS], ids=[case[0] for case in PARTS])
def test_who_had_a_part_in_an_outage(pods, had):
    assert had_part(4, pods, BEGAN) is had


def test_the_outage_of_a_single_slice_began_with_it():
    outage = Outages(SHORT, slices(second=[2])).of(SECOND, None)
    assert (outage.began, outage.counted, outage.since) == (BEGAN, None, BEGAN)


def test_of_several_slices_nobody_knows_which_began_it():
    found = Outages(SHORT, slices(first=[0], second=[2]))
    assert [found.of(place, None).since for place in (FIRST, SECOND)] == [None, None]
    counted = found.of(SECOND, written("2026-11-29T12:01:30Z"))
    assert (counted.began, counted.since) == (None, BEGAN + timedelta(seconds=30))


def test_a_slice_that_is_whole_again_may_have_begun_it():
    again = slices(second=[2])
    again[FIRST] = (4, [*FOUR[:3], YOUNG])
    assert Outages(SHORT, again).of(SECOND, None).since is None


def test_a_jobset_in_any_order_tells_of_no_outage():
    assert Outages(jobset(), slices(second=[2])).of(SECOND, None).since is None
