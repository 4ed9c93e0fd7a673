"""Lists and watches as a request asks for them: selection, resourceVersion, paging, and the form of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from xlaunch.local.apiserver import events, reads
from xlaunch.local.apiserver.reads import Page
from xlaunch.local.apiserver.requests import Form, Target, number
from xlaunch.local.apiserver.resources import BY_NAME, NEW_EVENTS, Resource
from xlaunch.local.apiserver.selectors import Predicate
from xlaunch.local.apiserver.store import Store
from xlaunch.local.apiserver.tables import partial, table
from xlaunch.local.apiserver.watching import Render
from xlaunch.local.kube import Object, StatusError, bad_request

PATIENCE = 3.0  # seconds that a list waits for a revision of the future, as kube-apiserver


def stored(resource: Resource) -> Resource:
    """The resource under which the objects are stored: both kinds of events are one."""
    return BY_NAME[resource.plural]


def selection(target: Target, query: Mapping[str, str]) -> Predicate:
    """Which objects a list or watch is about."""
    fields = query.get("fieldSelector", "")
    if target.resource is NEW_EVENTS:
        fields = events.core_fields(fields)
    return reads.predicate(stored(target.resource), target.namespace, query.get("labelSelector", ""), fields)


async def page(store: Store, target: Target, query: Mapping[str, str]) -> Page:
    """The page of a list request. 400 for parameters that do not fit, 410 Expired, 504 for a future revision."""
    version, token = query.get("resourceVersion", ""), query.get("continue", "")
    exact = query.get("resourceVersionMatch") == "Exact"
    if version and not version.isdecimal():
        raise bad_request(f'resourceVersion: Invalid value: "{version}": strconv.ParseUint: invalid syntax')
    if token and version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    wanted = int(version or 0)
    if wanted > store.revision:
        await asyncio.sleep(PATIENCE)
    if wanted > store.revision:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        message = f"Too large resource version: {wanted}, current: {store.revision}"
        raise StatusError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
    return reads.page(
        store,
        stored(target.resource),
        selection(target, query),
        limit=max(number(query, "limit") or 0, 0),
        token=token,
        revision=wanted if exact and wanted else None,
        selected=bool(query.get("labelSelector") or query.get("fieldSelector")),
    )


def body(target: Target, found: Page, form: Form, query: Mapping[str, str], now: datetime) -> Object:
    """A list in the form that was asked for."""
    metadata: Object = {"resourceVersion": str(found.revision)}
    metadata |= {"continue": found.token} if found.token else {}
    metadata |= {"remainingItemCount": found.remaining} if found.remaining else {}
    resource = target.resource
    if form == "table":
        include = query.get("includeObject") or "Metadata"
        return table(resource, found.items, metadata, now, include=include)
    if form == "partial":
        items = [partial(each) for each in found.items]
        kind = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return {**kind, "metadata": metadata, "items": items}
    items = [_item(each, resource) for each in found.items]
    kind = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
    return {**kind, "metadata": metadata, "items": items}


def _item(each: Object, resource: Resource) -> Object:
    """An item of a list: of core kinds without its kind, as Kubernetes serialises them."""
    if resource is NEW_EVENTS:
        each = events.to_new(each)
    return each if resource.custom else {key: part for key, part in each.items() if key not in ("kind", "apiVersion")}


def renderer(target: Target, form: Form, query: Mapping[str, str], now: Callable[[], datetime]) -> Render:
    """How one object is shown; in a watch a table has its column definitions in the first event only."""
    include = query.get("includeObject") or "Metadata"

    def render(each: Object, first: bool) -> Object:
        if form == "table":
            metadata = {"resourceVersion": each["metadata"].get("resourceVersion", "")}
            rows = [each] if "name" in each["metadata"] else []  # a bookmark is no row
            return table(target.resource, rows, metadata, now(), include=include, header=first)
        if form == "partial":
            return partial(each)
        return events.to_new(each) if target.resource is NEW_EVENTS else each

    return render
