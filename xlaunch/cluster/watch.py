"""List and watch that survive what happens between a laptop and an API server over days."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from xlaunch.cluster.answers import is_list, strange
from xlaunch.cluster.api import Api, ApiError, Query
from xlaunch.core.clock import Clock
from xlaunch.core.errors import NetworkError

Object = Mapping[str, Any]

PAGE = 500
PERIOD = 60.0  # seconds that one watch request lasts: what hangs unnoticed is found out after that
STALL_MARGIN = 10.0
PATIENCE = 900.0  # seconds without any answer before a watch that once worked gives up
FIRST_PAUSE, LAST_PAUSE = 1.0, 16.0
LOUD_FROM = 4.0  # a pause of so many seconds is worth a word to the person


@dataclass(frozen=True)
class Change:
    """What a watch tells.

    LISTED: `items` is all there is now; what the caller knew before and is not among them is gone. It comes first,
    and again whenever changes may have been missed. ADDED, MODIFIED, DELETED: `object` as it is (or was last). TICK:
    a watch request ended in peace and the next begins; nothing was missed, time has passed.
    """

    type: Literal["LISTED", "ADDED", "MODIFIED", "DELETED", "TICK"]
    object: Object = field(default_factory=dict)
    items: tuple[Object, ...] = ()


def watch(
    api: Api,
    path: str,
    *,
    query: Query = (),
    clock: Clock,
    timeout: float | None = None,
    period: float = PERIOD,
    patience: float = PATIENCE,
    notice: Callable[[str], None] = lambda _: None,
) -> Iterator[Change]:
    """Lists the collection at `path`, then yields its changes; ends only after `timeout` seconds, if at all.

    Goes on through cut and stalled streams, 410 (as HTTP status or as ERROR event), 429 and 5xx. Nothing is told
    twice: an event no newer than what was told of that object is dropped. `period` is also the longest time between
    two changes of any type while the server answers. Raises NetworkError where the first list fails, or nothing has
    answered for `patience` seconds; ApiError for a refusal.
    """
    deadline = math.inf if timeout is None else clock.monotonic() + timeout
    pauses = Pauses(clock, deadline)
    seen = _Seen()
    version = ""
    answered: float | None = None
    while (left := deadline - clock.monotonic()) > 0:
        opened: float | None = None
        told = failed = False
        try:
            if not version:
                items, version = list_all(api, path, query=query)
                answered = clock.monotonic()
                seen.replace(items)
                yield Change("LISTED", items=items)
            for kind, item in _events(api, path, query, version, min(period, left), left):
                answered = clock.monotonic()
                if kind == "OPENED":
                    opened = answered
                    continue
                version = item["metadata"]["resourceVersion"]
                if kind != "BOOKMARK" and seen.is_news(kind, item):
                    told = True
                    yield Change(kind, item)
                if clock.monotonic() >= deadline:
                    return
        except NetworkError as error:
            if answered is None or clock.monotonic() - answered > patience:
                raise
            failed = True
            if pauses.next >= LOUD_FROM:
                notice(f"{error.message} ({error.why}); trying again")
        except ApiError as error:
            if error.status == 410:
                version = ""
            elif answered is None or not is_transient(error):
                raise
            failed = error.status != 410
            pauses.at_least(error.retry_after or 0.0)
        # A stream that told something, or held for a while, is a success however it ended
        if told or (opened is not None and clock.monotonic() - opened >= min(FIRST_PAUSE, period / 2)):
            pauses.reset()
        else:
            pauses.wait()
        if not failed:
            yield Change("TICK")


def list_all(
    api: Api,
    path: str,
    *,
    query: Query = (),
    timeout: float = 30.0,
    keep: Callable[[Object], Object] = lambda item: item,
) -> tuple[tuple[Object, ...], str]:
    """All objects of a collection, fetched in pages, and the resourceVersion to watch from.

    A continue token that expired between two pages (410) makes it begin anew, once. `keep` gives the part of an
    object that is worth its memory; thousands of whole pods take hundreds of MiB.
    """
    try:
        return _pages(api, path, query, timeout, keep)
    except ApiError as error:
        if error.status != 410:
            raise
        return _pages(api, path, query, timeout, keep)


def _pages(
    api: Api, path: str, query: Query, timeout: float, keep: Callable[[Object], Object]
) -> tuple[tuple[Object, ...], str]:
    items: list[Object] = []
    token = ""
    while True:
        asked = [*_pairs(query), ("limit", str(PAGE)), *([("continue", token)] if token else [])]
        body = api.request("GET", path, query=asked, timeout=timeout).body
        if not is_list(body):
            raise strange(f"the list of {path}")
        items += map(keep, body.get("items") or ())
        token = body["metadata"].get("continue", "")
        if not token:
            return tuple(items), body["metadata"]["resourceVersion"]


def is_transient(error: ApiError) -> bool:
    """Whether the same request may succeed in a moment: the server is busy, or something before it is broken."""
    return error.status == 429 or (error.status >= 500 and error.status != 501)


class Pauses:
    """Growing pauses between attempts, never beyond the deadline: 1, 2, 4 ... 16 seconds."""

    def __init__(self, clock: Clock, deadline: float = math.inf) -> None:
        self._clock = clock
        self._deadline = deadline
        self.next = FIRST_PAUSE

    def at_least(self, seconds: float) -> None:
        """The next pause is no shorter than that (Retry-After)."""
        self.next = max(self.next, seconds)

    def wait(self) -> None:
        """Sleeps, and doubles the pause after this one."""
        self._clock.sleep(max(0.0, min(self.next, self._deadline - self._clock.monotonic())))
        self.next = min(self.next * 2, LAST_PAUSE)

    def reset(self) -> None:
        """The last attempt worked."""
        self.next = FIRST_PAUSE


class _Seen:
    """The newest version told of each object."""

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}

    def replace(self, items: tuple[Object, ...]) -> None:
        self._versions = {_uid(item): _version(item) for item in items}

    def is_news(self, kind: str, item: Object) -> bool:
        known = self._versions.get(_uid(item), -1)
        if kind == "DELETED":
            return self._versions.pop(_uid(item), None) is not None
        if _version(item) <= known:
            return False
        self._versions[_uid(item)] = _version(item)
        return True


def _events(
    api: Api, path: str, query: Query, version: str, seconds: float, left: float
) -> Iterator[tuple[Any, Object]]:
    """The events of one watch request, after ("OPENED", {}). Raises ApiError for an ERROR event, and as streams do."""
    asked = [
        *_pairs(query),
        ("watch", "true"),
        ("resourceVersion", version),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", str(math.ceil(seconds))),
    ]
    with api.stream(
        path, query=asked, accept="application/json", idle_timeout=min(seconds + STALL_MARGIN, left)
    ) as body:
        yield "OPENED", {}
        rest = b""
        while data := body.read():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield _event(line)


def _event(line: bytes) -> tuple[str, Object]:
    try:
        event = json.loads(line)
        kind, item = event["type"], event["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise NetworkError("The watch stream is broken", why=f"Not an event: {line[:80]!r}") from error
    if kind == "ERROR":
        raise ApiError(item.get("code", 500), item.get("reason", "InternalError"), item.get("message", "watch failed"))
    return kind, item


def _pairs(query: Query) -> list[tuple[str, str]]:
    return list(query.items() if isinstance(query, Mapping) else query)


def _uid(item: Object) -> str:
    metadata = item["metadata"]
    return str(metadata.get("uid") or metadata["name"])


def _version(item: Object) -> int:
    """Resource versions of one kind compare as numbers (KEP-5504)."""
    return int(item["metadata"].get("resourceVersion") or 0)
