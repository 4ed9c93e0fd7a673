"""What JobSet's webhook refuses of a failure policy's rules (JobSet v0.12.0, pkg/webhooks/jobset_webhook.go)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from xlaunch.core.restart_scope import MAX_SLICES, RESTART_JOB_ACTIONS
from xlaunch.local.controllers.jobset.names import replicas_of
from xlaunch.local.controllers.jobset.refusals import internal
from xlaunch.local.gates import RESTART_JOB
from xlaunch.local.kube import Object
from xlaunch.local.problems import Problem

FAILURE_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")


def failure_policy_errors(
    rules: Sequence[Mapping[str, Any]], jobs: Sequence[Object], gates: Collection[str]
) -> Iterator[Problem]:
    """All that is wrong with the rules. `jobs`: the replicated jobs; `gates`: JobSet's feature gates that are on."""
    if any(rule["action"] in RESTART_JOB_ACTIONS for rule in rules):
        if RESTART_JOB not in gates:
            yield internal(
                "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob"
                " feature gate is disabled"
            )
            return
        if any(replicas_of(job) > MAX_SLICES for job in jobs):
            yield internal(
                "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and"
                f" a replicated job with replicas > {MAX_SLICES}"
            )
    yield from _rule_errors(rules, [job["name"] for job in jobs])


def _rule_errors(rules: Sequence[Mapping[str, Any]], jobs: Sequence[str]) -> Iterator[Problem]:
    indices: dict[str, list[int]] = {}
    for index, rule in enumerate(rules):
        name = rule["name"]
        indices.setdefault(name, []).append(index)
        if not 1 <= len(name) <= 128:
            yield internal(
                f"invalid failure policy rule name of length {len(name)}, the rule name must be at least 1 characters"
                " long and at most 128 characters long"
            )
        if not RULE_NAME.fullmatch(name):
            yield internal(
                f"invalid failure policy rule name '{name}', a failure policy rule name must start with an alphabetic"
                " character, optionally followed by a string of alphanumeric characters or '_,:', and must end with"
                " an alphanumeric character or '_'"
            )
        for target in rule.get("targetReplicatedJobs") or ():
            if target not in jobs:
                yield internal(
                    f"invalid replicatedJob name '{target}' in failure policy does not appear in .spec.ReplicatedJobs"
                )
        for reason in rule.get("onJobFailureReasons") or ():
            if reason not in FAILURE_REASONS:
                yield internal(
                    f"invalid job failure reason '{reason}' in failure policy is not a recognized job failure reason"
                )
    for name, places in indices.items():
        if len(places) > 1:
            listed = " ".join(str(place) for place in places)
            yield internal(f"rule names are not unique, rules with indices [{listed}] all have the same name '{name}'")
