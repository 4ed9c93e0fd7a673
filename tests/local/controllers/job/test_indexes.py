"""Completion indexes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.indexes import parse_indexes
from xlaunch.local.controllers.job.indexes import format_indexes, index_of


@pytest.mark.parametrize(
    ("indexes", "text"),
    [((), ""), ({0}, "0"), ({0, 1}, "0,1"), ({0, 1, 2}, "0-2"), ({1, 3, 4, 5, 7, 8}, "1,3-5,7,8"), ({10, 9}, "9,10")],
)
def test_the_form_of_the_status(indexes, text):
    assert format_indexes(indexes) == text
    assert parse_indexes(text, 100) == set(indexes)


@given(st.sets(st.integers(0, 60)))
def test_indexes_come_back(indexes):
    assert parse_indexes(format_indexes(indexes), 61) == indexes


def test_what_the_job_does_not_have_is_left_out():
    assert parse_indexes("0-9,12", 5) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("value", "index"), [("0", 0), ("3", 3), ("4", None), ("-1", None), ("x", None), ("", None)])
def test_the_index_of_a_pod(value, index):
    pod = {"metadata": {"annotations": {"batch.kubernetes.io/job-completion-index": value}}}
    assert index_of(pod, 4) == index
