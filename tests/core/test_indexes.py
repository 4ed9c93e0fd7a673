"""Completion indexes in a Job's status; tests/local/controllers/job/test_indexes.py writes them and reads them back."""

import pytest

from xlaunch.core.indexes import parse_indexes


@pytest.mark.parametrize(
    ("text", "indexes"),
    [("", set()), ("0", {0}), ("0,1", {0, 1}), ("1,3-5,7", {1, 3, 4, 5, 7}), ("0-99,12", {*range(8)})],
)
def test_the_short_form(text, indexes):
    assert parse_indexes(text, 8) == indexes
