"""Differences that are meant, each with its reason; docs/embedded-cluster-api.md lists them for users."""

from __future__ import annotations

from typing import Any

from differential.corpus import Call

# Go's own descriptions of its types and parsers, and paths within a status
IN_OTHER_WORDS = (
    "no kind",
    "empty spec + ",
    "body a",
    "patch as JSON",
    "patch a list as merge",
    "list with a bad",
    "log with bad lines",
    "{'status': {'restarts': 'five'}}",
)


def explained(call: Call, embedded: dict[str, Any], real: dict[str, Any]) -> str:
    """Why the answers to a request differ; "" for a difference that nobody has explained."""
    message = str(real.get("message", ""))
    if embedded["code"] == 501:
        return "it says no by name to what it does not have"
    if call.name.startswith("apply over") and "conflict with" in message:
        return "fields have owners only in objects that somebody applied"
    same = [embedded.get(key) == real.get(key) for key in ("code", "reason")]
    if all(same) and any(each in call.name for each in IN_OTHER_WORDS):
        return "what nobody sends who has a client is refused alike, in other words"
    return ""
