"""Patches of a document by RFC 6902 (JSON) and by Kubernetes' strategic merge."""

from __future__ import annotations

from typing import Any

from xlaunch.local.apiserver.schema import FREE, Node, child, item, resolve
from xlaunch.local.kube import StatusError, bad_request


def json_patch(document: Any, operations: Any) -> Any:
    """RFC 6902: all operations or none; 422 for one that fails, 400 for a malformed one."""
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise bad_request("error decoding patch: a JSON patch is a list of operations")
    for operation in operations:
        try:
            document = _operate(document, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            message = "the server rejected our request due to an error in our request"
            raise StatusError(422, "Invalid", message) from error
    return document


def _operate(document: Any, operation: dict[str, Any]) -> Any:
    name, path = operation["op"], _pointer(operation["path"])
    match name:
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            return _without(document, path)
        case "replace":
            _at(document, path)
            return _add(_without(document, path), path, operation["value"]) if path else operation["value"]
        case "move":
            source = _pointer(operation["from"])
            return _add(_without(document, source), path, _at(document, source))
        case "copy":
            return _add(document, path, _at(document, _pointer(operation["from"])))
        case "test":
            if _at(document, path) != operation["value"]:
                raise ValueError("test failed")
            return document
        case _:
            raise ValueError(f"unknown operation {name!r}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"invalid JSON pointer {text!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(part: str, length: int) -> int:
    index = int(part)
    if not 0 <= index < length or not part.isdecimal():
        raise IndexError(f"index {part} out of range")
    return index


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[_index(part, len(document))] if isinstance(document, list) else document[part]
    return document


def _changed(document: Any, path: list[str], leaf: Any) -> Any:
    """A copy of a document in which `leaf` (a function of the last container and the last part) was applied."""
    part, *rest = path
    if not isinstance(document, (dict, list)):
        raise TypeError(f"{part!r} is not below an object or a list")
    copy = document.copy()
    if not rest:
        leaf(copy, part)
        return copy
    place: Any = _index(part, len(copy)) if isinstance(copy, list) else part
    copy[place] = _changed(copy[place], rest, leaf)
    return copy


def _add(document: Any, path: list[str], value: Any) -> Any:
    def put(container: Any, part: str) -> None:
        if isinstance(container, list):
            container.insert(len(container) if part == "-" else _index(part, len(container) + 1), value)
        else:
            container[part] = value

    return _changed(document, path, put) if path else value


def _without(document: Any, path: list[str]) -> Any:
    def drop(container: Any, part: str) -> None:
        if isinstance(container, list):
            del container[_index(part, len(container))]
        else:
            del container[part]

    return _changed(document, path, drop)


def strategic(document: Any, patch: Any, node: Node = FREE) -> Any:
    """Kubernetes' strategic merge (k8s.io/apimachinery, pkg/util/strategicpatch/patch.go), by a kind's schema.

    Lists with a merge key are merged by it, all others replaced. Obeys `$patch: replace|delete|merge`,
    `$deleteFromPrimitiveList/…`, `$setElementOrder/…` and `$retainKeys`.
    """
    if not isinstance(patch, dict):
        return patch
    directive = patch.get("$patch")
    if directive == "delete":
        return {}
    merged = dict(document) if isinstance(document, dict) and directive != "replace" else {}
    if isinstance(retained := patch.get("$retainKeys"), list):
        merged = {key: value for key, value in merged.items() if key in retained}
    node = resolve(node)
    for key, value in patch.items():
        if key.startswith("$"):
            _list_directive(merged, key, value)
        elif value is None:
            merged.pop(key, None)
        else:
            inner = child(node, key) or FREE
            known = inner if isinstance(value, list) else resolve(inner)
            merged[key] = _strategic_value(merged.get(key), value, known, patch.get(f"$setElementOrder/{key}"))
    return merged


def _strategic_value(old: Any, value: Any, node: Node, order: list[Any] | None) -> Any:
    if not isinstance(value, list):
        return strategic(old, value, node)
    if "merge" not in node.get("x-kubernetes-patch-strategy", "") or not isinstance(old, list):
        old = []
    key = node.get("x-kubernetes-patch-merge-key")
    if key is None:
        merged = [*old, *(each for each in value if each not in old)]
        return _ordered(merged, order, lambda each: each)
    keys = None if order is None else [each.get(key) for each in _objects(order)]
    merged = _merged_by_key(old, _objects(value), key, item(node))
    if order is None:
        return _by_both(merged, [each.get(key) for each in value], [each.get(key) for each in old], key)
    return _ordered(merged, keys, lambda each: each.get(key))


def _by_both(merged: list[Any], patch: list[Any], old: list[Any], key: str) -> list[Any]:
    """Merged items in the patch's order, those that only the old list has before the first that followed them there.

    patch.go `normalizeElementOrder`, `mergeSortedSlice`: what is new comes before them.
    """
    by_key = {repr(each.get(key)): each for each in merged}
    left = [each for each in dict.fromkeys(map(repr, patch)) if each in by_key]
    right = [each for each in map(repr, old) if each in by_key and each not in left]
    place = {each: index for index, each in enumerate(map(repr, old))}
    ordered: list[Any] = []
    while left and right:
        from_left = left[0] not in place or place[left[0]] < place[right[0]]
        ordered.append((left if from_left else right).pop(0))
    return [by_key[each] for each in [*ordered, *left, *right]]


def _objects(items: Any) -> list[dict[str, Any]]:
    """Items of a keyed list, or of its order; 400 for what has no keys."""
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise bad_request(f"error decoding patch: {items!r} is no list of objects")
    return items


def _merged_by_key(old: list[Any], patch: list[Any], key: str, node: Node) -> list[Any]:
    if any(each.get("$patch") == "replace" for each in patch):
        return [each for each in patch if each != {"$patch": "replace"}]
    merged = list(old)
    for each in patch:
        if key not in each:
            raise bad_request(f"map: {each} does not contain declared merge key: {key}")
        place = next((index for index, found in enumerate(merged) if found.get(key) == each[key]), None)
        if each.get("$patch") == "delete":
            merged = [found for found in merged if found.get(key) != each[key]]
        elif place is None:
            merged.append(strategic({}, each, node))
        else:
            merged[place] = strategic(merged[place], each, node)
    return merged


def _ordered(items: list[Any], order: list[Any] | None, identity: Any) -> list[Any]:
    """Items that the order names come in that order, the others keep their place behind."""
    if order is None:
        return items
    rank = {repr(each): index for index, each in enumerate(order)}
    return sorted(items, key=lambda each: rank.get(repr(identity(each)), len(rank)))


def _list_directive(merged: dict[str, Any], directive: str, value: Any) -> None:
    action, _, key = directive.partition("/")
    if action in ("$deleteFromPrimitiveList", "$setElementOrder", "$retainKeys") and not isinstance(value, list):
        raise bad_request(f"error decoding patch: {directive} must be a list")
    if action == "$deleteFromPrimitiveList" and isinstance(merged.get(key), list):
        merged[key] = [each for each in merged[key] if each not in value]
    elif action == "$setElementOrder" and isinstance(merged.get(key), list):
        merged[key] = _ordered(merged[key], [_first(each) for each in value], _first)


def _first(each: Any) -> Any:
    return next(iter(each.values())) if isinstance(each, dict) and len(each) == 1 else each
