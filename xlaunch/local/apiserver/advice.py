"""Warnings about what is allowed and likely a mistake: kubernetes v1.37, pkg/api/{pod,job}/warnings.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.kube import Object
from xlaunch.local.names import dns_label
from xlaunch.local.objects import containers_of, finalizers_of

_SURPRISING = "which can result in surprising behavior; a DNS label is recommended"
_USES = {"pods": "the Pod's hostname", "jobs": "Pod names and hostnames"}


def warnings(resource: Resource, new: Object) -> Iterator[str]:
    """The texts of the warnings about a new object."""
    if resource.custom:
        yield from _finalizers(new)
    if use := _USES.get(resource.plural):
        yield from _name(new["metadata"]["name"], use)
        spec, path = new["spec"], "spec"
        if resource.plural == "jobs":
            spec, path = spec["template"]["spec"], "spec.template.spec"
        yield from _variables(spec, path)


def _finalizers(new: Object) -> Iterator[str]:
    for each in finalizers_of(new):
        if "/" not in each:
            text = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
            yield f'metadata.finalizers: "{each}": {text}'


def _name(name: str, use: str) -> Iterator[str]:
    if problems := dns_label(name):
        yield f"metadata.name: this is used in {use}, {_SURPRISING}: [{' '.join(problems)}]"


def _variables(spec: Mapping[str, Any], path: str) -> Iterator[str]:
    inits = len(spec.get("initContainers", []))
    for place, container in enumerate(containers_of(spec)):
        where = f"initContainers[{place}]" if place < inits else f"containers[{place - inits}]"
        seen: set[str] = set()
        for index, variable in enumerate(container.get("env", [])):
            name = variable.get("name", "")
            if name in seen:
                text = f'hides previous definition of "{name}", which may be dropped when using apply'
                yield f"{path}.{where}.env[{index}]: {text}"
            seen.add(name)
