"""Which resources the embedded API server has, and what is known of those that it has not: data, no behaviour."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any

from xlaunch.local.kube import StatusError, not_implemented
from xlaunch.local.problems import Problem, refusal

JOBSET = "jobset.x-k8s.io"
ALL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ = ("get", "list", "watch")


@dataclass(frozen=True)
class Resource:
    """One resource of one API group version.

    `fields` are the field selectors beyond metadata.name and metadata.namespace, as dotted paths; an attribute that
    is absent counts as "". `subresources` maps each to its verbs. `returns_object`: a deletion answers with the object
    instead of a Status (registry strategies of Kubernetes 1.37, `ReturnDeletedObject`).
    """

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    short: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL
    fields: tuple[str, ...] = ()
    subresources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    returns_object: bool = False
    definition: str = ""

    @cached_property
    def api_version(self) -> str:
        """As in an object's `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def qualified(self) -> str:
        """As in messages: `pods`, `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """The name that kubectl takes for one."""
        return self.kind.lower()

    @property
    def custom(self) -> bool:
        """A custom resource: no strategic merge patch, a schema that refuses instead of a decoder."""
        return self.group == JOBSET

    @property
    def schema(self) -> str:
        """Name of its definition in schema.json."""
        return self.definition or self.kind

    def details(self, name: str = "") -> dict[str, str]:
        """The `details` of a Status about one object."""
        found = {"name": name, "group": self.group, "kind": self.plural}
        return {key: value for key, value in found.items() if value}

    def not_found(self, name: str) -> StatusError:
        """404 for a name."""
        return StatusError(404, "NotFound", f'{self.qualified} "{name}" not found', self.details(name))

    def invalid(self, name: str, problems: Iterable[Problem]) -> StatusError:
        """422 for an object with these problems."""
        return refusal(self.group, self.kind, name, problems)

    def conflict(self, name: str, why: str, subresource: str = "") -> StatusError:
        """409 for a write that came too late or names another object."""
        part = f"/{subresource}" if subresource else ""
        message = f'Operation cannot be fulfilled on {self.qualified}{part} "{name}": {why}'
        return StatusError(409, "Conflict", message, {**self.details(name), "kind": f"{self.plural}{part}"})

    def lost(self, name: str, why: str) -> StatusError:
        """409 for a precondition of a deletion that does not hold; the kind is named as in an object."""
        qualified = f"{self.kind}.{self.group}" if self.group else self.kind
        message = f'Operation cannot be fulfilled on {qualified} "{name}": {why}'
        return StatusError(409, "Conflict", message, {**self.details(name), "kind": self.kind})


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
STATUS = {"status": ("get", "patch", "update")}
EVENT_FIELDS = ("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
                "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                "reportingComponent", "source", "type")  # fmt: skip
POD_FIELDS = ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
              "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName")  # fmt: skip

RESOURCES = (
    Resource("configmaps", "ConfigMap", short=("cm",)),
    Resource("events", "Event", short=("ev",), fields=EVENT_FIELDS),
    Resource("limitranges", "LimitRange", short=("limits",), verbs=READ),
    Resource("namespaces", "Namespace", short=("ns",), namespaced=False, fields=("status.phase",), returns_object=True,
             subresources={**STATUS, "finalize": ("update",)}),
    Resource("nodes", "Node", short=("no",), namespaced=False, fields=("spec.unschedulable",), subresources=STATUS),
    Resource("pods", "Pod", short=("po",), fields=POD_FIELDS, categories=("all",), returns_object=True,
             subresources={**STATUS, "binding": ("create",), "eviction": ("create",), "log": ("get",)}),
    Resource("resourcequotas", "ResourceQuota", short=("quota",), verbs=READ),
    Resource("secrets", "Secret", fields=("type",)),
    Resource("serviceaccounts", "ServiceAccount", short=("sa",), returns_object=True),
    Resource("services", "Service", short=("svc",), categories=("all",), returns_object=True, subresources=STATUS,
             fields=("spec.clusterIP", "spec.type")),
    Resource("jobs", "Job", "batch", categories=("all",), subresources=STATUS, fields=("status.successful",)),
    Resource("leases", "Lease", "coordination.k8s.io"),
    Resource("priorityclasses", "PriorityClass", "scheduling.k8s.io", short=("pc",), namespaced=False),
    Resource("jobsets", "JobSet", JOBSET, "v1alpha2", subresources=STATUS),
    Resource("customresourcedefinitions", "CustomResourceDefinition", "apiextensions.k8s.io", short=("crd", "crds"),
             namespaced=False, verbs=READ),
)  # fmt: skip
# The same objects as core v1's events, in other words: events.py translates
NEW_EVENTS = Resource(
    "events",
    "Event",
    "events.k8s.io",
    short=("ev",),
    verbs=("create", "delete", "deletecollection", "get", "list", "watch"),
    definition="events.v1.Event",
    fields=("reason", "regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "type",
            "reportingController"),
)  # fmt: skip
SERVED = (*RESOURCES, NEW_EVENTS)
BY_NAME = {each.plural: each for each in RESOURCES}
BY_PATH = {(each.api_version, each.plural): each for each in SERVED}
BY_KIND = {(each.api_version, each.kind): each for each in SERVED}
GROUP_VERSIONS = tuple(dict.fromkeys(each.api_version for each in SERVED))

_DOCUMENT: dict[str, Any] = json.loads((files(__package__) / "schema.json").read_text(encoding="utf-8"))
DEFINITIONS: dict[str, Any] = _DOCUMENT["definitions"]
KNOWN: dict[str, list[str]] = _DOCUMENT["known"]


def no_such_path() -> StatusError:
    """404 for a path that nobody knows."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def find(api_version: str, plural: str) -> Resource:
    """The resource of a request path; 501 for one that only a real cluster has, 404 for one that nobody knows."""
    if found := BY_PATH.get((api_version, plural)):
        return found
    if plural in KNOWN.get(api_version, ()):
        raise not_implemented(f"{plural}.{api_version}" if "/" in api_version else plural)
    raise no_such_path()
