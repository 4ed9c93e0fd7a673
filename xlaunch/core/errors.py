"""The one exception tree. Each class owns an exit code of docs/exit-codes.md; the boundary in cli/ prints them."""

from __future__ import annotations

from typing import Any


class XlaunchError(Exception):
    """xlaunch cannot go on (exit 1): one sentence what, one sentence why, one next command.

    `reason` is a CamelCase word for programs, stable across releases; `message` ends without a full stop. `more` are
    further fields of the Error object that `-o json` prints.
    """

    code = 1
    default_reason = "Internal"

    def __init__(self, message: str, *, why: str = "", next: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.why = why
        self.next = next
        self.reason = reason or self.default_reason
        self.more: dict[str, Any] = {}


class DeclinedError(XlaunchError):
    """The person answered no (exit 1)."""

    default_reason = "Declined"


class NetworkError(XlaunchError):
    """The API server cannot be reached, or keeps answering with errors (exit 1)."""

    default_reason = "Unreachable"


class UsageError(XlaunchError):
    """Wrong without knowing any cluster: syntax, range, name, contradicting flags (exit 2)."""

    code = 2
    default_reason = "Usage"


class NotFoundError(XlaunchError):
    """The named workload, cluster or context does not exist (exit 3)."""

    code = 3
    default_reason = "NotFound"


class RefusedError(XlaunchError):
    """Refused by a rule about the cluster, or by the API server (exit 4)."""

    code = 4
    default_reason = "Refused"


class ConflictError(XlaunchError):
    """It exists already and differs, or is suspended or being deleted (exit 5)."""

    code = 5
    default_reason = "Conflict"


class WorkloadFailedError(XlaunchError):
    """The workload failed, or can no longer reach what was waited for (exit 10)."""

    code = 10
    default_reason = "WorkloadFailed"


class DeadlineError(XlaunchError):
    """`--timeout` was reached (exit 124)."""

    code = 124
    default_reason = "Timeout"
