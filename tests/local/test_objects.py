"""Helpers on objects."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.apiserver.patches import merge
from xlaunch.local.objects import merge_patch, micro_stamp, moment, stamp, with_condition

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=2), JSON, max_size=4)


@given(OBJECTS, OBJECTS)
def test_a_merge_patch_makes_the_one_of_the_other(before, after):
    assert merge(before, merge_patch(before, after)) == after


@given(OBJECTS)
def test_nothing_changed_is_an_empty_patch(obj):
    assert merge_patch(obj, obj) == {}


@given(st.integers(0, 4 * 10**15))
def test_times_come_back(microseconds):
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    assert moment(micro_stamp(when)) == when
    assert moment(stamp(when)) == when.replace(microsecond=0)


OLD = {"type": "Ready", "status": "True", "lastTransitionTime": "then"}


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ([], {"type": "Ready", "status": "True"}, [{"type": "Ready", "status": "True"}]),
        ([OLD], {"type": "Ready", "status": "False", "lastTransitionTime": "now"},
         [{"type": "Ready", "status": "False", "lastTransitionTime": "now"}]),
        ([OLD], {"type": "Ready", "status": "True", "reason": "r", "lastTransitionTime": "now"},
         [{**OLD, "reason": "r"}]),
        ([{"type": "Other"}, OLD], {"type": "Ready", "status": "True"}, [{"type": "Other"}, OLD]),
    ],
)  # fmt: skip
def test_a_conditions_time_moves_only_with_its_status(before, new, after):
    assert with_condition(before, new) == after


def test_a_time_without_fraction():
    assert stamp(datetime(2026, 11, 30, 1, 2, 3, 999999, UTC)) == "2026-11-30T01:02:03Z"
