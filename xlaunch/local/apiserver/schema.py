"""The shape of objects, read from schema.json: unknown fields, types, defaults, required fields, keys of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xlaunch.local.apiserver.resources import DEFINITIONS
from xlaunch.local.problems import Problem, duplicate, invalid, required, unsupported, wrong_type

Node = Mapping[str, Any]
FREE: Node = {}  # a node that takes anything
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def definition(name: str) -> Node:
    """The schema of a kind; one that takes anything for a kind whose fields are not known."""
    found: Node = DEFINITIONS.get(name, FREE)
    return found


def resolve(node: Node) -> Node:
    """A node itself, or the definition that it refers to."""
    found: Node = DEFINITIONS[node["$ref"]] if "$ref" in node else node
    return found


def child(node: Node, key: str) -> Node | None:
    """The node of a field or of a map's value; None for a field that the schema does not know."""
    found: Node | None = node["properties"].get(key) if "properties" in node else node.get("additionalProperties", FREE)
    return found


def item(node: Node) -> Node:
    """The node of a list's items."""
    return resolve(node.get("items", FREE))


def list_keys(node: Node) -> tuple[str, ...]:
    """The fields that identify an item of a list of type map; () for any other list."""
    return tuple(node.get("x-kubernetes-list-map-keys", ()))


def is_quantity(node: Node) -> bool:
    """An amount of a resource: a string, or a number that is taken for one."""
    return node.get("$ref") == "Quantity"


def _is_type(value: Any, node: Node) -> bool:
    if node.get("format") == "int-or-string" or node.get("x-kubernetes-int-or-string"):
        return isinstance(value, (int, str)) and not isinstance(value, bool)
    wanted = _TYPES.get(node.get("type", ""))
    if not wanted:
        return True
    return isinstance(value, wanted) and (wanted == (bool,) or not isinstance(value, bool))


@dataclass
class Decoded:
    """An object as the API server reads it: without nulls and unknown fields, with the schema's defaults."""

    value: Any = None
    unknown: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class _Style:
    numbers: bool
    fill: bool


def decode(value: Any, kind: str, *, numbers: bool = False, fill: bool = True) -> Decoded:
    """Reads an object by the definition of its kind.

    `numbers` leaves a quantity that was given as a number what it is (custom resources do); otherwise it becomes a
    string, as in core kinds. `fill` sets the schema's defaults. Raises nothing: the caller decides what an unknown
    field or a wrong type means.
    """
    found = Decoded()
    found.value = _decode(value, definition(kind), "", found, _Style(numbers, fill))
    return found


def _decode(value: Any, node: Node, path: str, found: Decoded, style: _Style) -> Any:
    if is_quantity(node) and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if style.numbers else str(value)
    node = resolve(node)
    if not _is_type(value, node):
        found.problems.append(wrong_type(path, value, node.get("type", "string")))
        return value
    if isinstance(value, dict):
        return _decode_fields(value, node, path, found, style)
    if isinstance(value, list):
        items = node.get("items", FREE)
        return [_decode(each, items, f"{path}[{index}]", found, style) for index, each in enumerate(value)]
    return value


def _decode_fields(value: Mapping[str, Any], node: Node, path: str, found: Decoded, style: _Style) -> dict[str, Any]:
    kept = {}
    for key, each in value.items():
        inner = child(node, key)
        place = f"{path}.{key}" if path else key
        if each is None:
            continue
        if inner is None:
            found.unknown.append(place)
        else:
            kept[key] = _decode(each, inner, place, found, style)
    if style.fill:
        for key, inner in node.get("properties", {}).items():
            if "default" in inner and key not in kept:
                kept[key] = inner["default"]
    return kept


def check(value: Any, kind: str) -> Iterator[Problem]:
    """What the schema demands beyond types: required fields, closed lists, ranges, unique keys of list items."""
    yield from _check(value, definition(kind), "")


def _check(value: Any, node: Node, path: str) -> Iterator[Problem]:
    node = resolve(node)
    if "enum" in node and value not in node["enum"]:
        yield unsupported(path, value, node["enum"])
    if "minimum" in node and value < node["minimum"]:
        yield invalid(path, value, f"{path} in body should be greater than or equal to {node['minimum']}")
    if isinstance(value, dict):
        for key in node.get("required", ()):
            if key not in value:
                yield required(f"{path}.{key}" if path else key)
        for key, each in value.items():
            if inner := child(node, key):
                yield from _check(each, inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield from _check_list(value, node, path)


def _check_list(value: list[Any], node: Node, path: str) -> Iterator[Problem]:
    if len(value) > node.get("maxItems", len(value)):
        yield invalid(path, len(value), f"must have at most {node['maxItems']} items")
    keys, seen = list_keys(node), set()
    for index, each in enumerate(value):
        yield from _check(each, node.get("items", FREE), f"{path}[{index}]")
        if keys and isinstance(each, dict):
            identity = tuple(each.get(key) for key in keys)
            if identity in seen:
                shown = identity[0] if len(keys) == 1 else dict(zip(keys, identity, strict=True))
                yield duplicate(f"{path}[{index}]", shown)
            seen.add(identity)


def immutable_changes(new: Any, old: Any, node: Node, path: str = "") -> Iterator[Problem]:
    """Changes that a custom resource's own rule forbids: `self == oldSelf`, the one rule that JobSet 0.12 uses so."""
    node = resolve(node)
    if not isinstance(new, dict) or not isinstance(old, dict):
        return
    for key, inner in node.get("properties", {}).items():
        if key not in new or key not in old:
            continue
        place = f"{path}.{key}" if path else key
        rules = [
            each["message"] for each in inner.get("x-kubernetes-validations", ()) if each["rule"] == "self == oldSelf"
        ]
        if rules and new[key] != old[key]:
            yield Problem("FieldValueInvalid", place, f"Invalid value: {rules[0]}")
        yield from immutable_changes(new[key], old[key], inner, place)
