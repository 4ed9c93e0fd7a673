"""Refusals of an object's content in Kubernetes' words: one Problem per field, one 422 for all of them.

The texts are those of k8s.io/apimachinery, pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xlaunch.local.kube import StatusError


@dataclass(frozen=True)
class Problem:
    """What is wrong with one field: the cause's `reason`, `field` as a path, `message` without the path."""

    reason: str
    field: str
    message: str


def required(field: str, detail: str = "") -> Problem:
    """The field is missing."""
    return Problem("FieldValueRequired", field, f"Required value: {detail}" if detail else "Required value")


NOT_SHOWN = object()
"""The value of a field that a refusal leaves out."""


def invalid(field: str, value: Any, detail: str) -> Problem:
    """The field's value is not allowed."""
    if value is NOT_SHOWN:
        return Problem("FieldValueInvalid", field, f"Invalid value: {detail}")
    shown = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Problem("FieldValueInvalid", field, f"Invalid value: {shown}: {detail}")


def wrong_type(field: str, value: Any, wanted: str) -> Problem:
    """The field's value is of another type; worded as the API server does for custom resources."""
    actual = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    found = actual.get(type(value), "null")
    return Problem(
        "FieldValueTypeInvalid", field, f'Invalid value: "{found}": {field} in body must be of type {wanted}: "{found}"'
    )


def unsupported(field: str, value: Any, allowed: Iterable[str]) -> Problem:
    """The field's value is not one of a closed list, which is shown in its order."""
    words = ", ".join(json.dumps(each) for each in allowed)
    return Problem(
        "FieldValueNotSupported", field, f"Unsupported value: {json.dumps(value)}: supported values: {words}"
    )


def too_long(field: str, most: int) -> Problem:
    """The field's value has more than `most` bytes."""
    return Problem("FieldValueTooLong", field, f"Too long: may not be more than {most} bytes")


def too_many(field: str, count: int, most: int) -> Problem:
    """The list has more than `most` items."""
    return Problem("FieldValueTooMany", field, f"Too many: {count}: must have at most {most} items")


def duplicate(field: str, value: Any) -> Problem:
    """Two items of a list have the same key."""
    return Problem("FieldValueDuplicate", field, f"Duplicate value: {json.dumps(value, separators=(',', ':'))}")


def missing(field: str, value: Any) -> Problem:
    """The field names something that is not there."""
    return Problem("FieldValueNotFound", field, f"Not found: {json.dumps(value)}")


def forbidden(field: str, detail: str) -> Problem:
    """The field may not be set or changed."""
    return Problem("FieldValueForbidden", field, f"Forbidden: {detail}")


def refusal(group: str, kind: str, name: str, problems: Iterable[Problem]) -> StatusError:
    """422 Invalid with all problems of one object."""
    found = list(problems)
    texts = list(dict.fromkeys(f"{each.field}: {each.message}" for each in found))
    qualified = f"{kind}.{group}" if group else kind
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    causes = [{"reason": each.reason, "message": each.message, "field": each.field} for each in found]
    details: dict[str, Any] = {"name": name, "group": group, "kind": kind, "causes": causes}
    return StatusError(
        422,
        "Invalid",
        f'{qualified} "{name}" is invalid: {listed}',
        {key: value for key, value in details.items() if value},
    )
