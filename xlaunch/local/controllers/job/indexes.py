"""Completion indexes: the short form in `status.completedIndexes`, and what a pod says of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core.pods import COMPLETION_INDEX
from xlaunch.local.objects import annotations_of


def index_of(pod: Mapping[str, Any], completions: int) -> int | None:
    """The pod's completion index, None where it has none or one that the Job does not have."""
    text = annotations_of(pod).get(COMPLETION_INDEX, "")
    if not text.isdecimal() or int(text) >= completions:
        return None
    return int(text)


def format_indexes(indexes: Iterable[int]) -> str:
    """{0, 1, 2, 5} as `"0-2,5"`; two neighbours are written `"0,1"` (pkg/controller/job/indexed_job_utils.go)."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(_format_run(run) for run in runs)


def _format_run(run: list[int]) -> str:
    if len(run) > 2:
        return f"{run[0]}-{run[-1]}"
    return ",".join(str(index) for index in run)
