"""What of an answer or an object is compared: everything but what differs between any two runs.

Left out: UIDs, times, resourceVersions, field owners, the five random characters of generated names, addresses, and
what docs/embedded-cluster.md says the embedded cluster does not have (the token volume of pods).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SUFFIX = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?![-\w])")
PORT = re.compile(r"(?<=127\.0\.0\.1):\d+")
VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink")
TOKEN_VOLUME = "kube-api-access"


def answer(status: int, body: Any, warnings: tuple[str, ...] = ()) -> Object:
    """An answer to a request, without what differs between any two runs."""
    found: Object = {"code": status, "warnings": sorted(text(each) for each in warnings)}
    if isinstance(body, Mapping) and body.get("kind") == "Status":
        details = body.get("details") or {}
        found["reason"], found["message"] = body.get("reason", ""), text(body.get("message", ""))
        found["details"] = scrubbed({key: value for key, value in details.items() if key != "causes"})
        causes = {json.dumps(scrubbed(each), sort_keys=True) for each in details.get("causes") or ()}
        found["causes"] = sorted(causes)
        if len(causes) > 1:  # in an order that Go's maps choose, and some of them twice
            found["message"] = found["message"].partition(": [")[0]
        return found
    return found | {"object": scrubbed(body)}


def text(value: str) -> str:
    """A sentence, without what is random in it."""
    value = NODE_COUNTS.sub("no node will do", value)
    value = OBJECT.sub("Invalid value: OBJECT:", RECORD.sub("(VERSION)", POD_DIFF.sub(r"\1", value)))
    value = TIME.sub("TIME", UID.sub("UID", value))
    return PORT.sub(":PORT", SUFFIX.sub("-XXXXX", value))


def scrubbed(value: Any) -> Any:
    """JSON-like data without what is random in it; empty values count as absent, as Go's omitempty has it."""
    if isinstance(value, Mapping):
        found = {key: scrubbed(each) for key, each in value.items() if key not in VOLATILE}
        return {key: each for key, each in found.items() if each not in (None, {}, [])}
    if isinstance(value, list):
        return [scrubbed(each) for each in value if not _is_token(each)]
    return text(value) if isinstance(value, str) else value


def _is_token(each: Any) -> bool:
    return isinstance(each, Mapping) and str(each.get("name", "")).startswith(TOKEN_VOLUME)


# Where the scheduler put a pod, and what its node made of it, is nobody's decision that could be right or wrong
PLACEMENT = ("nodeName", "hostIP", "hostIPs", "podIP", "podIPs", "containerID", "nominatedNodeName")
POOL = "cloud.google.com/gke-nodepool"
# What a node says of its pods comes from the same agent on both sides, and names processes and machines
NODE_COMPONENTS = ("kubelet", "default-scheduler")
# Their controllers do what nobody needs here: nothing forwards to pods
ELSEWHERE = ("endpoint-slice-controller", "endpoint-controller")
# What depends on who comes first, on a real cluster as well: whether a follower is tried before its leader has a node,
# a pod before a node is free, a Job again before JobSet's cache has heard of its end
RACES = ("follower pod node selector", "leader pod not yet scheduled", "FailedScheduling", "already exists")
# An object in a refusal is shown in the form that it has inside the API server
OBJECT = re.compile(r"Invalid value: [\[{].*[\]}]:", re.DOTALL)
RECORD = re.compile(r"\(\d+\)")
# What a refusal of a change to a pod adds: Go's comparison of both
POD_DIFF = re.compile(r"(if it was previously negative\)).*", re.DOTALL)
# It counts the nodes of all sequences that run at the same time
NODE_COUNTS = re.compile(r"^\d+/\d+ nodes are available: .*$", re.DOTALL)


def snapshot(found: Mapping[str, list[Object]]) -> Object:
    """The objects of a namespace, by resource, in an order that does not depend on random names."""
    return {plural: sorted((_object(each) for each in items), key=_order) for plural, items in found.items()}


def _order(obj: Object) -> str:
    return json.dumps(obj, sort_keys=True)


def _object(obj: Object) -> Object:
    kept: Object = _unplaced(scrubbed({key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}))
    if conditions := kept.get("status", {}).get("conditions"):
        kept["status"]["conditions"] = sorted(_settled(conditions), key=lambda each: str(each["type"]))
    return kept


def _settled(conditions: list[Object]) -> list[Object]:
    """The conditions without what stays as it was when the JobSet failed: whether JobSet saw the outage before it.

    It runs the failure policy first, which ends it (jobset v0.12.0, pkg/controllers/jobset_controller.go, reconcile).
    """
    if not any((each["type"], each["status"]) == ("Failed", "True") for each in conditions):
        return conditions
    return [
        {key: value for key, value in each.items() if key != "status"}
        if each["type"].startswith("StartupPolicy")
        else each
        for each in conditions
    ]


def _unplaced(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _unplaced(each) for key, each in value.items() if key not in PLACEMENT}
        if POOL in kept:
            kept[POOL] = "POOL"
        return kept
    return [_unplaced(each) for each in value] if isinstance(value, list) else value


def events(found: list[Object]) -> list[str]:
    """Events as sentences, each once: how often one is repeated depends on how fast the machine is."""
    said = {_sentence(each) for each in found if _component(each) not in ELSEWHERE}
    return sorted(each for each in said if not any(race in each for race in RACES))


def _component(event: Object) -> str:
    return str(event.get("reportingComponent") or (event.get("source") or {}).get("component", ""))


def _sentence(event: Object) -> str:
    about, component = event["involvedObject"], _component(event)
    said = "" if component in NODE_COMPONENTS else f": {text(event.get('message', ''))}"
    return f"{about['kind']} {text(about['name'])} {event['type']} {event['reason']} by {component}{said}"
