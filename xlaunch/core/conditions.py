"""Conditions, as every status of Kubernetes has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]


def condition(status: Object, kind: str) -> Object:
    """The condition of that type, {} where there is none."""
    return next((each for each in status.get("conditions") or () if each.get("type") == kind), {})


def is_true(status: Object, kind: str) -> bool:
    """Whether the condition of that type is True."""
    return condition(status, kind).get("status") == "True"
