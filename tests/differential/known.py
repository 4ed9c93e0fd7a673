"""Differences that are meant, each with its reason; docs/embedded-cluster-api.md lists them for users."""

from __future__ import annotations

from typing import Any

from differential.corpus import Call


def explained(call: Call, embedded: dict[str, Any], real: dict[str, Any]) -> str:
    """Why the answers to a request differ; "" for a difference that nobody has explained."""
    del call, real
    if embedded["code"] == 501:
        return "it says no by name to what it does not have"
    return ""
