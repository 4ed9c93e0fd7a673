"""Whether what `wait` waits for has come true, or can no longer come true."""

from __future__ import annotations

from dataclasses import dataclass

from xlaunch.core.workload import Phase, Workload

GOALS = ("running", "done", "deleted")


@dataclass(frozen=True)
class Verdict:
    """`result` is the state that decided: Running, Completed, Failed, Deleting or Deleted; `holds` the answer."""

    result: str
    reason: str
    message: str
    holds: bool


def judge(goal: str, workload: Workload | None) -> Verdict | None:
    """The verdict, None while it is open. `workload` is None once the JobSet is gone."""
    if workload is None:
        return Verdict("Deleted", "Deleted", "It was deleted", goal == "deleted")
    if goal == "deleted":
        return None
    phase = workload.phase
    reason, message = workload.reason or str(phase), workload.message
    if phase.ended:
        return Verdict(str(phase), reason, message, goal == "done" and phase is Phase.COMPLETED)
    if phase is Phase.DELETING:
        return Verdict(str(phase), reason, "It is being deleted", False)
    if goal == "running" and phase is Phase.RUNNING:
        return Verdict(str(phase), reason, message, True)
    return None
