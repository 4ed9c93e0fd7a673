"""JSON merge patches (RFC 7386)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    """The target with the patch applied, by the algorithm of RFC 7386 section 2; neither is changed.

    Mappings are merged, null removes a member, anything else, lists included, replaces what was there.
    """
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch that makes `after` of `before`; {} where they are equal."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if name in before and value == old:
            continue
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            patch[name] = difference(old, value)
        else:
            patch[name] = value
    return patch
