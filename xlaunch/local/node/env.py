"""A container's environment by the kubelet's rules: `$(VAR)`, fieldRef, secretKeyRef, configMapKeyRef, envFrom."""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.local.kube import Object

# (resource, name) -> the object in the pod's namespace, or None
Read = Callable[[str, str], Awaitable[Object | None]]

REFERENCE = re.compile(r"\$(?:\$|\((?P<name>[^)]*)\))")
SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']*)'\]")
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


class ConfigError(Exception):
    """The container cannot be configured: the message of the kubelet's CreateContainerConfigError."""


@dataclass(frozen=True)
class Addresses:
    """Where a pod is: its own address and its node's."""

    pod: str
    host: str


def expand(text: str, known: Mapping[str, str]) -> str:
    """Replaces `$(NAME)` by its value and `$$` by `$`; an unknown reference and a lone `$` stay as they are.

    Kubernetes' third_party/forked/golang/expansion/expand.go.
    """

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return "$"
        return known.get(name, match[0])

    return REFERENCE.sub(value, text)


def field(pod: Mapping[str, Any], path: str, addresses: Addresses) -> str:
    """The value of a fieldRef (pkg/fieldpath; kubelet, `podFieldSelectorRuntimeValue`); ConfigError if none."""
    meta, spec = pod["metadata"], pod["spec"]
    if match := SUBSCRIPT.fullmatch(path):
        return str((meta.get(match[1]) or {}).get(match[2], ""))
    plain = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "metadata.labels": _format_map(meta.get("labels") or {}),
        "metadata.annotations": _format_map(meta.get("annotations") or {}),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": addresses.pod,
        "status.podIPs": addresses.pod,
        "status.hostIP": addresses.host,
        "status.hostIPs": addresses.host,
    }
    if path not in plain:
        raise ConfigError(f"unsupported fieldPath: {path}")
    return str(plain[path])


def _format_map(entries: Mapping[str, str]) -> str:
    return "\n".join(f'{key}="{value}"' for key, value in sorted(entries.items()))


async def environment(
    container: Mapping[str, Any], pod: Mapping[str, Any], addresses: Addresses, read: Read
) -> dict[str, str]:
    """The variables that the manifest gives a container, in order; a later one of a name wins.

    As the kubelet's `makeEnvironmentVariables` (pkg/kubelet/kubelet_pods.go). Raises ConfigError in its words.
    """
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        found.update(await _from_source(source, read))
    for entry in container.get("env") or ():
        value: str | None = entry.get("value") or ""
        if "valueFrom" in entry:
            value = await _from_reference(entry["valueFrom"], pod, addresses, read)
        else:
            value = expand(value or "", found)
        if value is not None:
            found[entry["name"]] = value
    return found


async def _from_source(source: Mapping[str, Any], read: Read) -> dict[str, str]:
    prefix = source.get("prefix") or ""
    for key, resource, kind in (("configMapRef", "configmaps", "configmap"), ("secretRef", "secrets", "secret")):
        if key in source:
            held = await _read(source[key], resource, kind, read)
            entries = _entries(held, resource) if held else {}
            return {prefix + name: value for name, value in entries.items() if ENV_NAME.fullmatch(prefix + name)}
    raise ConfigError(f"unsupported envFrom source: {', '.join(source)}")


async def _from_reference(
    reference: Mapping[str, Any], pod: Mapping[str, Any], addresses: Addresses, read: Read
) -> str | None:
    if "fieldRef" in reference:
        return field(pod, reference["fieldRef"]["fieldPath"], addresses)
    for key, resource, kind in (
        ("configMapKeyRef", "configmaps", "configmap"),
        ("secretKeyRef", "secrets", "secret"),
    ):
        if key in reference:
            return await _one_key(reference[key], pod, resource, kind, read)
    raise ConfigError(f"{', '.join(reference)} is not emulated by the embedded cluster")


async def _one_key(
    selector: Mapping[str, Any], pod: Mapping[str, Any], resource: str, kind: str, read: Read
) -> str | None:
    held = await _read(selector, resource, kind, read)
    entries = _entries(held, resource) if held else {}
    key = selector["key"]
    if key in entries:
        return entries[key]
    if selector.get("optional"):
        return None
    word = "Secret" if kind == "secret" else "ConfigMap"
    raise ConfigError(f"couldn't find key {key} in {word} {pod['metadata']['namespace']}/{selector['name']}")


async def _read(selector: Mapping[str, Any], resource: str, kind: str, read: Read) -> Object | None:
    held = await read(resource, selector["name"])
    if held is None and not selector.get("optional"):
        raise ConfigError(f'{kind} "{selector["name"]}" not found')
    return held


def _entries(held: Mapping[str, Any], resource: str) -> dict[str, str]:
    """Data as text; bytes that are no UTF-8 reach the process unchanged (surrogateescape, as os.environ has it)."""
    data = held.get("data") or {}
    if resource == "configmaps":
        return {key: str(value) for key, value in data.items()}
    return {key: base64.b64decode(value).decode("utf-8", "surrogateescape") for key, value in data.items()}
