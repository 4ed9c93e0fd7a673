"""Lists and watches over the store: selection, paging at one revision, and events as a selector sees them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xlaunch.local.apiserver import selectors
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.selectors import Predicate
from xlaunch.local.apiserver.store import Change, Store
from xlaunch.local.kube import Event, Object, bad_request
from xlaunch.local.objects import Key


@dataclass(frozen=True)
class Page:
    """Part of a list: `token` continues it, "" at its end; `remaining` is None where a selector hides it."""

    items: list[Object]
    revision: int
    token: str = ""
    remaining: int | None = None


def predicate(resource: Resource, namespace: str, labels: str = "", fields: str = "") -> Predicate:
    """Whether an object is in a namespace ("" = all) and chosen by both selectors; 400 where one does not parse."""
    tests: list[Predicate] = []
    if namespace:
        tests.append(lambda each: each["metadata"].get("namespace", "") == namespace)
    if labels:
        tests.append(selectors.labels(labels))
    if fields:
        tests.append(selectors.fields(fields, resource))
    return lambda each: all(test(each) for test in tests)


def page(
    store: Store,
    resource: Resource,
    matches: Predicate,
    *,
    limit: int = 0,
    token: str = "",
    revision: int | None = None,
    selected: bool = False,
) -> Page:
    """One page of a list, ordered by namespace and name; all of it without a limit.

    All pages that a token leads to are of the first page's revision. Raises 410 Expired where that is forgotten.
    """
    after: Key = ("", "")
    if token:
        revision, after = _parse(token)
    current = store.revision if revision is None else revision
    objects = store.items(resource.plural) if revision is None else store.at(resource.plural, current)
    keys = [key for key in sorted(objects) if key > after and matches(objects[key])]
    shown = keys[:limit] if limit else keys
    items = [objects[key] for key in shown]
    if len(shown) == len(keys):
        return Page(items, current)
    remaining = None if selected else len(keys) - len(shown)
    return Page(items, current, _token(current, shown[-1]), remaining)


def _token(revision: int, last: Key) -> str:
    return urlsafe_b64encode(json.dumps([revision, *last]).encode()).decode()


def _parse(token: str) -> tuple[int, Key]:
    try:
        revision, namespace, name = json.loads(urlsafe_b64decode(token))
        return int(revision), (str(namespace), str(name))
    except ValueError as error:
        raise bad_request("continue key is not valid: it was not issued by this server") from error


def events(changes: Iterable[Change], matches: Predicate) -> Iterator[Event]:
    """Changes as a watch with a selector sees them.

    An object that leaves the selection is DELETED in its last state there, under the revision of the change.
    """
    for change in changes:
        before = change.previous is not None and matches(change.previous)
        after = not change.deleted and matches(change.object)
        if after:
            yield Event("MODIFIED" if before else "ADDED", change.object)
        elif before:
            last = change.object if change.deleted else change.previous
            metadata = {**last["metadata"], "resourceVersion": str(change.revision)} if last else {}
            yield Event("DELETED", {**(last or {}), "metadata": metadata})
