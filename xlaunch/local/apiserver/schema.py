"""The shape of objects, read from schema.json, and what it demands beyond types: required fields, ranges, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xlaunch.local.apiserver.resources import DEFINITIONS
from xlaunch.local.problems import Problem, duplicate, invalid, required, too_many, unsupported, wrong_type

Node = Mapping[str, Any]
FREE: Node = {}  # a node that takes anything
_ZEROES: Mapping[str, Any] = {"string": "", "integer": 0, "boolean": False, "object": {}, "array": None}
_BLOCKING = ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
             "FieldValueTypeInvalid")  # fmt: skip
_UNFINISHED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


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


def check(value: Any, kind: str) -> Iterator[Problem]:
    """What the schema demands beyond types: required fields, closed lists, ranges, unique keys of list items."""
    yield from _check(value, definition(kind), "")


def _check(value: Any, node: Node, path: str) -> Iterator[Problem]:
    node = resolve(node)
    if "enum" in node and value not in node["enum"]:
        yield unsupported(path, value, node["enum"])
    if value is None and "type" in node:
        yield wrong_type(path, value, node["type"])
        return
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
        yield too_many(path, len(value), node["maxItems"])
    keys, seen = list_keys(node), set()
    for index, each in enumerate(value):
        yield from _check(each, node.get("items", FREE), f"{path}[{index}]")
        if keys and isinstance(each, dict):
            identity = tuple(each.get(key) for key in keys)
            if identity in seen:
                yield duplicate(f"{path}[{index}]", dict(zip(keys, identity, strict=True)))
            seen.add(identity)


def with_zero_values(value: Any, node: Node) -> Any:
    """An object as a Go program writes it that has read it: required fields that are absent have their zero value.

    Not one that may be a number or text, as the port of a probe: with JobSet 0.12 that is missed.
    """
    node = resolve(node)
    if isinstance(value, list):
        return [with_zero_values(each, node.get("items", FREE)) for each in value]
    if not isinstance(value, dict):
        return value
    filled = {key: with_zero_values(each, child(node, key) or FREE) for key, each in value.items()}
    for key in node.get("required", ()):
        inner = resolve(child(node, key) or FREE)
        if key not in filled and inner.get("format") != "int-or-string":
            filled[key] = with_zero_values(_ZEROES.get(inner.get("type", "")), inner)
    return filled


def with_rules(problems: Sequence[Problem], rules: Iterable[Problem] = ()) -> list[Problem]:
    """Problems of a custom object with those of its CRD's rules; where one keeps from looking at them, that it does.

    apiextensions-apiserver 0.37, pkg/registry/customresource/strategy.go `hasBlockingErr`.
    """
    if any(each.reason in _BLOCKING for each in problems):
        return [*problems, Problem("FieldValueInvalid", "<nil>", f"Invalid value: null: {_UNFINISHED}")]
    return [*problems, *rules]


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
