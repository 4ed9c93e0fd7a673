"""One of the two clusters that are compared, by its raw API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worlds import until

from differential.corpus import Call
from differential.normalise import answer
from testbed.control_plane import has_service_account
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, Api, ApiError
from xlaunch.cluster.connect import TargetOptions, connect

GROUPS = {"jobsets": JOBSET_GROUP_VERSION, "jobs": "batch/v1"}
PATIENCE = 60.0


@dataclass(frozen=True)
class Cluster:
    """A namespace of one cluster. `scale`: wall seconds per second of its controllers."""

    name: str
    api: Api
    namespace: str
    scale: float = 1.0

    def path(self, below: str) -> str:
        """The path of something in the namespace: "jobs/x"."""
        group = GROUPS.get(below.partition("/")[0], "v1")
        root = "/api/v1" if group == "v1" else f"/apis/{group}"
        return f"{root}/namespaces/{self.namespace}/{below}"

    def ask(self, call: Call) -> dict[str, Any]:
        """The normalised answer to a request."""
        try:
            reply = self.api.request(
                call.method, self.path(call.path), query=call.query, body=call.body, content_type=call.content_type
            )
        except ApiError as error:
            body = {"kind": "Status", "reason": error.reason, "message": error.message, "details": error.details}
            return answer(error.status, body)
        return answer(reply.status, reply.body, reply.warnings)

    def remove(self) -> None:
        """Deletes the namespace and returns when nothing of it is left: an orphan would keep others off its node."""
        path = f"/api/v1/namespaces/{self.namespace}"
        self.api.request("DELETE", path)
        until(lambda: not self._is_there(path), f"{self.name} to remove {self.namespace}", PATIENCE)

    def _is_there(self, path: str) -> bool:
        try:
            self.api.request("GET", path)
        except ApiError as error:
            return error.status != 404
        return True

    def items(self, plural: str) -> list[dict[str, Any]]:
        """All objects of a resource in the namespace."""
        found: list[dict[str, Any]] = self.api.request("GET", self.path(plural)).body["items"]
        return found


def cluster(name: str, kubeconfig: Path, namespace: str, scale: float = 1.0) -> Cluster:
    """A cluster with a new namespace in which pods can be made."""
    api = connect(TargetOptions(kubeconfig=str(kubeconfig), namespace=namespace), {}).api
    api.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    found = Cluster(name, api, namespace, scale)
    until(lambda: has_service_account(api, namespace), f"{name} to make a service account", PATIENCE)
    return found
