"""Requests whose answers are compared: hostile and ordinary objects, by what each changes in a plain one.

A variation is a mapping from dotted paths to values; a path that ends in a number replaces an item of a list, `+` adds
one, and `GONE` takes the field away.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

Object = dict[str, Any]
Variation = Mapping[str, Any]
GONE = object()

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Call:
    """One request. `path` is below the namespace: `jobs`, `pods/x/eviction`; `name` says what it is about."""

    name: str
    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON


CONTAINER = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "600"]}
POD_SPEC = {"containers": [CONTAINER]}
JOB_SPEC = {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}


def jobset(name: str = "plain") -> Object:
    """A suspended JobSet with a head and two slices, so that nothing of it runs."""
    head = {"name": "head", "template": {"spec": {"parallelism": 1, "completions": 1, **copy.deepcopy(JOB_SPEC)}}}
    worker = copy.deepcopy(head) | {"name": "worker", "replicas": 2}
    worker["template"]["spec"] |= {"parallelism": 2, "completions": 2}
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", name, {"suspend": True, "replicatedJobs": [head, worker]})


def job(name: str = "plain") -> Object:
    """A suspended Job."""
    return _object("batch/v1", "Job", name, {"suspend": True, **copy.deepcopy(JOB_SPEC)})


def pod(name: str = "plain") -> Object:
    """A pod that no node takes."""
    return _object("v1", "Pod", name, {"nodeSelector": {"nowhere": "at-all"}, **copy.deepcopy(POD_SPEC)})


def service(name: str = "plain") -> Object:
    """A headless Service."""
    return _object("v1", "Service", name, {"clusterIP": "None", "ports": [{"port": 80}]})


def config_map(name: str = "plain") -> Object:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value"}}


def _object(api_version: str, kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


PLAIN = {"jobsets": jobset, "jobs": job, "pods": pod, "services": service, "configmaps": config_map}


def varied(obj: Object, variation: Variation) -> Object:
    """A copy of the object with the variation."""
    made = copy.deepcopy(obj)
    for path, value in variation.items():
        *parents, last = path.split(".")
        place: Any = made
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(_key(part), {})
        _put(place, _key(last), value)
    return made


def _key(part: str) -> str:
    """A part of a path; `~` stands for the dot in a label's key."""
    return part.replace("~", ".")


def _put(place: Any, part: str, value: Any) -> None:
    if value is GONE:
        place.pop(part, None)
    elif not isinstance(place, list):
        place[part] = copy.deepcopy(value)
    elif part == "+":
        place.append(copy.deepcopy(value))
    else:
        place[int(part)] = copy.deepcopy(value)


def creations(plural: str, variations: Mapping[str, Variation]) -> list[Call]:
    """A server dry run of each variation, and of the plain object."""
    plain = PLAIN[plural]()
    every: dict[str, Variation] = {"plain": {}, **variations}
    return [
        Call(f"create {plural}: {name}", "POST", plural, varied(plain, variation), {"dryRun": "All"})
        for name, variation in every.items()
    ]


def mixtures(plural: str, variations: Mapping[str, Variation], seed: int, count: int) -> Iterator[Call]:
    """Several variations of one object at a time: the order of causes, and what hides what."""
    random = Random(f"{plural} {seed}")
    names = sorted(variations)
    for _ in range(count):
        chosen = random.sample(names, k=min(len(names), random.choice((2, 2, 3))))
        obj = PLAIN[plural]()
        try:
            for name in chosen:
                obj = varied(obj, variations[name])
        except (LookupError, TypeError, AttributeError, ValueError):
            continue  # the one took away what the other changes
        yield Call(f"create {plural}: {' + '.join(chosen)}", "POST", plural, obj, {"dryRun": "All"})
