"""What an API server answers: JSON, warnings, and refusals that come without a Status object."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from xlaunch.cluster.api import ApiError
from xlaunch.core.errors import NetworkError

BIG_BODY = 1 << 20

# HTTP codes whose answer may come without a Status object, from a proxy or a load balancer
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    501: "NotImplemented",
    502: "BadGateway",
    503: "ServiceUnavailable",
    504: "Timeout",
}
# What the caller can do about a refusal
NEXT = {
    401: "Log in again; kubectl auth whoami shows who you are to the cluster",
    403: "Ask for the right; kubectl auth whoami shows who you are to the cluster",
    429: "Try again in a minute",
    501: "Take a cluster that has it; xlaunch local up --control-plane=real starts Kubernetes itself",
    500: "Try again in a minute; kubectl get --raw /readyz shows whether the server is well",
}


def parsed(data: bytes, headers: Mapping[str, str]) -> Any:
    """The body as JSON where it says that it is, else as bytes."""
    if "json" not in headers.get("Content-Type", ""):
        return data
    try:
        if len(data) < BIG_BODY:
            return json.loads(data)
        with gc_paused():
            return json.loads(data)
    except (ValueError, RecursionError):
        return data


def is_list(body: Any) -> bool:
    """Whether an answer has the form of a list of Kubernetes objects."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return False
    items = body.get("items") or []
    return (
        bool(body["metadata"].get("resourceVersion"))
        and isinstance(items, list)
        and all(isinstance(item, dict) and isinstance(item.get("metadata"), dict) for item in items)
    )


def strange(what: str) -> NetworkError:
    """What to say where the answer is JSON, but not what was asked for."""
    return NetworkError(
        f"The API server answered with something else than {what}",
        next="kubectl cluster-info shows whether it is a Kubernetes API server",
        reason="NotKubernetes",
    )


def refusal(status: int, data: bytes, headers: Any) -> ApiError:
    """The error that an answer of 300 or more means, in the server's own words as far as it has any."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = {}
    if not isinstance(body, dict):
        body = {}
    details = body.get("details")
    details = details if isinstance(details, dict) else {}
    reason = str(body.get("reason") or REASONS.get(status, f"HTTP{status}"))
    told = " ".join(data[:300].decode(errors="replace").split())
    message = str(body.get("message") or f"The server answered {status}{f': {told}' if told else ''}")
    after = headers.get("Retry-After", "") or str(details.get("retryAfterSeconds", ""))
    return ApiError(
        status,
        reason,
        message,
        details=details,
        retry_after=float(after) if after.isdecimal() else None,
        next=NEXT.get(status, NEXT[500] if status >= 500 else ""),
        warnings=warnings(headers),
    )


def warnings(headers: Any) -> tuple[str, ...]:
    """The texts of the Warning headers (RFC 7234 5.5: `299 - "text"`, quotes escaped by a backslash)."""
    found = re.findall(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"', ", ".join(headers.getlist("Warning")))
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in found)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keeps the cyclic collector off while many objects are made that stay: it costs two thirds of a big parse."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
