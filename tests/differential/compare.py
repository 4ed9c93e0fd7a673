"""Two pieces of data side by side, as a person reads a difference."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any


def differences(left: Any, right: Any, path: str = "") -> Iterable[tuple[str, Any, Any]]:
    """The paths at which two pieces of JSON-like data differ, with both values; None for what one side lacks."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            yield from differences(left.get(key), right.get(key), f"{path}.{key}" if path else key)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif left != right:
        yield path, left, right


def readable(left: Any, right: Any, *, left_name: str = "embedded", right_name: str = "real") -> str:
    """A unified diff of both, "" where they are equal."""
    texts = [json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False).splitlines() for each in (left, right)]
    return "\n".join(difflib.unified_diff(*texts, left_name, right_name, n=2, lineterm=""))
