"""Creation and change of objects: decode, defaults, admission hooks, validation, then one step in the store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any, Protocol

from xlaunch.core.merge_patch import merge_patch
from xlaunch.core.timestamps import stamp
from xlaunch.local.apiserver import admission, bodies, defaults, managed, names, patches
from xlaunch.local.apiserver.advice import warnings
from xlaunch.local.apiserver.bodies import WriteOptions
from xlaunch.local.apiserver.deletion import is_held
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.schema import definition, with_zero_values
from xlaunch.local.apiserver.store import Store
from xlaunch.local.apiserver.validation import check_create, check_update
from xlaunch.local.kube import APPLY, JSON_PATCH, MERGE, STRATEGIC, Hook, Hooks, Kube, Object, StatusError, bad_request
from xlaunch.local.objects import Key, is_deleting
from xlaunch.local.problems import Problem, invalid, refusal

EVENT_TTL = 3600.0  # seconds, kube-apiserver's --event-ttl
_GENERATIONS = ("pods", "jobs", "jobsets")


class WallClock(Protocol):
    """The time for timestamps."""

    def now(self) -> datetime:
        """The wall clock in UTC."""
        ...


class Writer:
    """Writes to a store."""

    def __init__(self, store: Store, clock: WallClock, hooks: Hooks, kube: Kube, random: Random) -> None:
        self._store = store
        self._clock = clock
        self._hooks = hooks
        self._kube = kube
        self._random = random

    def existing(self, resource: Resource, key: Key) -> Object:
        """The stored object; 404 NotFound."""
        if found := self._store.get(resource.plural, key):
            return found
        raise resource.not_found(key[1])

    def now(self) -> str:
        """This moment as a timestamp."""
        return stamp(self._clock.now())

    async def create(
        self,
        resource: Resource,
        body: Any,
        namespace: str,
        options: WriteOptions,
        managed_fields: Sequence[Object] = (),
    ) -> Object:
        """Stores a new object; 400 for a body of another kind or namespace, 409 AlreadyExists, 422 Invalid."""
        bodies.check_target(resource, body, namespace)
        new = bodies.decoded(resource, body, options)
        new["metadata"] = metadata = self._new_metadata(resource, new["metadata"], namespace)
        metadata |= {"managedFields": list(managed_fields)} if managed_fields else {}
        key = (namespace, metadata["name"])
        admission.check_namespace(self._store, resource, key[1], namespace)
        if resource.custom:
            new.pop("status", None)
        _default(resource, new)
        if rule := defaults.ON_CREATE.get(resource.plural):
            rule(new)
        if resource.plural == "pods":
            admission.admit_pod(self._store, new)
        hooks = self._hooks_of(resource)
        new = await self._admit(resource, new, None, lambda each: check_create(resource, each), hooks)
        if self._store.get(resource.plural, key):
            message = f'{resource.qualified} "{key[1]}" already exists'
            raise StatusError(409, "AlreadyExists", message, resource.details(key[1]))
        admission.check_namespace(self._store, resource, key[1], namespace)  # a hook may have waited
        _default(resource, new)  # as when it is read back
        options.warnings += warnings(resource, new)
        if options.dry_run:
            return new
        if resource.plural == "events":
            self._forget_old_events()
        return self._store.put(resource.plural, key, new)

    def _new_metadata(self, resource: Resource, given: Object, namespace: str) -> Object:
        """The metadata of a new object: what the client may choose, and what the system gives."""
        name, prefix = given.get("name"), given.get("generateName")
        metadata = {key: value for key, value in given.items() if key not in bodies.SYSTEM}
        metadata["name"] = name or (names.generated(str(prefix), self._random) if prefix else "")
        metadata |= {"namespace": namespace} if resource.namespaced else {}
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": self.now()}
        return {**metadata, "generation": 1} if resource.plural in _GENERATIONS else metadata

    async def update(
        self, resource: Resource, key: Key, body: Any, options: WriteOptions, subresource: str = ""
    ) -> Object:
        """Replaces an object (PUT); 422 for a custom object without resourceVersion."""
        self.existing(resource, key)
        bodies.check_target(resource, body, *key)
        if resource.custom and not bodies.metadata_of(body).get("resourceVersion"):
            problem = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise refusal(resource.group, resource.plural, key[1], [problem])
        return await self.change(resource, key, lambda _: body, options, subresource)

    async def patch(
        self, resource: Resource, key: Key, body: Any, kind: str, options: WriteOptions, subresource: str = ""
    ) -> tuple[Object, bool]:
        """The patched object, and whether it was created (which only a server-side apply does)."""
        if kind == APPLY:
            return await self._apply(resource, key, body, options, subresource)
        node = definition(resource.schema)
        kinds: dict[str, Callable[[Object], Object]] = {
            JSON_PATCH: lambda old: patches.json_patch(old, body),
            MERGE: lambda old: merge_patch(old, body),
            STRATEGIC: lambda old: patches.strategic(old, body, node),
        }
        if resource.custom:
            del kinds[STRATEGIC]
        if kind not in kinds:
            allowed = ", ".join([*kinds, APPLY])
            message = f"the body of the request was in an unknown format - accepted media types include: {allowed}"
            raise StatusError(415, "UnsupportedMediaType", message)
        return await self.change(resource, key, kinds[kind], options, subresource), False

    async def _apply(
        self, resource: Resource, key: Key, body: Any, options: WriteOptions, subresource: str
    ) -> tuple[Object, bool]:
        node = definition(resource.schema)
        bodies.check_target(resource, body, *key)
        applied = bodies.decoded(resource, body, options, fill=False)
        if "managedFields" in applied.get("metadata", {}):
            raise bad_request("metadata.managedFields must be nil")
        if not self._store.get(resource.plural, key):
            empty: Object = {"metadata": {}}
            new = managed.apply(empty, applied, node, options.manager, force=True, time=self.now())
            return await self.create(resource, new, key[0], options, new["metadata"]["managedFields"]), True

        def apply(old: Object) -> Object:
            return managed.apply(old, applied, node, options.manager, force=options.force, time=self.now())

        return await self.change(resource, key, apply, replace(options, manager=""), subresource), False

    async def change(
        self,
        resource: Resource,
        key: Key,
        make: Callable[[Object], Object],
        options: WriteOptions,
        subresource: str = "",
    ) -> Object:
        """Replaces an object by what `make` makes of it, again from the start if another write came in between.

        A resourceVersion or uid in the result is a precondition: 409 Conflict. A change that changes nothing keeps
        the resourceVersion. An object that is being deleted goes with its last finalizer.
        """
        while True:
            old = self.existing(resource, key)
            new = await self._changed(resource, old, make(old), options, subresource)
            if new == old or options.dry_run:
                return new
            if self._store.get(resource.plural, key) is old:
                break
        if is_deleting(new) and not is_held(new):
            return self._store.remove(resource.plural, key, new)
        return self._store.put(resource.plural, key, new)

    async def _changed(
        self, resource: Resource, old: Object, made: Object, options: WriteOptions, subresource: str
    ) -> Object:
        bodies.check_preconditions(resource, old, made)
        new = bodies.changed(resource, old, made, options, subresource)
        if not subresource:
            _default(resource, new)
        if options.manager:
            new = managed.updated(old, new, definition(resource.schema), options.manager, time=self.now())
        else:  # an apply, which has worked out the owners
            new["metadata"] = {**new["metadata"], "managedFields": made["metadata"]["managedFields"]}
        if resource.custom:
            options.warnings += warnings(resource, new)
        hooks = () if subresource else self._hooks_of(resource)
        new = await self._admit(resource, new, old, lambda each: check_update(resource, each, old, subresource), hooks)
        # A binding sets the node in the spec, which nobody has to react to
        counts = resource.plural in _GENERATIONS and subresource != "binding"
        if counts and bodies.desired(new) != bodies.desired(old):
            new["metadata"] = {**new["metadata"], "generation": old["metadata"].get("generation", 1) + 1}
        return new

    def _hooks_of(self, resource: Resource) -> Sequence[Hook]:
        return self._hooks.get(resource.plural, ())

    async def _admit(
        self,
        resource: Resource,
        new: Object,
        old: Object | None,
        check: Callable[[Object], list[Problem]],
        hooks: Sequence[Hook],
    ) -> Object:
        """Mutating hook, validation, validating hooks: the order of the API server."""
        for hook in hooks[:1]:
            new = await hook(self._kube, new, old)
            if resource.custom and old is None:
                new = with_zero_values(new, definition(resource.schema))
        if problems := check(new):
            raise resource.invalid(new["metadata"]["name"], problems)
        for hook in hooks[1:]:
            new = await hook(self._kube, new, old)
        return new

    def _forget_old_events(self) -> None:
        """Events live an hour, as in etcd under a lease."""
        now = self._clock.now()
        for key, event in list(self._store.items("events").items()):
            made = datetime.fromisoformat(event["metadata"]["creationTimestamp"])
            if (now - made).total_seconds() < EVENT_TTL:
                break
            self._store.remove("events", key, event)


def _default(resource: Resource, new: Object) -> None:
    if rule := defaults.DEFAULTS.get(resource.plural):
        rule(new)
