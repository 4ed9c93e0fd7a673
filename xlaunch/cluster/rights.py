"""What the user may do, by the API server's own word."""

from __future__ import annotations

from xlaunch.cluster.api import Api, ApiError
from xlaunch.core.errors import NetworkError

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def may_create(api: Api, namespace: str, group: str, resource: str) -> bool:
    """Whether the user may create that resource ("jobs" of the group "batch"); yes where the server can't tell."""
    attributes = {"namespace": namespace, "verb": "create", "group": group, "resource": resource}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    try:
        answer = api.request("POST", REVIEWS, body=review).body
    except (ApiError, NetworkError):
        return True
    return (answer.get("status") or {}).get("allowed") is not False
