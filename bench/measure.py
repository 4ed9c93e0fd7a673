"""Times whole processes in turn (A B A B ...), so that a ratio holds while the machine's speed drifts."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    seconds: float
    peak_mib: float


@dataclass(frozen=True)
class Pair:
    """Medians over the runs; `ratio` is the median of the pairwise ratios, not the ratio of the medians."""

    ours: float
    base: float
    ratio: float
    peak_mib: float


def once(argv, env):
    start = time.perf_counter()
    process = subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(argv)} ended with {process.returncode}: the time of a failure is worth nothing")
    return Run(seconds, usage.ru_maxrss / 1024)


def pair(ours, base, *, runs=11, env=None, between=lambda: None):
    """Runs both commands in turn after one warm-up of each; `between` restores what ours changed."""
    env = {**os.environ, **(env or {})}
    measured = []
    for number in range(runs + 1):
        mine = once(ours, env)
        between()
        theirs = once(base, env)
        if number:
            measured.append((mine, theirs))
    return Pair(
        statistics.median(mine.seconds for mine, _ in measured),
        statistics.median(theirs.seconds for _, theirs in measured),
        statistics.median(mine.seconds / theirs.seconds for mine, theirs in measured),
        statistics.median(mine.peak_mib for mine, _ in measured),
    )
