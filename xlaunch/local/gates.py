"""Feature gates of JobSet with which a local cluster can be started; off as in JobSet v0.12 (pkg/features)."""

from __future__ import annotations

from collections.abc import Iterable

from xlaunch.core.errors import UsageError

RESTART_JOB = "RestartJob"
FEATURE_GATES = (RESTART_JOB,)


def check_gates(names: Iterable[str]) -> tuple[str, ...]:
    """The gates to turn on, each once and in order; UsageError for any other."""
    wanted = tuple(sorted(set(names)))
    for name in wanted:
        if name not in FEATURE_GATES:
            raise UsageError(
                f"--feature-gate {name} is not one that a local cluster can turn on",
                why=f"There is {', '.join(FEATURE_GATES)}",
                next=f"xlaunch local up --feature-gate {RESTART_JOB}",
            )
    return wanted
