"""The official client set up our way: where it sends requests, how it gets there, and what it says when it can't."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote

from xlaunch import __version__
from xlaunch.cluster.answers import gc_paused
from xlaunch.core.errors import XlaunchError

CONNECT_TIMEOUT = 8.0  # seconds for all addresses of a host together; with the lookup of its name that is 10


@dataclass(frozen=True)
class Login:
    """Where to send requests and with which credentials, as of now.

    `configuration` is the official client's; `expires` is when its credentials end, where that is known.
    """

    configuration: Any
    expires: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def new_configuration() -> Any:
    """The official client's settings with ours: no hidden retries, TCP keep-alive, room for a dozen streams."""
    with gc_paused():
        from kubernetes.client import Configuration

    configuration = Configuration()
    configuration.retries = False
    configuration.keep_alive = True
    configuration.connection_pool_maxsize = 32
    return configuration


def new_client(login: Login) -> Any:
    """The official client for a login. A proxy's user and password are read from its URL: urllib3 does not."""
    from kubernetes.client import ApiClient
    from urllib3.util import make_headers

    configuration = login.configuration
    _url("The API server's address", configuration.host, "http")
    if configuration.proxy:
        proxy = _url("The proxy", configuration.proxy, "http", "socks")
        if proxy.auth:
            configuration.proxy_headers = make_headers(proxy_basic_auth=unquote(proxy.auth))
        if (proxy.scheme or "").startswith("socks") and find_spec("socks") is None:
            raise XlaunchError(
                f"The proxy {proxy.scheme}://{proxy.netloc} can't be used",
                why="SOCKS needs the package PySocks",
                next="pip install PySocks",
            )
    client = ApiClient(configuration)
    client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = _tls(configuration)
    client.user_agent = f"xlaunch/{__version__}"
    _check_header("Authorization", configuration.api_key.get("BearerToken", ""))
    for name, value in login.headers.items():
        _check_header(name, value)
        client.set_default_header(name, value)  # type: ignore[no-untyped-call]
    return client


def _tls(configuration: Any) -> ssl.SSLContext:
    """How to verify a server: as kubectl does, which takes authorities that Python 3.13's strict mode refuses.

    Many clusters have one without key usage or key identifier (kubernetes-client/python#2394).
    """
    from urllib3.util.ssl_ import create_urllib3_context

    required = ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
    context = create_urllib3_context(cert_reqs=required)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    # urllib3 loads them only into contexts of its own; it takes 20 ms, and a cluster on this machine has no TLS
    if not configuration.ssl_ca_cert and configuration.host.lower().startswith("https"):
        context.load_default_certs()
    return context


def _url(what: str, text: str, *schemes: str) -> Any:
    """The parts of a URL; XlaunchError where it is none that leads to a host."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    shown = repr(text.rpartition("@")[2])  # without a password
    try:
        url = parse_url(text)
    except LocationParseError:
        raise XlaunchError(
            f"{what} is no URL", why=f"{shown} can't be read as one", next="kubectl config view"
        ) from None
    if not url.host or not (url.scheme or "").startswith(schemes):
        raise XlaunchError(f"{what} is no URL", why=f"{shown} has no scheme or no host", next="kubectl config view")
    return url


def _check_header(name: str, value: str) -> None:
    """XlaunchError for what HTTP can't carry; a token in a YAML block has a line break at its end."""
    if not value.isprintable() or not value.isascii():
        raise XlaunchError(
            f"The credentials can't be sent: the header {name} would hold a line break, or what is not ASCII",
            next="kubectl config view, and the file or plugin that the token comes from",
        )


def connect_timeout(configuration: Any) -> float:
    """Seconds for each address of the server or its proxy, since urllib3 gives every address the whole timeout."""
    from urllib3.util import parse_url

    host = parse_url(configuration.proxy or configuration.host).host or ""
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return CONNECT_TIMEOUT  # the request fails by itself, and says so
    return CONNECT_TIMEOUT / len(addresses)


def client_host(client: Any) -> str:
    """The server's URL as in the kubeconfig, without what may be secret in its path."""
    from urllib3.util import parse_url

    url = parse_url(client.configuration.host)
    return f"{url.scheme}://{url.netloc}"


def cause(error: BaseException) -> str:
    """What went wrong on the wire in a few words, without the connection objects that urllib3 puts before them."""
    from urllib3.exceptions import ProxyError

    if isinstance(error, ProxyError):
        return f"The proxy does not answer: {cause(error.original_error)}"
    text = str(error)
    if "Connection(" in text.partition(": ")[0] or "Pool(" in text.partition(": ")[0]:
        text = text.partition(": ")[2]
    return text or type(error).__name__
