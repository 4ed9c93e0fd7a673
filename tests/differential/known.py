"""Differences that are meant, each with its reason; docs/embedded-cluster-api.md lists them for users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from differential.corpus import Call

# What the embedded server refuses by name (501). A 501 to a request that asks for nothing of this is a difference
RESOURCES = ("endpoints", "persistentvolumeclaims")
READ_ONLY = ("limitranges", "resourcequotas")
SUBRESOURCES = (
    "pods/attach",
    "pods/ephemeralcontainers",
    "pods/exec",
    "pods/portforward",
    "pods/proxy",
    "pods/resize",
    "serviceaccounts/token",
    "services/proxy",
)
JOB_FIELDS = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")
POD_FIELDS = ("resourceClaims", "topologySpreadConstraints")
JOBSET_FIELDS = ("volumeClaimPolicies",)
SERVICE_TYPES = ("ExternalName", "LoadBalancer", "NodePort")
LOG_OPTIONS = ("stream",)
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
        return "it says no by name to what it does not have" if set(refusable(call)) else ""
    if call.name.startswith("apply over") and "conflict with" in message:
        return "fields have owners only in objects that somebody applied"
    same = [embedded.get(key) == real.get(key) for key in ("code", "reason")]
    if all(same) and any(each in call.name for each in IN_OTHER_WORDS):
        return "what nobody sends who has a client is refused alike, in other words"
    return ""


def refusable(call: Call) -> Iterator[str]:
    """What a request asks for that the embedded server may refuse by name, in the words of the lists above."""
    plural, _, below = call.path.partition("/")
    subresource = f"{plural}/{below.partition('/')[2]}"
    if plural in RESOURCES or (plural in READ_ONLY and call.method != "GET"):
        yield plural
    if subresource in SUBRESOURCES:
        yield subresource
    if subresource == "pods/log":
        yield from (option for option in LOG_OPTIONS if option in call.query)
    if call.method in ("POST", "PUT") and isinstance(call.body, dict):
        yield from _fields(plural, call.body.get("spec") or {})


def _fields(plural: str, spec: dict[str, Any]) -> Iterator[str]:
    """Those fields of an object that is sent as a whole."""
    if plural == "jobsets":
        yield from _present(spec, JOBSET_FIELDS)
        for replicated in spec.get("replicatedJobs") or ():
            yield from _fields("jobs", (replicated.get("template") or {}).get("spec") or {})
    elif plural == "jobs":
        yield from _present(spec, JOB_FIELDS)
        yield from _fields("pods", (spec.get("template") or {}).get("spec") or {})
    elif plural == "pods":
        yield from _present(spec, POD_FIELDS)
    elif plural == "services":
        yield from (each for each in SERVICE_TYPES if spec.get("type") == each)
        if "type" not in spec and spec.get("clusterIP") != "None":
            yield "a cluster IP"


def _present(spec: dict[str, Any], fields: tuple[str, ...]) -> Iterator[str]:
    yield from (each for each in fields if spec.get(each))
