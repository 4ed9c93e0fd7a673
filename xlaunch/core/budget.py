"""Restart arithmetic: what a slice's budget means, and how long Kubernetes waits before it replaces lost pods."""

from __future__ import annotations

MAX_INT32 = 2**31 - 1
BASE_DELAY_SECONDS = 10.0
MAX_DELAY_SECONDS = 600.0
# What xpk 1.16 (commands/workload.py) gives the worker Jobs of a workload that is not elastic
SLICE_RESTARTS_WITHOUT_ELASTICITY = 4


def backoff_limit(max_slice_restarts: int, hosts: int) -> int:
    """The worker Job's `backoffLimit` in pods: so many whole-slice losses of `hosts` pods each, within int32.

    The formula of xpk, PathwaysJob, pathwaysutils and Cluster Toolkit. It counts *pod* losses of one slice: a slice
    that loses one pod at a time survives `hosts` times as many losses.
    """
    return min(max_slice_restarts * hosts, MAX_INT32)


def replacement_delay(lost_pods: int) -> float:
    """Seconds that the Job controller waits before it replaces pods, after `lost_pods` of one slice so far.

    10 s, 20 s, 40 s … up to 600 s (Kubernetes pkg/controller/job/backoff_utils.go, DefaultJobPodFailureBackOff and
    MaxJobPodFailureBackOff). Measured from the last loss. The count lives in the controller-manager's memory, so the
    wait is at most this long.
    """
    if lost_pods <= 0:
        return 0.0
    doublings = min(lost_pods - 1, 10)
    return min(BASE_DELAY_SECONDS * (1 << doublings), MAX_DELAY_SECONDS)


def slice_scope_restarts(max_restarts: int, max_slice_restarts: int, num_slices: int) -> int:
    """`maxRestarts` under `--restart-scope=slice`, where whole restarts and slice restarts share one budget.

    JobSet >= 0.12 counts RestartJob against the same limit (pkg/controllers/failure_policy.go).
    """
    return min(max_restarts + max_slice_restarts * num_slices, MAX_INT32)
