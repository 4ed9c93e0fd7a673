"""What the loss of a host restarts: that host, or its whole slice by a rule with JobSet's action RestartJob."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]

POD, SLICE, AUTO = "pod", "slice", "auto"
# Which scope xlaunch has chosen under --restart-scope=auto
SCOPE_ANNOTATION = "xlaunch.dev/restart-scope"
RESTART_JOB_ACTIONS = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
# JobSet's webhook refuses more replicas of one job where a rule restarts single Jobs (v0.12 jobset_webhook.go)
MAX_SLICES = 1024

GATE_OFF = "JobSet's feature gate RestartJob is off"
TOO_OLD = "RestartJob came with JobSet 0.12"
# The enum and, before 0.6 had rules, the field (apiextensions-apiserver validation; strict decoding)
_TOO_OLD = re.compile(r'Unsupported value: "RestartJob|unknown field "spec\.failurePolicy\.rules')


def restarts_slices(jobset: Object) -> bool:
    """Whether a rule of its failure policy restarts single Jobs."""
    rules = ((jobset.get("spec") or {}).get("failurePolicy") or {}).get("rules") or ()
    return any(rule.get("action") in RESTART_JOB_ACTIONS for rule in rules)


def lacking(message: str) -> str:
    """What the cluster lacks for RestartJob, by its refusal of a JobSet; "" where it refuses for another reason.

    The gate: JobSet v0.12 pkg/webhooks/jobset_webhook.go validateFailurePolicy. Before 0.12 the CRD does not know the
    action.
    """
    if "when RestartJob feature gate is disabled" in message:
        return GATE_OFF
    return TOO_OLD if _TOO_OLD.search(message) else ""
