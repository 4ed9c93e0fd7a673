"""Objects as the tables that kubectl prints (kubernetes v1.37, pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.local.apiserver.podtable import pod_row
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.rows import (
    Row,
    counted,
    created_row,
    event_row,
    job_row,
    jobset_row,
    node_row,
    secret_row,
    service_row,
    simple,
)
from xlaunch.local.kube import Object, bad_request


@dataclass(frozen=True)
class Layout:
    """Columns of one resource. Those in `wide` are printed by -o wide only."""

    names: tuple[str, ...]
    row: Row
    wide: tuple[str, ...] = ()

    def definitions(self) -> list[Object]:
        """The table's columnDefinitions."""
        return [
            {
                "name": name,
                "type": "string",
                "format": "name" if name == "Name" else "",
                "description": "",
                "priority": int(name in self.wide),
            }
            for name in self.names
        ]


_DEFAULT = Layout(("Name", "Age"), simple())
LAYOUTS: Mapping[str, Layout] = {
    "pods": Layout(
        ("Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"),
        pod_row,
        ("IP", "Node", "Nominated Node", "Readiness Gates"),
    ),
    "jobs": Layout(
        ("Name", "Status", "Completions", "Duration", "Age", "Containers", "Images", "Selector"),
        job_row,
        ("Containers", "Images", "Selector"),
    ),
    "jobsets": Layout(("Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"), jobset_row),
    "nodes": Layout(
        ("Name", "Status", "Roles", "Age", "Version", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version",
         "Container-Runtime"),
        node_row,
        ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
    ),
    "services": Layout(
        ("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"), service_row, ("Selector",)
    ),
    "events": Layout(
        ("Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"),
        event_row,
        ("Subobject", "Source", "First Seen", "Count", "Name"),
    ),
    "namespaces": Layout(("Name", "Status", "Age"), simple("status.phase")),
    "configmaps": Layout(("Name", "Data", "Age"), counted("data", "binaryData")),
    "secrets": Layout(("Name", "Type", "Data", "Age"), secret_row),
    "serviceaccounts": Layout(("Name", "Secrets", "Age"), counted("secrets")),
    "leases": Layout(("Name", "Holder", "Age"), simple("spec.holderIdentity")),
    "priorityclasses": Layout(("Name", "Value", "Age"), simple("value")),
    "customresourcedefinitions": Layout(("Name", "Created At"), created_row),
}  # fmt: skip


def partial(each: Object) -> Object:
    """An object's metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": each["metadata"]}


def table(
    resource: Resource,
    objects: Iterable[Object],
    metadata: Mapping[str, Any],
    now: datetime,
    *,
    include: str = "Metadata",
    header: bool = True,
) -> Object:
    """A Table of some objects; `include` is the request's includeObject: Metadata, Object or None; 400 otherwise."""
    if include not in ("Metadata", "Object", "None"):
        raise bad_request(f'includeObject: Invalid value: "{include}": must be one of Metadata, Object, None')
    layout = LAYOUTS.get(resource.plural, _DEFAULT)
    rows = []
    for each in objects:
        row: Object = {"cells": layout.row(each, now)}
        if include != "None":
            row["object"] = partial(each) if include == "Metadata" else each
        rows.append(row)
    columns = layout.definitions() if header else []
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(metadata),
        "columnDefinitions": columns,
        "rows": rows,
    }
