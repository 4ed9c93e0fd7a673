"""What a kubelet serves to the API server: the logs of its containers, over TLS, to nobody else.

Source: kubernetes 1.37, pkg/kubelet/server/server.go: `/containerLogs/{namespace}/{pod}/{container}` with the query of
PodLogOptions; a refusal is plain text, which the API server puts into a Status.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from xlaunch.local.apiserver import answers, podlogs
from xlaunch.local.kube import StatusError
from xlaunch.local.logs import LogSource


def make_app(logs: LogSource) -> web.Application:
    """The application for all nodes. Run it with `handler_cancellation=True`: a follower that goes ends its stream."""

    async def container_logs(request: web.Request) -> web.StreamResponse:
        named = request.match_info
        try:
            options = podlogs.options_of(request.query)
            chunks = logs.open(named["namespace"], named["pod"], named["container"], options)
            return await answers.stream(request, chunks, "text/plain")
        except StatusError as error:
            return web.Response(status=error.code, text=error.message)

    app = web.Application()
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", container_logs)
    return app


def server_tls(certificate: Path, client_authority: bytes) -> ssl.SSLContext:
    """Shows `certificate` and wants a client's that `client_authority` (PEM) has signed: logs are not for everybody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(cadata=client_authority.decode())
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@asynccontextmanager
async def serving(
    app: web.Application, addresses: Iterable[str], port: int, tls: ssl.SSLContext
) -> AsyncIterator[web.AppRunner]:
    """Listens on that port of every node's address; OSError where it is taken. Its end waits for nobody who follows."""
    runner = web.AppRunner(app, access_log=None, handle_signals=False, handler_cancellation=True, shutdown_timeout=0.0)
    await runner.setup()
    try:
        for address in addresses:
            await web.TCPSite(runner, address, port, ssl_context=tls).start()
        yield runner
    finally:
        await runner.cleanup()
