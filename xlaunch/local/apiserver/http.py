"""The embedded cluster's API over HTTP: translates requests into calls of EmbeddedKube, and nothing more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from hmac import compare_digest

from aiohttp import web

from xlaunch.local.apiserver import answers, deletion, discovery, events, lists, podlogs, requests, watching
from xlaunch.local.apiserver.answers import in_json
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.apiserver.requests import Target
from xlaunch.local.apiserver.resources import NEW_EVENTS, no_such_path
from xlaunch.local.kube import APPLY, Object, StatusError, not_implemented
from xlaunch.local.logs import LogSource

logger = logging.getLogger(__name__)
_BODY_LIMIT = 3 * 1024 * 1024  # bytes, as kube-apiserver's
_UNAUTHORIZED = StatusError(401, "Unauthorized", "Unauthorized")
_AGGREGATED = "as=APIGroupDiscoveryList"
_SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def make_app(kube: EmbeddedKube, *, secret: str, logs: LogSource) -> web.Application:
    """The application for one cluster: everything lies below /SECRET/, all else is answered 401.

    Run it with `handler_cancellation=True`, so that a watch ends when its client goes.
    """
    server = _Server(kube, logs)
    app = web.Application(client_max_size=_BODY_LIMIT)

    async def below_secret(request: web.Request) -> web.StreamResponse:
        if not compare_digest(request.match_info["secret"].encode(), secret.encode()):
            return answers.refused(_UNAUTHORIZED)
        return await server.answer(request, request.match_info["path"].strip("/").split("/"))

    async def elsewhere(_: web.Request) -> web.StreamResponse:
        return answers.refused(_UNAUTHORIZED)

    app.router.add_route("*", "/{secret}/{path:.*}", below_secret)
    app.router.add_route("*", "/{path:.*}", elsewhere)
    return app


class _Server:
    """Handlers of one cluster."""

    def __init__(self, kube: EmbeddedKube, logs: LogSource) -> None:
        self._kube = kube
        self._logs = logs

    async def answer(self, request: web.Request, parts: list[str]) -> web.StreamResponse:
        """The answer to a request for a path below the secret; a refusal is a Status."""
        try:
            if request.method == "GET" and (simple := self._about(request, parts)) is not None:
                return simple
            if parts[0] not in ("api", "apis") or len(parts) < 3:
                raise no_such_path()
            return await self._object(request, requests.parse_path(parts))
        except StatusError as error:
            return answers.refused(error)
        except web.HTTPRequestEntityTooLarge:
            message = f"Request entity too large: limit is {_BODY_LIMIT}"
            return answers.refused(StatusError(413, "RequestEntityTooLarge", message))
        except Exception as error:
            logger.exception("%s %s", request.method, "/".join(parts))
            message = f"Internal error occurred: {type(error).__name__}: {error}"
            return answers.refused(StatusError(500, "InternalError", message))

    def _about(self, request: web.Request, parts: list[str]) -> web.Response | None:
        """What the server says about itself; None for a path that is about objects."""
        aggregated = _AGGREGATED in request.headers.get("Accept", "")
        kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        match parts:
            case ["version"]:
                return in_json(discovery.VERSION)
            case ["readyz" | "healthz" | "livez", *_]:
                return web.Response(text="ok")
            case ["api" | "apis" as root] if aggregated:
                return in_json(discovery.aggregated(core=root == "api"), kind=kind)
            case ["api"]:
                return in_json(discovery.api_versions())
            case ["apis"]:
                return in_json(discovery.api_groups())
            case ["apis", group]:
                return in_json(discovery.api_group(group))
            case ["api", "v1"]:
                return in_json(discovery.resource_list("v1"))
            case ["apis", group, version]:
                return in_json(discovery.resource_list(f"{group}/{version}"))
            case ["openapi", "v2"]:
                # kubectl asks here for the kind List alone, and is content with a document that says nothing
                return web.Response(body=b"", content_type=discovery.OPENAPI_V2)
            case ["openapi", "v3"]:
                return in_json(discovery.openapi_index(), kind="text/plain; charset=utf-8")
            case ["openapi", "v3", "api", "v1"]:
                return in_json(discovery.openapi("v1"))
            case ["openapi", "v3", "apis", group, version]:
                return in_json(discovery.openapi(f"{group}/{version}"))
        return None

    async def _object(self, request: web.Request, target: Target) -> web.StreamResponse:
        verb = _verb(request.method, target, request.query)
        verbs = target.resource.subresources.get(target.subresource, target.resource.verbs)
        if verb not in verbs and target.subresource:
            raise _no_method()
        if verb not in verbs:
            raise not_implemented(f"{verb} on {target.resource.qualified}")
        handler: Callable[[web.Request, Target], Awaitable[web.StreamResponse]] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }[verb]
        return await handler(request, target)

    # ---- reads

    async def _get(self, request: web.Request, target: Target) -> web.StreamResponse:
        if target.subresource == "log":
            return await self._log(request, target)
        found = self._kube.writer.existing(lists.stored(target.resource), (target.namespace, target.name))
        return self._shown(request, target, found)

    def _shown(self, request: web.Request, target: Target, each: Object, status: int = 200,
               warnings: list[str] | None = None) -> web.Response:  # fmt: skip
        """One object in the form that the request accepts."""
        form = requests.accepted(request.headers.get("Accept", ""))
        render = lists.renderer(target, form, request.query, self._kube.clock.now)
        return in_json(render(each, True), status, warnings)

    async def _list(self, request: web.Request, target: Target) -> web.StreamResponse:
        form = requests.accepted(request.headers.get("Accept", ""))
        page = await lists.page(self._kube.store, target, request.query)
        return in_json(lists.body(target, page, form, request.query, self._kube.clock.now()))

    async def _watch(self, request: web.Request, target: Target) -> web.StreamResponse:
        form = requests.accepted(request.headers.get("Accept", ""))
        options = watching.options_of(request.query)
        render = lists.renderer(target, form, request.query, self._kube.clock.now)
        resource = lists.stored(target.resource)
        clock = asyncio.get_running_loop().time
        matches = lists.selection(target, request.query)
        lines = watching.lines(self._kube.store, resource, matches, options, render, clock)
        return await answers.stream(request, lines, "application/json")

    async def _log(self, request: web.Request, target: Target) -> web.StreamResponse:
        options = podlogs.options_of(request.query)
        pod = self._kube.writer.existing(target.resource, (target.namespace, target.name))
        container = podlogs.container_of(pod, request.query.get("container", ""))
        if not pod["spec"].get("nodeName"):
            return web.Response(status=204, content_type="text/plain")
        chunks = self._logs.open(target.namespace, target.name, container, options)
        return await answers.stream(request, chunks, "text/plain")

    # ---- writes

    async def _create(self, request: web.Request, target: Target) -> web.StreamResponse:
        body = await answers.body_of(request)
        options = requests.write_options(request.query, request.headers.get("User-Agent", ""), "CreateOptions")
        key = (target.namespace, target.name)
        if target.subresource in ("binding", "eviction"):
            requests.check_named(body, target)
        if target.subresource == "binding":
            await self._kube.bind(key, body, options)
            return in_json(_SUCCESS, 201)
        if target.subresource == "eviction":
            wanted = body.get("deleteOptions") if isinstance(body, dict) else None
            await self._kube.evict(key, requests.delete_options(request.query, wanted))
            return in_json(_SUCCESS, 201)
        if target.resource is NEW_EVENTS:
            body = events.checked(body, options)
        resource = lists.stored(target.resource)
        new = await self._kube.create_as(resource, body, target.namespace, options)
        return self._shown(request, target, new, 201, options.warnings)

    async def _update(self, request: web.Request, target: Target) -> web.StreamResponse:
        body = await answers.body_of(request)
        options = requests.write_options(request.query, request.headers.get("User-Agent", ""), "UpdateOptions")
        key = (target.namespace, target.name)
        new = await self._kube.writer.update(target.resource, key, body, options, target.subresource)
        return self._shown(request, target, new, 200, options.warnings)

    async def _patch(self, request: web.Request, target: Target) -> web.StreamResponse:
        kind = request.content_type
        agent = request.headers.get("User-Agent", "")
        options = requests.write_options(request.query, agent, "PatchOptions", apply=kind == APPLY)
        body, key = await answers.body_of(request), (target.namespace, target.name)
        new, created = await self._kube.writer.patch(target.resource, key, body, kind, options, target.subresource)
        return self._shown(request, target, new, 201 if created else 200, options.warnings)

    async def _delete(self, request: web.Request, target: Target) -> web.StreamResponse:
        options = requests.delete_options(request.query, await answers.body_of(request))
        resource = lists.stored(target.resource)
        found = self._kube.delete_as(resource, (target.namespace, target.name), options)
        return in_json(deletion.answer(resource, found), warnings=[found.warning] if found.warning else None)

    async def _delete_collection(self, request: web.Request, target: Target) -> web.StreamResponse:
        options = requests.delete_options(request.query, await answers.body_of(request))
        page = await lists.page(self._kube.store, target, request.query)
        for each in page.items:
            metadata = each["metadata"]
            self._kube.delete_as(
                lists.stored(target.resource), (metadata.get("namespace", ""), metadata["name"]), options
            )
        return in_json(lists.body(target, page, "json", request.query, self._kube.clock.now()))


def _no_method() -> StatusError:
    return StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def _verb(method: str, target: Target, query: Mapping[str, str]) -> str:
    """The API's verb for a request; 405 for a method that there is none for."""
    one = bool(target.name)
    if method == "GET" and not one:
        return "watch" if requests.flag(query, "watch") else "list"
    found = {
        ("GET", True): "get",
        ("POST", bool(target.subresource)): "create",
        ("PUT", True): "update",
        ("PATCH", True): "patch",
        ("DELETE", True): "delete",
        ("DELETE", False): "deletecollection",
    }.get((method, one))
    if not found:
        raise _no_method()
    return found
