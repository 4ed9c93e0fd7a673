"""Answers over HTTP: a Status, JSON with warnings, a stream; and the body of a request."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from xlaunch.local.apiserver.requests import parse_body
from xlaunch.local.kube import StatusError

logger = logging.getLogger(__name__)


def refused(error: StatusError) -> web.Response:
    """A refusal as a Status."""
    headers = {"Retry-After": "1"} if error.code in (429, 504) else None
    return web.json_response(error.body(), status=error.code, headers=headers)


def in_json(
    body: Any, status: int = 200, warnings: list[str] | None = None, kind: str = "application/json"
) -> web.Response:
    """A body in JSON; each warning becomes a header, quoted and without control characters."""
    response = web.Response(body=json.dumps(body, separators=(",", ":")).encode(), status=status)
    response.headers["Content-Type"] = kind
    for text in warnings or ():
        response.headers.add("Warning", f"299 - {json.dumps(text)}")
    return response


async def body_of(request: web.Request) -> Any:
    """The parsed body; None where there is none."""
    data = await request.read()
    kind = request.content_type if "Content-Type" in request.headers else ""
    return parse_body(data, kind) if data else None


async def stream(request: web.Request, chunks: AsyncIterator[bytes], kind: str) -> web.StreamResponse:
    """Sends chunks as they come.

    A refusal before the first one is an answer of its own; a client that goes is no error.
    """
    first = await anext(chunks, b"")
    response = web.StreamResponse(headers={"Content-Type": kind, "Cache-Control": "no-cache, private"})
    try:
        await response.prepare(request)
        if first:
            await response.write(first)
        async for chunk in chunks:
            if chunk:
                await response.write(chunk)
            elif request.transport is None or request.transport.is_closing():
                break
        await response.write_eof()
    except ConnectionResetError:
        logger.debug("%s: the client has gone", request.path)
    except Exception:
        logger.exception("%s: the stream broke", request.path)
        if request.transport is not None:
            request.transport.abort()  # a cut, which a client must not take for the end
    return response
