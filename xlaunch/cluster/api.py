"""The protocol by which everything above talks to a Kubernetes API server: one raw request, one raw stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from xlaunch.core.errors import XlaunchError

JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

Query = Iterable[tuple[str, str]] | Mapping[str, str]


class ApiError(XlaunchError):
    """The API server answered with a Status: `status` is the HTTP code, `details` its details.

    `message` is the server's own sentence, `warnings` what it said besides. 4xx refusals are exit 4 (the API server
    refuses), the rest is exit 1.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        next: str = "",
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, reason=reason, next=next)
        self.status = status
        self.details = dict(details or {})
        self.retry_after = retry_after
        self.warnings = warnings
        self.code = 4 if status in (400, 403, 405, 409, 413, 415, 422) else 1


@dataclass(frozen=True)
class Reply:
    """An answer with a status below 400. `body` is parsed JSON, or bytes where it is none."""

    status: int
    body: Any
    warnings: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


class Stream(Protocol):
    """The body of an answer, read as it comes."""

    def read(self, size: int = 65536) -> bytes:
        """At least one byte, or b"" at the end of the stream. Raises NetworkError on a cut or a stall."""
        ...


class Api(Protocol):
    """One API server and the namespace that was asked for. Safe to use from several threads."""

    namespace: str

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
        """One request. Raises ApiError for an answer of 400 or more, NetworkError where there is no answer.

        An expired credential is refreshed and the request sent once more before a 401 is raised.
        """
        ...

    def stream(
        self, path: str, *, query: Query = (), accept: str = "*/*", idle_timeout: float = 300.0
    ) -> AbstractContextManager[Stream]:
        """A GET whose body is read as it comes; closed with the context. Raises as `request` does."""
        ...


def namespaced(api: Api, group_version: str, plural: str, *rest: str, namespace: str | None = None) -> str:
    """The path of a namespaced resource: `namespaced(api, "batch/v1", "jobs", "x")`; core is "v1"."""
    root = "/api/v1" if group_version == "v1" else f"/apis/{group_version}"
    return "/".join([root, "namespaces", namespace or api.namespace, plural, *rest])


JOBSET_GROUP_VERSION = "jobset.x-k8s.io/v1alpha2"
