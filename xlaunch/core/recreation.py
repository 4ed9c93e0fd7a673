"""Slices whose Job JobSet makes anew when it fails (RestartJob, JobSet >= 0.12), and the budget that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.restart_scope import RESTART_JOB_ACTIONS
from xlaunch.core.roles import Role
from xlaunch.core.silence import silent_since
from xlaunch.core.workload import Workload

Object = Mapping[str, Any]

# Seconds until JobSet has made the Job of a slice anew: 2.3 to 3.3 s were measured, without termination
RECREATION_SECONDS = 3.0


def action(jobset: Object, role: Role) -> str:
    """What a failed Job of the role leads to: RestartJob* (that Job alone), or "" for all else."""
    for rule in ((jobset.get("spec") or {}).get("failurePolicy") or {}).get("rules") or ():
        if role.name in (rule.get("targetReplicatedJobs") or (role.name,)):
            named = str(rule.get("action", ""))
            return named if named in RESTART_JOB_ACTIONS else ""
    return ""


def seconds_until_recreated(pods: Iterable[Object]) -> float | None:
    """At most so long until the Job of these pods is made anew, without their termination.

    None where one is on a node that does not answer: its Job cannot end, and nobody knows when that pod's object goes.
    """
    return None if any(podlib.phase(pod) == "Running" and silent_since(pod) for pod in pods) else RECREATION_SECONDS


def job_restarts(jobset: Object, role: Role, index: int) -> int:
    """How often the Job of a slice was made anew; JobSet is silent about it until the first time."""
    told = (jobset.get("status") or {}).get("replicatedJobsStatus") or ()
    counts = next((each.get("jobRestarts") or () for each in told if each["name"] == role.name), ())
    return counts[index] if index < len(counts) else 0


def used_words(workload: Workload) -> str:
    """What follows the number of JobSet restarts: " of 3", or ", slices 5 (6 of 33)" where slices share that budget."""
    if not workload.job_restarts:
        return f" of {workload.max_restarts}"
    return f", slices {workload.job_restarts} ({workload.restarts_toward_max} of {workload.max_restarts})"


def restarts_left(workload: Workload) -> int:
    """How many restarts the JobSet's failure policy still allows, of the whole and of single slices together."""
    return max(0, workload.max_restarts - workload.restarts_toward_max)
