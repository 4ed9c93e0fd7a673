"""The protocol of `local/kube.py` over HTTPS. Whatever goes wrong on the way is a StatusError like a refusal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from xlaunch.local.kube import MERGE, Event, Object, StatusError
from xlaunch.local.remote.access import Access
from xlaunch.local.time import ScaledClock

# The API group and version of each resource that the node agent knows
GROUPS = {
    "configmaps": "api/v1",
    "events": "api/v1",
    "namespaces": "api/v1",
    "nodes": "api/v1",
    "pods": "api/v1",
    "secrets": "api/v1",
    "services": "api/v1",
    "jobs": "apis/batch/v1",
    "leases": "apis/coordination.k8s.io/v1",
    "jobsets": "apis/jobset.x-k8s.io/v1alpha2",
}
# Seconds: one request; one watch, after which another goes on; the longest silence of a watch, twice as long as the
# API server takes between two bookmarks (kubernetes 1.37, storage/cacher, bookmarkFrequency)
REQUEST_SECONDS = 30.0
WATCH_SECONDS = 300
SILENCE_SECONDS = 120.0
# Between two watches, so that a server that ends each one at once is not asked without pause
PAUSE = 0.5


class RemoteKube:
    """One API server. Subresources of its controllers (binding, finalize) are left to the control plane's own."""

    def __init__(self, session: aiohttp.ClientSession, access: Access, clock: ScaledClock) -> None:
        self._session = session
        self._access = access
        self._clock = clock

    async def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """One object; 404 NotFound."""
        return await self._call("GET", path(resource, namespace, name))

    async def list(self, resource: str, namespace: str | None = None, *, labels: str = "") -> tuple[list[Object], str]:
        """The objects that the label selector leaves, and the resourceVersion to watch from."""
        query = {"labelSelector": labels} if labels else {}
        found = await self._call("GET", path(resource, namespace), query=query)
        # Items of a list don't say what they are
        about = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
        return [{**about, **item} for item in found["items"] or ()], found["metadata"]["resourceVersion"]

    async def create(self, resource: str, body: Object, namespace: str | None = None) -> Object:
        """The object as stored, with defaults; 409 AlreadyExists, 422 Invalid."""
        return await self._call("POST", path(resource, namespace), body=body)

    async def patch(
        self,
        resource: str,
        name: str,
        body: Any,
        namespace: str | None = None,
        *,
        kind: str = MERGE,
        subresource: str = "",
    ) -> Object:
        """The object after the patch; `metadata.resourceVersion` or `uid` in the body is a precondition."""
        return await self._call("PATCH", path(resource, namespace, name, subresource), body=body, kind=kind)

    async def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace: int | None = None,
        propagation: str | None = None,
        uid: str | None = None,
    ) -> Object:
        """Deletes, or marks as being deleted; `uid` is a precondition (409 Conflict)."""
        options = {
            "gracePeriodSeconds": grace,
            "propagationPolicy": propagation,
            "preconditions": {"uid": uid} if uid else None,
        }
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            **{name: value for name, value in options.items() if value is not None},
        }
        return await self._call("DELETE", path(resource, namespace, name), body=body)

    async def watch(self, resource: str, *, since: str) -> AsyncIterator[Event]:
        """Events after `since` in all namespaces, across watches that end or are cut.

        It ends with an ERROR event when the server no longer knows where to go on (410), and with a StatusError when
        it cannot be reached or refuses: the caller lists anew.
        """
        while True:
            async for event in self._one_watch(resource, since):
                yield event
                if event.type == "ERROR":
                    return
                since = event.object["metadata"]["resourceVersion"]
            await self._clock.sleep(PAUSE)

    async def _one_watch(self, resource: str, since: str) -> AsyncIterator[Event]:
        """The events of one request, until it ends, is cut, or is silent for too long."""
        query = {
            "watch": "true",
            "resourceVersion": since,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        limits = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_SECONDS, sock_read=SILENCE_SECONDS)
        url, opened = f"{self._access.server}/{path(resource)}", False
        try:
            headers = self._access.headers()
            async with self._session.get(url, params=query, headers=headers, timeout=limits) as reply:
                if reply.status != 200:
                    raise refusal(reply.status, await reply.read())
                opened = True
                async for line in lines(reply.content):
                    event = json.loads(line)
                    yield Event(event["type"], event["object"])
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:  # ValueError: a line that is no JSON
            if not opened:
                raise unreachable(self._access.server, error) from error

    async def _call(
        self,
        method: str,
        where: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        kind: str = "application/json",
    ) -> Object:
        """The answer to one request; StatusError for a refusal, and 503 where no answer came."""
        try:
            async with self._session.request(
                method,
                f"{self._access.server}/{where}",
                params=query,
                data=None if body is None else json.dumps(body).encode(),
                headers={**self._access.headers(), "Content-Type": kind},
                timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
            ) as reply:
                text = await reply.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(self._access.server, error) from error
        if reply.status >= 400:
            raise refusal(reply.status, text)
        try:
            found: Object = json.loads(text)
        except ValueError:
            raise refusal(502, text) from None  # a proxy that calls its own page a success
        return found


def path(resource: str, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
    """Where the objects of a resource are, or one of them; without a slash at the beginning."""
    parts = [GROUPS[resource], *(("namespaces", namespace) if namespace else ()), resource, name, subresource]
    return "/".join(part for part in parts if part)


async def lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines, however long; what a cut leaves of one is dropped."""
    rest: list[bytes] = []
    async for data in content.iter_any():
        *whole, last = data.split(b"\n")
        for each in whole:
            yield b"".join([*rest, each])
            rest = []
        rest.append(last)


def refusal(code: int, text: bytes) -> StatusError:
    """What a server answered that did not do what was asked: a Status, or a proxy's own words."""
    try:
        body = json.loads(text)
        return StatusError(code, body.get("reason") or "Unknown", body.get("message") or "", body.get("details"))
    except (ValueError, AttributeError):
        return StatusError(code, "Unknown", text.decode("utf-8", "replace")[:200])


def unreachable(server: str, error: BaseException) -> StatusError:
    """No answer came: nobody listens, the connection broke, or it took too long."""
    return StatusError(503, "ServiceUnavailable", f"{server}: {error or type(error).__name__}")
