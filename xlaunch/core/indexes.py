"""Completion indexes of an Indexed Job, in the short form of `status.completedIndexes`."""

from __future__ import annotations


def parse_indexes(text: str, completions: int) -> set[int]:
    """`"0-2,5"` as {0, 1, 2, 5}, without what `completions` leaves out (pkg/controller/job/indexed_job_utils.go)."""
    indexes: set[int] = set()
    for interval in filter(None, text.split(",")):
        first, _, last = interval.partition("-")
        indexes.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return indexes
