"""What an API server or a webhook refuses, as one sentence: the first cause, without the values that it repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from xlaunch.core.excerpt import excerpt

# Longer values say nothing new: the field is named, and the whole list of replicated jobs is one of them
LONGEST_VALUE = 80
# The kinds of field errors that show the value (apimachinery v0.35 pkg/util/validation/field/errors.go ErrorBody)
_SHOWN = re.compile(r"\b(Invalid value|Unsupported value|Not found|Duplicate value|Too many|Too few): ")
# A webhook's plain error has no field: it is printed as Go's nil path, and as an error of the server's own
_PLAIN = re.compile(r"^<nil>: (Internal error: )?")
_GO_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# A struct or map as %#v prints it; what follows the last brace is the verdict
_GO_OBJECT = re.compile(r"[&*\[\]]*\w[*\[\]\w.]*(?: \{\})?\{.*\}(?=: |$)", re.DOTALL)
# What the API server adds to a custom resource's errors (apiextensions-apiserver v0.35 customresource/strategy.go)
_UNFINISHED = "some validation rules were not checked because the object was invalid"
_STRICT = re.compile(r"^.* cannot be handled as an? \S+: strict decoding error: ")


def sentence(message: str, details: Mapping[str, Any]) -> str:
    """The refusal in one line; `message` and `details` are those of the Status.

    Of several causes the first is told, and how many more there are. Without causes (quota, policies of others, unknown
    fields, JobSet before 0.12) the server's own message stands.
    """
    causes = [
        each for each in details.get("causes") or () if each.get("message") and _UNFINISHED not in each["message"]
    ]
    told = list(dict.fromkeys(f"{each.get('field') or '<nil>'}: {each['message']}" for each in causes))
    if not told:
        told = [_STRICT.sub("", message)]
    more = f" ({len(told) - 1} more)" if len(told) > 1 else ""
    return excerpt(_without_long_value(_PLAIN.sub("", told[0]))) + more


def _without_long_value(text: str) -> str:
    shown = _SHOWN.search(text)
    if shown is None:
        return text
    before, rest = text[: shown.end()], text[shown.end() :]
    length = _value_length(rest)
    return text if length <= LONGEST_VALUE else f"{before}{rest[length:].removeprefix(': ')}".removesuffix(": ")


def _value_length(text: str) -> int:
    """How long the value is that a text begins with: a Go string or object, JSON, or a plain number."""
    if literal := _GO_STRING.match(text) or _GO_OBJECT.match(text):
        return literal.end()
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except ValueError:
        return len(text.partition(": ")[0])
