"""Events of core v1 in the words of events.k8s.io/v1 and back: the same object under two names.

Source: kubernetes v1.37, pkg/apis/events/v1/conversion.go.
"""

from __future__ import annotations

from typing import Any

from xlaunch.local.apiserver.bodies import WriteOptions, check_target, decoded, metadata_of
from xlaunch.local.apiserver.resources import NEW_EVENTS
from xlaunch.local.kube import Object

_NEW_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_CORE_NAMES = {new: core for core, new in _NEW_NAMES.items()}


def to_new(event: Object) -> Object:
    """A stored Event as events.k8s.io/v1 shows it."""
    renamed = {_NEW_NAMES.get(key, key): value for key, value in event.items()}
    return {**renamed, "apiVersion": "events.k8s.io/v1"}


def to_core(event: Object) -> Object:
    """An Event of events.k8s.io/v1 as core v1 stores it."""
    renamed = {_CORE_NAMES.get(key, key): value for key, value in event.items()}
    return {**renamed, "apiVersion": "v1"}


def core_fields(selector: str) -> str:
    """A field selector on events.k8s.io/v1 in core v1's names."""
    renamed = selector.replace("regarding.", "involvedObject.")
    return renamed.replace("reportingController", "reportingComponent")


def checked(body: Any, options: WriteOptions) -> Object:
    """A new Event of events.k8s.io/v1, read by its own schema, as core v1 stores it."""
    check_target(NEW_EVENTS, body, metadata_of(body).get("namespace", ""))
    return to_core(decoded(NEW_EVENTS, body, options))
