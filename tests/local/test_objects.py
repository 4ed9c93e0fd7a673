"""Helpers on objects."""

import pytest

from xlaunch.local.objects import with_condition

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
