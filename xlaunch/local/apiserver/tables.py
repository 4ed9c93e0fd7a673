"""Objects as the tables that kubectl prints (kubernetes v1.37, pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from xlaunch.core.timestamps import words
from xlaunch.core.workload import condition, is_true
from xlaunch.local.apiserver.ages import since
from xlaunch.local.apiserver.podtable import pod_row
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.selectors import field
from xlaunch.local.kube import Object, bad_request
from xlaunch.local.objects import end_of, status_of

Row = Callable[[Object, datetime], list[Any]]


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


def _age(each: Object, now: datetime) -> str:
    return since(each["metadata"].get("creationTimestamp"), now)


def _simple(*paths: str) -> Row:
    """Name, the values at some dotted paths, age."""
    return lambda each, now: [each["metadata"]["name"], *(field(each, path) for path in paths), _age(each, now)]


def _counted(*keys: str) -> Row:
    """Name, how many entries some maps or lists have, age."""
    return lambda each, now: [
        each["metadata"]["name"],
        str(sum(len(each.get(key, ())) for key in keys)),
        _age(each, now),
    ]


def _created(each: Object, _: datetime) -> list[Any]:
    return [each["metadata"]["name"], each["metadata"].get("creationTimestamp", "")]


def _secret(secret: Object, now: datetime) -> list[Any]:
    return [secret["metadata"]["name"], secret.get("type", ""), str(len(secret.get("data", ()))), _age(secret, now)]


def _job(job: Object, now: datetime) -> list[Any]:
    spec, status = job["spec"], job.get("status", {})
    done, wanted = status.get("succeeded", 0), spec.get("completions")
    parallel = spec.get("parallelism", 1)
    completions = (
        f"{done}/{wanted}" if wanted is not None else f"{done}/1" + (f" of {parallel}" if parallel > 1 else "")
    )
    started, ended = status.get("startTime"), status.get("completionTime")
    duration = ""
    if started:
        end = datetime.fromisoformat(ended) if ended else now
        duration = words((end - datetime.fromisoformat(started)).total_seconds())
    containers = spec["template"]["spec"]["containers"]
    return [
        job["metadata"]["name"],
        _job_status(job),
        completions,
        duration,
        _age(job, now),
        ",".join(each["name"] for each in containers),
        ",".join(each.get("image", "") for each in containers),
        _pairs(spec.get("selector", {}).get("matchLabels", {})),
    ]


def _job_status(job: Object) -> str:
    if end := end_of(job):
        return str(end["type"])
    if "deletionTimestamp" in job["metadata"]:
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(status_of(job), kind):
            return kind
    return "Running"


def _pairs(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>"


def _node(node: Object, now: datetime) -> list[Any]:
    ready = condition(status_of(node), "Ready")
    status = "Ready" if ready.get("status") == "True" else "NotReady" if ready else "Unknown"
    if node.get("spec", {}).get("unschedulable"):
        status += ",SchedulingDisabled"
    prefix = "node-role.kubernetes.io/"
    roles = sorted(key.removeprefix(prefix) for key in node["metadata"].get("labels", {}) if key.startswith(prefix))
    addresses = {each["type"]: each["address"] for each in node.get("status", {}).get("addresses", [])}
    info = node.get("status", {}).get("nodeInfo", {})
    return [
        node["metadata"]["name"],
        status,
        ",".join(roles) or "<none>",
        _age(node, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _service(service: Object, now: datetime) -> list[Any]:
    spec = service["spec"]
    ports = [f"{each['port']}/{each.get('protocol', 'TCP')}" for each in spec.get("ports", [])]
    return [
        service["metadata"]["name"],
        spec["type"],
        next(iter(spec.get("clusterIPs", [])), "<none>"),
        "<none>",
        ",".join(ports) or "<none>",
        _age(service, now),
        _pairs(spec.get("selector", {})),
    ]


def _event(event: Object, now: datetime) -> list[Any]:
    about, series = event.get("involvedObject", {}), event.get("series", {})
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = series.get("lastObservedTime") or event.get("lastTimestamp")
    target = "/".join(filter(None, [about.get("kind", "").lower(), about.get("name", "")]))
    source = event.get("source", {}).get("component") or event.get("reportingComponent", "")
    host = event.get("source", {}).get("host")
    return [
        since(last, now) if last else first,
        event.get("type", ""),
        event.get("reason", ""),
        target,
        about.get("fieldPath", ""),
        f"{source}, {host}" if host else source,
        event.get("message", "").strip(),
        first,
        str(series.get("count") or event.get("count") or 1),
        event["metadata"]["name"],
    ]


def _jobset(jobset: Object, now: datetime) -> list[Any]:
    """The printer columns of JobSet's CRD (v0.12.0): cells of absent values are null."""
    spec, status = jobset.get("spec", {}), jobset.get("status", {})
    restarts, suspended = status.get("restarts"), spec.get("suspend")
    return [
        jobset["metadata"]["name"],
        status.get("terminalState"),
        None if restarts is None else str(restarts),
        condition(status, "Completed").get("status"),
        None if suspended is None else str(suspended).lower(),
        _age(jobset, now),
    ]


_DEFAULT = Layout(("Name", "Age"), _simple())
LAYOUTS: Mapping[str, Layout] = {
    "pods": Layout(
        ("Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"),
        pod_row,
        ("IP", "Node", "Nominated Node", "Readiness Gates"),
    ),
    "jobs": Layout(
        ("Name", "Status", "Completions", "Duration", "Age", "Containers", "Images", "Selector"),
        _job,
        ("Containers", "Images", "Selector"),
    ),
    "jobsets": Layout(("Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"), _jobset),
    "nodes": Layout(
        ("Name", "Status", "Roles", "Age", "Version", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version",
         "Container-Runtime"),
        _node,
        ("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
    ),
    "services": Layout(
        ("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"), _service, ("Selector",)
    ),
    "events": Layout(
        ("Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"),
        _event,
        ("Subobject", "Source", "First Seen", "Count", "Name"),
    ),
    "namespaces": Layout(("Name", "Status", "Age"), _simple("status.phase")),
    "configmaps": Layout(("Name", "Data", "Age"), _counted("data", "binaryData")),
    "secrets": Layout(("Name", "Type", "Data", "Age"), _secret),
    "serviceaccounts": Layout(("Name", "Secrets", "Age"), _counted("secrets")),
    "leases": Layout(("Name", "Holder", "Age"), _simple("spec.holderIdentity")),
    "priorityclasses": Layout(("Name", "Value", "Age"), _simple("value")),
    "customresourcedefinitions": Layout(("Name", "Created At"), _created),
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
