"""Reading an object by its kind's schema: unknown fields, wrong types, defaults.

A wrong type is told as Go's JSON decoder does (sigs.k8s.io/json, `UnmarshalTypeError`): by the innermost struct and the
path without indexes. In an update of a custom resource its schema's validation comes first, and has its own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xlaunch.local.apiserver.quantities import canonical
from xlaunch.local.apiserver.schema import FREE, Node, child, definition, is_quantity, resolve
from xlaunch.local.problems import Problem, wrong_type

_QUANTITY_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_GO_VALUES = {bool: "bool", str: "string", list: "array", dict: "object"}
_GO_TYPES = {"boolean": "bool", "string": "string", "number": "float64"}
_BITS = {"int32": 31, "int64": 63}
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/=\r\n]")
# The Go structs of a JobSet's own fields, whose schema does not name them
_STRUCTS = {"spec": "JobSetSpec", "replicatedJobs": "ReplicatedJob", "dependsOn": "DependsOn", "network": "Network",
            "successPolicy": "SuccessPolicy", "failurePolicy": "FailurePolicy", "rules": "FailurePolicyRule",
            "startupPolicy": "StartupPolicy", "coordinator": "Coordinator", "status": "JobSetStatus"}  # fmt: skip
# What a CRD has of a template's metadata (controller-tools' generateEmbeddedObjectMeta)
_STRING: Node = {"type": "string"}
_STRINGS: Node = {"type": "object", "additionalProperties": _STRING}
_EMBEDDED: Node = {
    "type": "object",
    "properties": {
        "name": _STRING,
        "namespace": _STRING,
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": _STRING},
    },
}


@dataclass
class Decoded:
    """An object as the API server reads it: without nulls and unknown fields, with the schema's defaults."""

    value: Any = None
    unknown: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """Where in an object: `path` as in a Problem, `struct` the innermost Go struct, `keys` its path without indexes."""

    path: str = ""
    struct: str = ""
    keys: str = ""

    def field(self, struct: str, key: str) -> _Place:
        return _Place(_joined(self.path, key), struct or self.struct, _joined(self.keys, key))

    def entry(self, key: str) -> _Place:
        """Of a map, which Go's paths leave out."""
        return _Place(_joined(self.path, key), self.struct, self.keys)

    def item(self, index: int) -> _Place:
        return _Place(f"{self.path}[{index}]", self.struct, self.keys)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def decode(value: Any, kind: str, *, go: bool = True, fill: bool = True) -> Decoded:
    """Reads an object by the definition of its kind; quantities get their canonical form.

    `go`: wrong types are told as Go does. `fill` sets the schema's defaults. Raises nothing: the caller decides what
    an unknown field or a wrong type means.
    """
    reader = _Reader(go=go, fill=fill, embedded=kind == "JobSet")
    reader.found.value = reader.read(value, definition(kind), _Place(), kind)
    return reader.found


class _Reader:
    def __init__(self, *, go: bool, fill: bool, embedded: bool) -> None:
        self.found = Decoded()
        self._embedded = embedded
        self._go = go
        self._fill = fill

    def read(self, value: Any, node: Node, place: _Place, struct: str = "") -> Any:
        """A copy of the value; what is wrong with it goes into `found`."""
        if is_quantity(node) and isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return self._quantity(value, place)
        struct = node.get("$ref", struct)
        known = resolve(node)
        if not _is_type(value, known):
            self.found.problems.append(self._mismatch(value, node, place))
            return value
        if isinstance(value, dict):
            return self._fields(value, known, place, struct)
        if isinstance(value, list):
            items = known.get("items", FREE)
            return [self.read(each, items, place.item(index), struct) for index, each in enumerate(value)]
        if known.get("format") == "byte" and (wrong := _NO_BASE64.search(value)):
            text = f"illegal base64 data at input byte {wrong.start()}"
            self.found.problems.append(Problem("FieldValueInvalid", place.path, text))
        return value

    def _quantity(self, value: Any, place: _Place) -> Any:
        form = canonical(str(value))
        if form is None:
            self.found.problems.append(Problem("FieldValueInvalid", place.path, _QUANTITY_TEXT))
        return form

    def _fields(self, value: Mapping[str, Any], node: Node, place: _Place, struct: str) -> dict[str, Any]:
        kept = {}
        for key, each in value.items():
            inner = child(node, key)
            where = place.field(struct, key) if "properties" in node else place.entry(key)
            if key == "metadata" and self._embedded and struct in ("JobTemplateSpec", "PodTemplateSpec"):
                inner = _EMBEDDED
            if inner is None:
                self.found.unknown.append(where.path)
            elif each is not None:
                kept[key] = self.read(each, inner, where, _STRUCTS.get(key, ""))
        if self._fill:
            for key, inner in node.get("properties", {}).items():
                if "default" in inner and key not in kept:
                    kept[key] = inner["default"]
        return kept

    def _mismatch(self, value: Any, node: Node, place: _Place) -> Problem:
        if not self._go:
            return wrong_type(place.path, value, resolve(node).get("type", "string"))
        of_integer = resolve(node).get("type") == "integer"
        given = _GO_VALUES.get(type(value), f"number {value}" if of_integer else "number")
        text = f"json: cannot unmarshal {given} into Go "
        text += f"struct field {place.struct}.{place.keys} of type {_go_type(node)}" if place.keys else "value"
        return Problem("FieldValueTypeInvalid", place.path, text)


def _is_type(value: Any, node: Node) -> bool:
    if node.get("format") == "int-or-string" or node.get("x-kubernetes-int-or-string"):
        return isinstance(value, (int, str)) and not isinstance(value, bool)
    wanted = _TYPES.get(node.get("type", ""))
    if not wanted:
        return True
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted != (bool,)):
        return False
    bits = _BITS.get(node.get("format", ""))
    return bits is None or -(2**bits) <= value < 2**bits


def _go_type(node: Node) -> str:
    """The type of a field as Go names it."""
    known = resolve(node)
    kind = known.get("type", "")
    if kind == "array":
        return f"[]{_go_type(known.get('items', FREE))}"
    if kind == "integer":
        return str(known.get("format", "int64"))
    if kind == "object" and "additionalProperties" in known:
        return f"map[string]{_go_type(known['additionalProperties'])}"
    return _GO_TYPES.get(kind, f"v1.{node.get('$ref', '')}")
