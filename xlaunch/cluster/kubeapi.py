"""`Api` over the official client: its TLS, proxies and connection pool, none of its models.

The models of kubernetes 37 cost half a second to import and seconds to fill at scale, so requests are raw.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from xlaunch.cluster.answers import parsed, refusal, warnings
from xlaunch.cluster.api import JSON, Query, Reply
from xlaunch.cluster.client import (
    Login,
    cause,
    client_host,
    connect_timeout,
    new_client,
    new_configuration,
)
from xlaunch.core.errors import NetworkError, XlaunchError

EXPIRY_MARGIN = timedelta(seconds=30)


class KubeApi:
    """One API server. `login` is called at once, again when its credentials expire, and once after a 401.

    `alternatives` gives the next step for somebody whose server cannot be reached, or raises what it knows better.
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
        self._connect_timeout: float
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
        if "json" in accept and response.status != 204 and isinstance(body, bytes):
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
            return client.call_api(*prepared, _request_timeout=(min(self._connect_timeout, timeout), timeout)).response

    def _renew(self, used: Any) -> Any:
        """A client with fresh credentials; several threads that saw the same 401 log in once."""
        with self._lock:
            if self._client is used:
                login = self._fresh_login()
                self._client = new_client(login)
                self._connect_timeout = connect_timeout(login.configuration)
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
