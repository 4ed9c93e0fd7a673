"""`Api` over the official client: its TLS, proxies and connection pool, none of its models.

The models of kubernetes 37 cost half a second to import and seconds to fill at scale, so requests are raw.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote

from xlaunch import __version__
from xlaunch.cluster.answers import gc_paused, parsed, refusal, warnings
from xlaunch.cluster.api import JSON, Query, Reply
from xlaunch.core.errors import NetworkError, XlaunchError

CONNECT_TIMEOUT = 4.0  # seconds for each address; a host with two is given up within 10
EXPIRY_MARGIN = timedelta(seconds=30)


@dataclass(frozen=True)
class Login:
    """Where to send requests and with which credentials, as of now.

    `configuration` is the official client's; `expires` is when its credentials end, where that is known.
    """

    configuration: Any
    expires: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class KubeApi:
    """One API server. `login` is called at once, again when its credentials expire, and once after a 401.

    `alternatives` gives the next step for somebody whose server cannot be reached.
    """

    def __init__(
        self,
        login: Callable[[], Login],
        *,
        namespace: str = "default",
        alternatives: Callable[[], str] = lambda: "",
    ) -> None:
        self.namespace = namespace
        self._login = login
        self._alternatives = alternatives
        self._lock = threading.Lock()
        self._client: Any = None
        self._expires: datetime | None = None
        self._renew(None)

    @classmethod
    def from_url(cls, url: str, *, namespace: str = "default") -> KubeApi:
        """A server that asks for no credentials: its URL says it all."""

        def login() -> Login:
            configuration = new_configuration()
            configuration.host = url.rstrip("/")
            return Login(configuration)

        return cls(login, namespace=namespace)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Any = None,
        content_type: str = JSON,
        accept: str = JSON,
        timeout: float = 30.0,
    ) -> Reply:
        """One request; see `Api.request`. An answer that is no JSON though it was asked for is a NetworkError."""
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
        response = self._send(method, path, query, headers, body, timeout)
        with self._reading():
            data = response.data
        body = parsed(data, response.headers)
        if isinstance(body, bytes) and body and "json" in accept:
            raise NetworkError(
                f"{client_host(self._client)} is no Kubernetes API server",
                why=f"It answered {response.headers.get('Content-Type', 'something')} where JSON was asked for",
                next=self._hint(),
                reason="NotKubernetes",
            )
        return Reply(response.status, body, warnings(response.headers), response.headers)

    @contextmanager
    def stream(
        self, path: str, *, query: Query = (), accept: str = "*/*", idle_timeout: float = 300.0
    ) -> Iterator[_Body]:
        """A GET whose body is read as it comes; see `Api.stream`."""
        response = self._send("GET", path, query, {"Accept": accept}, None, idle_timeout)
        try:
            yield _Body(self, response)
        finally:
            response.close()

    def _send(self, method: str, path: str, query: Query, headers: Mapping[str, str], body: Any, timeout: float) -> Any:
        """The open response of a status below 300; logs in again where the credentials are at their end."""
        client = self._client
        if self._expires and self._expires - EXPIRY_MARGIN <= datetime.now(UTC):
            client = self._renew(client)
        response = self._call(client, method, path, query, headers, body, timeout)
        if response.status == 401:
            response.drain_conn()
            response = self._call(self._renew(client), method, path, query, headers, body, timeout)
        if response.status >= 300:
            with self._reading():
                data = response.data
            raise refusal(response.status, data, response.headers)
        return response

    def _call(
        self,
        client: Any,
        method: str,
        path: str,
        query: Query,
        headers: Mapping[str, str],
        body: Any,
        timeout: float,
    ) -> Any:
        pairs = list(query.items() if isinstance(query, Mapping) else query)
        prepared = client.param_serialize(
            method, path, query_params=pairs, header_params=dict(headers), body=body, auth_settings=["BearerToken"]
        )
        with self._reading():
            return client.call_api(*prepared, _request_timeout=(min(CONNECT_TIMEOUT, timeout), timeout)).response

    def _renew(self, used: Any) -> Any:
        """A client with fresh credentials; several threads that saw the same 401 log in once."""
        with self._lock:
            if self._client is used:
                login = self._fresh_login()
                self._client = new_client(login.configuration)
                self._client.user_agent = f"xlaunch/{__version__}"
                for name, value in login.headers.items():
                    self._client.set_default_header(name, value)
                self._expires = login.expires
            return self._client

    def _fresh_login(self) -> Login:
        """The first login's failure ends the command; a later one passes perhaps, when the network comes back."""
        try:
            return self._login()
        except XlaunchError as error:
            if self._client is None:
                raise
            raise NetworkError(
                "Cannot renew the credentials",
                why=f"{error.message}: {error.why}",
                next=error.next,
                reason=error.reason,
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Whatever goes wrong between here and the server becomes a NetworkError of one sentence."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        try:
            yield
        except HTTPError as error:
            raise self._unreachable(error) from error
        except ApiException as error:
            # The client wraps TLS failures only, as "SSLError\n<text>" with status 0 (kubernetes 37, rest.py)
            raise self._unreachable(error, str(error.reason).partition("\n")[2]) from error

    def _unreachable(self, error: Exception, text: str = "") -> NetworkError:
        message = f"Cannot reach the API server at {client_host(self._client)}"
        return NetworkError(message, why=text or cause(error), next=self._hint())

    def _hint(self) -> str:
        return self._alternatives() or "Check the address and the network"


class _Body:
    """The body of a streamed answer; see `Stream`."""

    def __init__(self, api: KubeApi, response: Any) -> None:
        self._api = api
        self._response = response

    def read(self, size: int = 65536) -> bytes:
        """At least one byte, or b"" at the end; NetworkError on a cut (StreamCut) or a stall (StreamStalled)."""
        from urllib3.exceptions import HTTPError, ReadTimeoutError

        try:
            # No Accept-Encoding is sent, so there is nothing to decode
            return self._response.read1(size, decode_content=False) or b""
        except ReadTimeoutError as error:
            raise NetworkError("The stream stalled", why=cause(error), reason="StreamStalled") from error
        except (HTTPError, OSError) as error:
            raise NetworkError("The stream was cut", why=cause(error), reason="StreamCut") from error


def new_client(configuration: Any) -> Any:
    """The official client. A proxy's user and password are taken from its URL, which urllib3 does not do by itself."""
    from kubernetes.client import ApiClient
    from urllib3.util import make_headers, parse_url

    if configuration.proxy:
        proxy = parse_url(configuration.proxy)
        if proxy.auth:
            configuration.proxy_headers = make_headers(proxy_basic_auth=unquote(proxy.auth))
        if (proxy.scheme or "").startswith("socks") and find_spec("socks") is None:
            raise XlaunchError(
                f"The proxy {proxy.scheme}://{proxy.netloc} can't be used",
                why="SOCKS needs the package PySocks",
                next="pip install PySocks",
            )
    return ApiClient(configuration)


def client_host(client: Any) -> str:
    """The server's URL as in the kubeconfig, without what may be secret in its path."""
    from urllib3.util import parse_url

    url = parse_url(client.configuration.host)
    return f"{url.scheme}://{url.netloc}"


def new_configuration() -> Any:
    """The official client's settings with ours: no hidden retries, TCP keep-alive, room for a dozen streams."""
    with gc_paused():
        from kubernetes.client import Configuration

    configuration = Configuration()
    configuration.retries = False
    configuration.keep_alive = True
    configuration.connection_pool_maxsize = 32
    return configuration


def cause(error: BaseException) -> str:
    """What went wrong on the wire in a few words, without the connection objects that urllib3 puts before them."""
    from urllib3.exceptions import ProxyError

    if isinstance(error, ProxyError):
        return f"The proxy does not answer: {cause(error.original_error)}"
    text = str(error)
    if "Connection(" in text.partition(": ")[0] or "Pool(" in text.partition(": ")[0]:
        text = text.partition(": ")[2]
    return text or type(error).__name__
