"""Bodies in Kubernetes' protobuf form, which kubectl sends for what it builds itself (`create namespace`, `drain`).

Only requests: answers are JSON, which every client also accepts. The envelope is
k8s.io/apimachinery, pkg/runtime/serializer/protobuf/protobuf.go; field numbers come from schema.json (`tags`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from xlaunch.local.apiserver.resources import BY_KIND
from xlaunch.local.apiserver.schema import FREE, Node, child, definition, resolve
from xlaunch.local.kube import Object, StatusError, bad_request

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_BODIES = ("Binding", "DeleteOptions", "Eviction")  # kinds of bodies that are no resources
Value = int | bytes


def decode(data: bytes) -> Object:
    """The object in an envelope; 400 where it is none, 415 for a kind whose schema is not known."""
    if not data.startswith(_MAGIC):
        raise bad_request("the body is no Kubernetes protobuf: it does not begin with the magic number")
    try:
        envelope = dict(_fields(data[len(_MAGIC) :]))
        names = dict(_fields(_bytes(envelope.get(1, b""))))
        api_version, kind = (_bytes(names.get(number, b"")).decode() for number in (1, 2))
        resource = BY_KIND.get((api_version, kind))
        node = definition(resource.schema if resource else kind if kind in _BODIES else "")
        if "tags" not in node:
            message = f"the body of the request was in an unknown format: protobuf of {kind} in {api_version}"
            raise StatusError(415, "UnsupportedMediaType", message)
        return {"apiVersion": api_version, "kind": kind, **_message(_bytes(envelope.get(2, b"")), node, node["tags"])}
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise bad_request(f"the body is no Kubernetes protobuf: {error}") from error


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Field numbers and values of a message: numbers as they are, strings and messages as bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if at + size > len(data):
            raise ValueError("unexpected end of data")
        yield number, data[at : at + size]
        at += size


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("a number where bytes were expected")
    return value


def _message(data: bytes, node: Node, tags: Mapping[str, Any]) -> Object:
    """The JSON form of a message. Zero and "" mean nothing, as in Go's `omitempty`, except in pointers."""
    found: Object = {}
    for number, value in _fields(data):
        name = tags.get(str(number))
        if isinstance(name, dict):  # a struct that JSON inlines
            found |= _message(_bytes(value), node, name)
        elif name:
            key = name.removesuffix("?")
            inner = child(node, key) or FREE
            if inner.get("type") == "array":
                found.setdefault(key, []).append(_value(value, inner["items"]))
            elif "additionalProperties" in inner:
                entry = dict(_fields(_bytes(value)))
                text = _bytes(entry.get(1, b"")).decode()
                found.setdefault(key, {})[text] = _value(entry.get(2, b""), inner["additionalProperties"])
            elif (plain := _value(value, inner)) not in ("", 0, None) or name.endswith("?"):
                found[key] = plain
    return found


def _value(value: Value, node: Node) -> Any:
    if special := _SPECIAL.get(node.get("$ref", "")):
        return special(dict(_fields(_bytes(value))))
    node = resolve(node)
    match node.get("type"):
        case "boolean":
            return bool(value)
        case "integer":
            number = int(value) if isinstance(value, int) else int.from_bytes(value, "little")
            return number - 2**64 if number >= 2**63 else number
        case "string":
            data = _bytes(value)
            return b64encode(data).decode() if node.get("format") == "byte" else data.decode()
    return _message(_bytes(value), node, node.get("tags", {}))


def _time(parts: Mapping[int, Value]) -> str | None:
    seconds, nanos = parts.get(1), parts.get(2, 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return None
    moment = datetime.fromtimestamp(seconds, UTC)
    fraction = f".{nanos // 1000:06d}" if nanos else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _int_or_string(parts: Mapping[int, Value]) -> int | str:
    return _bytes(parts.get(3, b"")).decode() if parts.get(1) else int(parts.get(2, 0))


_SPECIAL: Mapping[str, Callable[[Mapping[int, Value]], Any]] = {
    "Time": _time,
    "MicroTime": _time,
    "Quantity": lambda parts: _bytes(parts.get(1, b"")).decode(),
    "IntOrString": _int_or_string,
    "FieldsV1": lambda parts: json.loads(_bytes(parts.get(1, b"{}"))),
}
