"""The Kubernetes API as the parts of the embedded cluster know it: an async protocol, its events and its refusals.

The embedded API server implements it in the same process. Objects are plain dicts as on the wire, with `apiVersion` and
`kind` also in lists, and never shared: the caller may change what it gets.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Object = dict[str, Any]

# The releases whose behaviour is reproduced; the suffix says that it is not the real thing
KUBERNETES_VERSION = "v1.37.2+xlaunch"
JOBSET_VERSION = "v0.12.0+xlaunch"

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


class StatusError(Exception):
    """A refusal as Kubernetes words it: HTTP `code`, `reason` (NotFound, Conflict, Invalid ...) and `message`.

    `details` is the Status object's field of that name, with `causes` where there are any.
    """

    def __init__(self, code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = dict(details or {})

    def body(self) -> Object:
        """The Status object to answer with."""
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        return {**status, "details": self.details} if self.details else status


def bad_request(message: str) -> StatusError:
    """400 for a request that cannot be understood or does not fit the object."""
    return StatusError(400, "BadRequest", message)


def not_implemented(what: str) -> StatusError:
    """501 for what Kubernetes has and the embedded cluster has not."""
    message = f"the embedded cluster does not have {what}; a real cluster has it"
    return StatusError(501, "NotImplemented", message)


@dataclass(frozen=True)
class Event:
    """One event of a watch."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: Object


class Kube(Protocol):
    """One cluster. `resource` is a plural name: pods, jobs, jobsets, nodes, services, events, leases ...

    `namespace` is None for what has no namespace, and in lists for all namespaces. Every call may raise
    StatusError.
    """

    async def get(self, resource: str, name: str, namespace: str | None = None) -> Object:
        """One object; 404 NotFound."""
        ...

    async def list(self, resource: str, namespace: str | None = None, *, labels: str = "") -> tuple[list[Object], str]:
        """The objects that the label selector leaves, and the resourceVersion to watch from."""
        ...

    async def create(self, resource: str, body: Object, namespace: str | None = None) -> Object:
        """The object as stored, with defaults; 409 AlreadyExists, 422 Invalid."""
        ...

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
        """The object after the patch; `metadata.resourceVersion` in the body is a precondition.

        `subresource` is "", "status", "finalize" (a namespace's spec) or, for pods, "binding" with the body of a
        Binding: {"target": {"name": node}}.
        """
        ...

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
        ...

    def watch(self, resource: str, *, since: str) -> AsyncIterator[Event]:
        """Events after `since` in all namespaces; ends only with an ERROR event or the cluster."""
        ...


Hook = Callable[[Kube, Object, Object | None], Awaitable[Object]]
"""An admission webhook: takes the new object and, on an update, the old one, which it must not change.

Returns the object to store, or raises StatusError.
"""
Hooks = Mapping[str, Sequence[Hook]]
"""By resource. The first of a sequence may change the object; validation follows, and the others only refuse."""


async def find(kube: Kube, resource: str, name: str, namespace: str | None = None) -> Object | None:
    """One object; None where there is none of that name."""
    try:
        return await kube.get(resource, name, namespace)
    except StatusError as error:
        if error.code == 404:
            return None
        raise
