"""Objects in memory under one counter of revisions, and the history that watches and paged lists read."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from xlaunch.local.kube import Object, StatusError
from xlaunch.local.objects import Key


@dataclass(frozen=True)
class Change:
    """One write. `previous` is None for a creation, `object` carries the new revision also in a deletion."""

    revision: int
    key: Key
    object: Object
    previous: Object | None
    deleted: bool = False


class Store:
    """Stored objects are never changed in place: a write replaces the object, so that readers may share it.

    `history` is how many changes of one resource a watch may lag behind before it has to list again.
    """

    def __init__(self, history: int = 10_000) -> None:
        self.revision = 1
        self._limit = history
        self._objects: dict[str, dict[Key, Object]] = defaultdict(dict)
        self._history: dict[str, list[Change]] = defaultdict(list)
        self._forgotten: dict[str, int] = defaultdict(int)  # the newest revision that history no longer has
        self._news: dict[str, asyncio.Event] = {}

    def get(self, resource: str, key: Key) -> Object | None:
        """The object as it is now."""
        return self._objects[resource].get(key)

    def items(self, resource: str) -> dict[Key, Object]:
        """All objects as they are now, in the order in which they were made; not to be changed."""
        return self._objects[resource]

    def at(self, resource: str, revision: int) -> dict[Key, Object]:
        """All objects as they were at a revision; raises 410 Expired."""
        found = dict(self._objects[resource])
        for change in reversed(self.after(resource, revision)):
            if change.previous is None:
                del found[change.key]
            else:
                found[change.key] = change.previous
        return found

    def put(self, resource: str, key: Key, new: Object) -> Object:
        """Stores an object under the next revision and returns it with that."""
        return self._write(resource, key, new, deleted=False)

    def remove(self, resource: str, key: Key, last: Object) -> Object:
        """Removes an object; `last` is the state that watchers see."""
        return self._write(resource, key, last, deleted=True)

    def _write(self, resource: str, key: Key, new: Object, *, deleted: bool) -> Object:
        self.revision += 1
        stored = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self.revision)}}
        objects, history = self._objects[resource], self._history[resource]
        history.append(Change(self.revision, key, stored, objects.get(key), deleted))
        if deleted:
            del objects[key]
        else:
            objects[key] = stored
        if len(history) > 2 * self._limit:
            self.compact(resource, history[-self._limit - 1].revision)
        if event := self._news.pop(resource, None):
            event.set()
        return stored

    def compact(self, resource: str, revision: int) -> None:
        """Forgets all changes up to a revision, as etcd does every five minutes."""
        history = self._history[resource]
        self._forgotten[resource] = max(self._forgotten[resource], revision)
        del history[: bisect_right(history, revision, key=lambda change: change.revision)]

    def after(self, resource: str, revision: int) -> list[Change]:
        """All changes later than a revision, oldest first; raises 410 Expired where some are forgotten."""
        if revision < self._forgotten[resource]:
            message = f"too old resource version: {revision} ({self._forgotten[resource]})"
            raise StatusError(410, "Expired", message)
        history = self._history[resource]
        return history[bisect_right(history, revision, key=lambda change: change.revision) :]

    async def wait(self, resource: str, revision: int) -> None:
        """Returns once there is a change later than a revision."""
        history = self._history[resource]
        if not history or history[-1].revision <= revision:
            await self._news.setdefault(resource, asyncio.Event()).wait()
