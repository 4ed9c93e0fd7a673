"""Server-side apply: who owns which field, in the form of metadata.managedFields, and what an apply changes.

Field sets follow sigs.k8s.io/structured-merge-diff: a path is a tuple of `f:<field>`, `k:<keys of a list item>` and
`v:<value of a set>`; an item of a keyed list has itself as a member (`.`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xlaunch.local.apiserver.bodies import SYSTEM
from xlaunch.local.apiserver.schema import FREE, Node, child, item, list_keys, resolve
from xlaunch.local.kube import Object, StatusError

Path = tuple[str, ...]
Fields = frozenset[Path]
_UNOWNED = ("apiVersion", "kind")


def is_atomic(node: Node) -> bool:
    """A map or list that has one owner as a whole."""
    if node.get("type") == "array":
        return node.get("x-kubernetes-list-type") not in ("map", "set")
    return node.get("x-kubernetes-map-type") == "atomic" or node.get("type") not in ("object", None)


def _item_name(each: Any, node: Node) -> str:
    if keys := list_keys(node):
        fields = item(node).get("properties", {})
        found = {key: each.get(key, fields.get(key, {}).get("default")) for key in keys}
        present = {key: value for key, value in found.items() if value is not None}
        return "k:" + json.dumps(present, separators=(",", ":"), sort_keys=True)
    return "v:" + json.dumps(each, separators=(",", ":"))


def _children(value: Any, node: Node) -> Iterator[tuple[str, Any, Node]]:
    """The parts of a value that are owned one by one: name, value, node; none for an atomic one."""
    node = node if isinstance(value, list) else resolve(node)
    if isinstance(value, dict) and not is_atomic(node):
        for key, each in value.items():
            inner = child(node, key) or FREE
            yield f"f:{key}", each, inner if isinstance(each, list) else _with_map_type(inner)
    elif isinstance(value, list) and not is_atomic(node):
        inner = item(node)
        yield from ((_item_name(each, node), each, inner) for each in value)


def _with_map_type(node: Node) -> Node:
    """The definition that a node refers to, atomic also where only the reference says so."""
    if "$ref" in node and "x-kubernetes-map-type" in node:
        return {**resolve(node), "x-kubernetes-map-type": node["x-kubernetes-map-type"]}
    return resolve(node)


def fields_of(value: Any, node: Node) -> Fields:
    """The field set of a whole object, without what identifies it."""
    found: set[Path] = set()
    for name, each, inner in _children(value, node):
        if name[2:] in _UNOWNED:
            continue
        if name == "f:metadata":
            each = {key: part for key, part in each.items() if key not in (*SYSTEM, "generateName")}
            if not each:
                continue
        found |= {(name, *path) for path in _leaves(each, inner)}
    return frozenset(found)


def _leaves(value: Any, node: Node) -> Iterator[Path]:
    parts = list(_children(value, node))
    if not parts:
        yield ()
        return
    for name, each, inner in parts:
        if name.startswith("k:"):
            yield (name, ".")
        yield from ((name, *path) for path in _leaves(each, inner))


def _at(value: Any, node: Node, path: Path) -> Any:
    """The value at a path; None where there is none."""
    for step in path:
        if step == ".":
            return True
        found = next(((each, inner) for name, each, inner in _children(value, node) if name == step), None)
        if found is None:
            return None
        value, node = found
    return value


def encode(fields: Iterable[Path]) -> Object:
    """The `fieldsV1` form of a field set."""
    root: Object = {}
    for path in sorted(fields):
        place = root
        for step in path:
            place = place.setdefault(step, {})
    return root


def parse(tree: Mapping[str, Any]) -> Fields:
    """The field set of a `fieldsV1`."""
    return frozenset(
        (step, *path) for step, inner in tree.items() for path in (parse(inner) if inner else frozenset({()}))
    )


def merged(live: Any, applied: Any, node: Node) -> Any:
    """`applied` merged into `live`: maps by field, keyed lists by key, sets as unions, the rest replaced."""
    node = node if isinstance(applied, list) else resolve(node)
    if type(live) is not type(applied) or is_atomic(node):
        return applied
    if isinstance(applied, dict):
        parts = {name[2:]: inner for name, _, inner in _children(applied, node)}
        return {**live, **{key: merged(live.get(key), each, parts[key]) for key, each in applied.items()}}
    if isinstance(applied, list):
        mine = {_item_name(each, node): each for each in applied}
        theirs = {_item_name(each, node): each for each in live}
        kept = {name: merged(each, mine[name], item(node)) if name in mine else each for name, each in theirs.items()}
        return list({**kept, **{name: each for name, each in mine.items() if name not in kept}}.values())
    return applied


def without(value: Any, paths: Iterable[Path], node: Node) -> Any:
    """A value without the fields at some paths; a container that loses its last field goes too."""
    paths = set(paths)
    if not paths:
        return value
    kept: list[tuple[str, Any]] = []
    for name, each, inner in _children(value, node):
        below = {path[1:] for path in paths if path[0] == name}
        if () in below or (name.startswith("k:") and (".",) in below):
            continue
        rest = without(each, below, inner)
        if not (below and rest in ({}, [])):
            kept.append((name, rest))
    return [each for _, each in kept] if isinstance(value, list) else {name[2:]: each for name, each in kept}


def apply(live: Object, applied: Object, node: Node, manager: str, *, force: bool, time: str) -> Object:
    """The object after `manager` applied its configuration; 409 where that touches what others own and have otherwise.

    Fields that the manager applied before and no longer names are removed unless another manager owns them.
    """
    entries = live["metadata"].get("managedFields", [])
    sets = {_identity(entry): parse(entry["fieldsV1"]) for entry in entries if not entry.get("subresource")}
    me = (manager, "Apply")
    wanted = fields_of(applied, node)
    others = {owner: fields for owner, fields in sets.items() if owner != me}
    clashes = {
        owner: {path for path in fields & wanted if _at(live, node, path) != _at(applied, node, path)}
        for owner, fields in others.items()
    }
    if not force and any(clashes.values()):
        raise _conflict(clashes)
    held = frozenset().union(*others.values())
    dropped = sets.get(me, frozenset()) - wanted - held
    result = without(merged(live, applied, node), dropped, node)
    remaining = {owner: fields - clashes[owner] for owner, fields in others.items()}
    return _with_entries(result, {**remaining, me: wanted}, entries, applied["apiVersion"], time)


def updated(old: Object, new: Object, node: Node, manager: str, *, time: str) -> Object:
    """The object after an ordinary write by `manager`, which takes the fields it changed from their owners.

    Only for objects that somebody applied: ownership that no apply can meet is not recorded.
    """
    entries = old["metadata"].get("managedFields", [])
    if not entries:
        return new
    before, after = fields_of(old, node), fields_of(new, node)
    changed = {path for path in after if path not in before or _at(old, node, path) != _at(new, node, path)}
    me = (manager, "Update")
    sets = {_identity(entry): parse(entry["fieldsV1"]) & after - changed for entry in entries}
    sets[me] = sets.get(me, frozenset()) | changed
    return _with_entries(new, sets, entries, new["apiVersion"], time)


def _identity(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["manager"], entry["operation"]


def _with_entries(
    new: Object, sets: Mapping[tuple[str, str], Fields], old: list[Object], api_version: str, time: str
) -> Object:
    """The object with managedFields for these sets; an entry whose set is unchanged keeps its time."""
    known = {_identity(entry): entry for entry in old}
    entries = []
    for owner, fields in sets.items():
        tree, entry = encode(fields), known.get(owner)
        if entry and entry["fieldsV1"] == tree:
            entries.append(entry)
        elif fields:
            manager, operation = owner
            entries.append({"manager": manager, "operation": operation, "apiVersion": api_version, "time": time,
                            "fieldsType": "FieldsV1", "fieldsV1": tree})  # fmt: skip
    return {**new, "metadata": {**new["metadata"], "managedFields": entries}}


def _conflict(clashes: Mapping[tuple[str, str], set[Path]]) -> StatusError:
    causes = [
        {"reason": "FieldManagerConflict", "message": f'conflict with "{manager}"', "field": _shown(path)}
        for (manager, _), paths in clashes.items()
        for path in sorted(paths)
    ]
    listed = "; ".join(f"{each['message']}: {each['field']}" for each in causes)
    word = "conflict" if len(causes) == 1 else "conflicts"
    return StatusError(409, "Conflict", f"Apply failed with {len(causes)} {word}: {listed}", {"causes": causes})


def _shown(path: Path) -> str:
    """A path as kubectl prints it: .spec.containers[name="main"].image."""
    text = ""
    for step in path:
        kind, _, name = step.partition(":")
        if kind == "f":
            text += f".{name}"
        elif kind == "k":
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in json.loads(name).items()) + "]"
    return text
