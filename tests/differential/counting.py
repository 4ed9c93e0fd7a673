"""What a sequence has shown: how the clusters differ, and how much of it could have shown a difference at all.

A state that one side could look at only when it was too late is not compared, and a fault whose pod has long ended
changes nothing on either side: both would pass without having tested anything, so both are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from differential.compare import readable

LATE = "too late to tell"
LOOKS = ("settle", "glance")
FAULTS = (
    "delete_job",
    "delete_node",
    "delete_pod",
    "delete_service",
    "delete_slice",
    "evict",
    "lose_node",
    "patch_job",
    "patch_jobset",
    "signal",
    "suspend",
)
# As a fraction: of the faults of a sequence so many must find what they are for, on either side. Of 98 sequences 83 did
# with all of them, ten with two in three or more, and five with half, which were replaced
MOST = 0.6


@dataclass(frozen=True)
class Entry:
    """What came of one step: `value` is compared. `step` names it with its number, `action` as in steps.Step."""

    step: str
    action: str
    value: Any


@dataclass(frozen=True)
class Outcome:
    """What the records of both sides show. `met` counts the faults that found something, on the embedded and the real.

    `afterwards`: how many of the states came after the last such fault. `late`: looks that came too late to compare.
    `restarts`: how often JobSet has restarted single Jobs, as the states tell.
    """

    difference: str
    states: int
    late: int
    faults: int
    met: tuple[int, int]
    afterwards: int
    restarts: int = 0

    def idle(self) -> str:
        """Why the sequence has not tested anything; "" for one that has."""
        if not self.afterwards:
            return "no state was compared after the last fault that met something"
        if min(self.met) < MOST * self.faults:
            embedded, real = self.met
            return f"of {self.faults} faults only {embedded} met something on embedded, {real} on real"
        return ""

    def counts(self) -> dict[str, int]:
        """For the totals of a run."""
        counts = {"states": self.states, "faults": self.faults, "met": min(self.met)}
        return counts | {"late": self.late, "restarts": self.restarts}


def outcome(embedded: Sequence[Entry], real: Sequence[Entry]) -> Outcome:
    """What both records of one sequence show; the first difference ends it."""
    states = late = faults = afterwards = restarts = 0
    met = [0, 0]
    for left, right in zip(embedded, real, strict=True):
        if LATE in (left.value, right.value):
            late += 1
            continue
        if told := readable(left.value, right.value):
            return Outcome(f"step {left.step}\n{told}", states, late, faults, (met[0], met[1]), afterwards)
        if left.action in LOOKS:
            states += 1
            restarts = max(restarts, _restarts(left.value))
            afterwards += bool(min(met))
        found = [meets(each) for each in (left, right)]
        if None not in found:
            faults += 1
            met = [count + bool(each) for count, each in zip(met, found, strict=True)]
            afterwards = 0 if all(found) else afterwards
    return Outcome("", states, late, faults, (met[0], met[1]), afterwards, restarts)


def _restarts(state: Mapping[str, Any]) -> int:
    statuses = [each.get("status", {}).get("replicatedJobsStatus") or () for each in state.get("jobsets", ())]
    return sum(sum(each.get("jobRestarts") or ()) for entries in statuses for each in entries)


def meets(entry: Entry) -> bool | None:
    """Whether a fault found what it was for; None for what is no fault, as a change that is refused is none."""
    if entry.action not in FAULTS:
        return None
    if not isinstance(entry.value, Mapping):
        return bool(entry.value)
    code = entry.value["code"]
    if code != 404 and code >= 400:
        return None
    return code < 300 and entry.value.get("pods") != 0


def totals(found: Sequence[Mapping[str, int]]) -> str:
    """The totals of a run in one line."""
    keys = ("states", "faults", "met", "late", "restarts")
    states, faults, met, late, restarts = (sum(each[key] for each in found) for key in keys)
    return (
        f"Differential: {len(found)} sequences, {states} states compared after {met} faults that met something"
        f" ({faults - met} met nothing) and {restarts} restarts of single Jobs, {late} glances too late"
    )
