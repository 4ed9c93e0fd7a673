"""Following one resource for ever: every change once, also across watches that end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal

from xlaunch.local.kube import Event, Kube, Object, StatusError
from xlaunch.local.objects import Key, key_of, uid_of
from xlaunch.local.time import ScaledClock

RELIST_PAUSE = 1.0
Change = Literal["ADDED", "MODIFIED", "DELETED"]
Handler = Callable[[Change, Object, Object | None], None]
"""Called with the object and what was known of it before; both must be left unchanged."""


class Informer:
    """A copy of one resource, and the handlers that hear of its changes.

    When the watch ends the resource is listed anew, and what vanished meanwhile is reported as DELETED: nobody misses
    a deletion. A name that came back under another UID is a deletion and an addition.
    """

    def __init__(self, kube: Kube, resource: str, clock: ScaledClock) -> None:
        self._kube = kube
        self._clock = clock
        self.resource = resource
        self.objects: dict[Key, Object] = {}
        self._handlers: list[Handler] = []

    def subscribe(self, handler: Handler) -> None:
        """Adds a handler; to be called before `run`."""
        self._handlers.append(handler)

    async def run(self) -> None:
        """Follows the resource until cancelled."""
        while True:
            with suppress(StatusError):  # the next list tells what was missed
                await self._follow()
            await self._clock.sleep(RELIST_PAUSE)

    async def _follow(self) -> None:
        items, version = await self._kube.list(self.resource)
        for kind, obj in self._differences(items):
            self._apply(kind, obj)
        async for event in self._kube.watch(self.resource, since=version):
            if event.type == "ERROR":
                return
            if event.type != "BOOKMARK":
                self._observe(event)

    def _differences(self, items: list[Object]) -> Iterator[tuple[Change, Object]]:
        listed = {key_of(obj): obj for obj in items}
        for key, known in list(self.objects.items()):
            if key not in listed or uid_of(listed[key]) != uid_of(known):
                yield "DELETED", known
        for key, obj in listed.items():
            before = self.objects.get(key)
            if before is None:
                yield "ADDED", obj
            elif before["metadata"].get("resourceVersion") != obj["metadata"].get("resourceVersion"):
                yield "MODIFIED", obj

    def _observe(self, event: Event) -> None:
        before = self.objects.get(key_of(event.object))
        if event.type == "DELETED":
            if before is not None:
                self._apply("DELETED", event.object)
            return
        if before is not None and uid_of(before) != uid_of(event.object):
            self._apply("DELETED", before)
            before = None
        self._apply("ADDED" if before is None else "MODIFIED", event.object)

    def _apply(self, kind: Change, obj: Object) -> None:
        key = key_of(obj)
        before = self.objects.pop(key, None)
        if kind != "DELETED":
            self.objects[key] = obj
        for handler in self._handlers:
            handler(kind, obj, before)
