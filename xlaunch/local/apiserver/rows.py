"""Objects as rows of kubectl's tables (kubernetes v1.37, pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from xlaunch.core.conditions import condition, is_true
from xlaunch.core.timestamps import words
from xlaunch.local.apiserver.ages import since
from xlaunch.local.apiserver.selectors import field
from xlaunch.local.kube import Object
from xlaunch.local.objects import end_of, status_of

Row = Callable[[Object, datetime], list[Any]]


def _age(each: Object, now: datetime) -> str:
    return since(each["metadata"].get("creationTimestamp"), now)


def simple(*paths: str) -> Row:
    """Name, the values at some dotted paths, age."""
    return lambda each, now: [each["metadata"]["name"], *(field(each, path) for path in paths), _age(each, now)]


def counted(*keys: str) -> Row:
    """Name, how many entries some maps or lists have, age."""
    return lambda each, now: [
        each["metadata"]["name"],
        str(sum(len(each.get(key, ())) for key in keys)),
        _age(each, now),
    ]


def created_row(each: Object, _: datetime) -> list[Any]:
    """A custom resource definition: its name and when it was created."""
    return [each["metadata"]["name"], each["metadata"].get("creationTimestamp", "")]


def secret_row(secret: Object, now: datetime) -> list[Any]:
    """A Secret: its type and how many entries it has."""
    return [secret["metadata"]["name"], secret.get("type", ""), str(len(secret.get("data", ()))), _age(secret, now)]


def job_row(job: Object, now: datetime) -> list[Any]:
    """A Job: how far it is and how long it has run."""
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


def node_row(node: Object, now: datetime) -> list[Any]:
    """A Node: whether it is ready, and what it says of itself."""
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


def service_row(service: Object, now: datetime) -> list[Any]:
    """A Service: its ports, and no addresses, since it is headless."""
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


def event_row(event: Object, now: datetime) -> list[Any]:
    """An Event of either form: how often and when it was last seen."""
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


def jobset_row(jobset: Object, now: datetime) -> list[Any]:
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
