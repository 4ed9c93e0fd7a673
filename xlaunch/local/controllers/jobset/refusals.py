"""Refusals of JobSet's webhooks, in the words in which the API server passes them on."""

from __future__ import annotations

from xlaunch.local.kube import StatusError
from xlaunch.local.problems import Problem


def internal(detail: str) -> Problem:
    """What a webhook says with a plain error; upstream has no field for it and prints Go's nil path."""
    return Problem("InternalError", "<nil>", f"Internal error: {detail}")


def denied(webhook: str, error: StatusError) -> StatusError:
    """A webhook's refusal with the API server's preface (apiserver, admission/plugin/webhook/errors)."""
    message = f'admission webhook "{webhook}" denied the request: {error.message}'
    return StatusError(error.code, error.reason, message, error.details)


def forbidden(webhook: str, message: str) -> StatusError:
    """403, the refusal of a webhook that gave a plain sentence."""
    return denied(webhook, StatusError(403, "Forbidden", message))
