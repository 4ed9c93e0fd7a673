"""A watch over HTTP: initial state, events in the wanted form, bookmarks, and its end after timeoutSeconds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from xlaunch.local.apiserver import reads
from xlaunch.local.apiserver.requests import flag, number
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.selectors import Predicate
from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import Object, StatusError

BOOKMARK_EVERY = 60.0  # seconds, as kube-apiserver's watch cache
BEFORE_END = 2.0  # seconds before the end of a watch at which its last bookmark comes
LONGEST = 3600.0  # seconds; a client that names no timeout reconnects after that
Render = Callable[[Object, bool], Object]  # an object and whether it is the first of this watch -> its form


@dataclass(frozen=True)
class WatchOptions:
    """`since` is None for a watch that begins with the state; `initial` sends it even so."""

    since: int | None
    initial: bool
    bookmarks: bool
    mark_end_of_initial: bool
    seconds: float


def options_of(query: Mapping[str, str]) -> WatchOptions:
    """The options of a watch request; 422 where sendInitialEvents is not asked for as it must be."""
    version = query.get("resourceVersion", "")
    if version and not version.isdecimal():  # what a real server answers, where a list is answered 400
        message = f'Internal error occurred: strconv.ParseUint: parsing "{version}": invalid syntax'
        raise StatusError(500, "InternalError", message)
    since = int(version) if version not in ("", "0") else None
    bookmarks, wanted = flag(query, "allowWatchBookmarks"), query.get("sendInitialEvents")
    if wanted is not None and query.get("resourceVersionMatch") != "NotOlderThan":
        message = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires '
        raise StatusError(422, "Invalid", f"{message}setting resourceVersionMatch to NotOlderThan")
    asked = flag(query, "sendInitialEvents")
    return WatchOptions(
        since=since,
        initial=asked if wanted is not None else since is None,
        bookmarks=bookmarks,
        mark_end_of_initial=bookmarks and (asked or (wanted is None and version == "0")),
        seconds=float(number(query, "timeoutSeconds") or LONGEST),
    )


async def lines(
    store: Store,
    resource: Resource,
    matches: Predicate,
    options: WatchOptions,
    render: Render,
    clock: Callable[[], float],
) -> AsyncIterator[bytes]:
    """The lines of a watch, each a JSON object; ends after `options.seconds`, or with an ERROR for a forgotten past.

    The first line is empty and comes at once, so that the answer can begin before there is an event.
    """
    first = True
    end = clock() + options.seconds
    bookmark_at = _next_bookmark(clock(), end)

    def line(kind: str, each: Object) -> bytes:
        nonlocal first
        shown = each if kind == "ERROR" else render(each, first)
        first = False
        return json.dumps({"type": kind, "object": shown}, separators=(",", ":")).encode() + b"\n"

    def bookmark(revision: int, annotations: Mapping[str, str] | None = None) -> bytes:
        metadata: Object = {"resourceVersion": str(revision), "creationTimestamp": None}
        metadata |= {"annotations": dict(annotations)} if annotations else {}
        return line("BOOKMARK", {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata})

    revision = store.revision if options.since is None or options.initial else options.since
    state = reads.page(store, resource, matches).items if options.initial else []
    yield b""
    if options.initial:
        for each in state:
            yield line("ADDED", each)
        if options.mark_end_of_initial:
            yield bookmark(revision, {"k8s.io/initial-events-end": "true"})
    while True:
        seen = store.revision
        try:
            changes = store.after(resource.plural, revision)
        except StatusError as error:
            yield line("ERROR", error.body())
            return
        for event in reads.events(changes, matches):
            yield line(event.type, event.object)
        revision = max(revision, seen)
        now = clock()
        if now >= end:
            return
        if now >= bookmark_at:
            bookmark_at = _next_bookmark(now, end)
            if options.bookmarks:
                yield bookmark(revision)
        try:
            await asyncio.wait_for(store.wait(resource.plural, revision), min(end, bookmark_at) - now)
        except TimeoutError:
            yield b""  # lets the caller see whether anybody still listens


def _next_bookmark(now: float, end: float) -> float:
    """When the next bookmark is due: after a minute, or shortly before the end."""
    last = end - BEFORE_END
    return min(now + BOOKMARK_EVERY, last) if now < last else end
