"""Differences that are meant, each with its reason; docs/embedded-cluster-api.md lists them for users."""

from __future__ import annotations

from typing import Any

from differential.corpus import Call


def explained(call: Call, embedded: dict[str, Any], real: dict[str, Any]) -> str:
    """Why the answers to a request differ; "" for a difference that nobody has explained."""
    message = str(real.get("message", ""))
    if embedded["code"] == 501:
        return "it says no by name to what it does not have"
    if "json parse error" in message and embedded["code"] == real["code"]:
        return "a body that is no object is refused without Go's description of its types"
    if call.name.startswith("apply over") and "conflict with" in message:
        return "fields have owners only in objects that somebody applied"
    return ""
