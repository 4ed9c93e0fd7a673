"""Many numbered objects in one breath."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.runs import runs


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([], []),
        (["Job a-0"], ["Job a-0"]),
        (["Job a-0", "Job a-1"], ["Jobs a-0 to a-1"]),
        (["JobSet a", "Job a-head-0", "Job a-worker-0"], ["JobSet a", "Job a-head-0", "Job a-worker-0"]),
        (["Job a-8", "Job a-9", "Job a-10", "Pod a-10-3"], ["Jobs a-8 to a-10", "Pod a-10-3"]),
        (["Job a-0", "Job a-2", "Job a-3"], ["Job a-0", "Jobs a-2 to a-3"]),
        (["Job a-1", "Job a-0"], ["Job a-1", "Job a-0"]),
        (["Job a-0", "Job b-1"], ["Job a-0", "Job b-1"]),
        (["Job a-0", "Pod a-1"], ["Job a-0", "Pod a-1"]),
        (["Job a-0", "Job a-01"], ["Job a-0", "Job a-01"]),
        (["JobSet a1", "JobSet a2"], ["JobSet a1", "JobSet a2"]),
    ],
)
def test_neighbours_that_count_up_are_one(labels, told):
    assert runs(labels) == told


LABELS = st.builds("{} {}-{}".format, st.sampled_from(["Job", "Pod"]), st.sampled_from("ab"), st.integers(0, 12))


@given(st.lists(LABELS))
def test_nothing_is_lost_and_nothing_added(labels):
    """Each run read back is what went into it, in the same order."""
    found = []
    for each in runs(labels):
        if run := re.fullmatch(r"(\w+)s (\w)-(\d+) to \2-(\d+)", each):
            kind, stem, first, last = run.groups()
            found += [f"{kind} {stem}-{number}" for number in range(int(first), int(last) + 1)]
        else:
            found.append(each)
    assert found == labels
