"""What the API server refuses in the containers of a pod or a template.

Texts and order: kubernetes v1.37, pkg/apis/core/validation/validation.go, `validateContainers` and what it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlaunch.core.quantity import amount
from xlaunch.local.kube import Object
from xlaunch.local.names import config_key, dns_label, label_key, port_name, subdomain
from xlaunch.local.problems import Problem, duplicate, forbidden, invalid, missing, required, unsupported

NOT_NEGATIVE = "must be greater than or equal to 0"
PORT_RANGE = "must be between 1 and 65535, inclusive"
PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_FIELDS = ("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
           "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")  # fmt: skip
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")


def check_containers(spec: Mapping[str, Any], volumes: set[str], path: str) -> Iterator[Problem]:
    """The main containers, then the init containers, which may not take a main one's name."""
    mains, inits = spec.get("containers", []), spec.get("initContainers", [])
    if not mains:
        yield required(f"{path}.containers")
    names: set[str] = set()
    for index, container in enumerate(mains):
        place = f"{path}.containers[{index}]"
        yield from _check_container(container, volumes, place)
        yield from _check_unique(container, names, place)
        yield from _check_probes(container, place)
        yield from _check_restart_policy(container, place)
    yield from _check_host_ports(mains, f"{path}.containers")
    for index, container in enumerate(inits):
        place = f"{path}.initContainers[{index}]"
        yield from _check_container(container, volumes, place)
        yield from _check_restart_policy(container, place)
        yield from _check_unique(container, names, place)
        yield from _check_host_ports([container], f"{path}.initContainers")
        if container.get("restartPolicy") == "Always":
            yield from _check_probes(container, place)
        else:
            text = "may not be set for init containers without restartPolicy=Always"
            yield from (forbidden(f"{place}.{key}", text) for key in ("lifecycle", *_PROBES) if key in container)


def check_images(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """What is refused in the images of a pod, but not of a template."""
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key, [])):
            image = container.get("image", "")
            if image != image.strip():
                yield invalid(f"spec.{key}[{index}].image", image, "must not have leading or trailing whitespace")


def check_host_network(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """On the host's network a port is the host's."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers", [])):
        for place, port in enumerate(container.get("ports", [])):
            if port.get("hostPort", port.get("containerPort")) != port.get("containerPort"):
                text = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{path}.containers[{index}].ports[{place}].hostPort", port["hostPort"], text)


def _check_unique(container: Mapping[str, Any], names: set[str], path: str) -> Iterator[Problem]:
    name = container.get("name", "")
    if name in names:
        yield duplicate(f"{path}.name", name)
    names.add(name)


def _check_restart_policy(container: Mapping[str, Any], path: str) -> Iterator[Problem]:
    policy = container.get("restartPolicy")
    if policy not in (None, "Always", "Never", "OnFailure"):
        yield unsupported(f"{path}.restartPolicy", policy, ("Always", "Never", "OnFailure"))


def _check_container(container: Mapping[str, Any], volumes: set[str], path: str) -> Iterator[Problem]:
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from (invalid(f"{path}.name", name, problem) for problem in dns_label(name))
    if not container.get("image"):
        yield required(f"{path}.image")
    if (policy := container.get("terminationMessagePolicy", "File")) not in _MESSAGE_POLICIES:
        yield unsupported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES)
    yield from _check_ports(container.get("ports", []), f"{path}.ports")
    for index, variable in enumerate(container.get("env", [])):
        yield from _check_env(variable, f"{path}.env[{index}]")
    yield from _check_mounts(container.get("volumeMounts", []), volumes, f"{path}.volumeMounts")
    if (policy := container.get("imagePullPolicy", "Always")) not in _PULL_POLICIES:
        yield unsupported(f"{path}.imagePullPolicy", policy, _PULL_POLICIES)
    yield from _check_resources(container.get("resources", {}), f"{path}.resources")


def _check_ports(ports: Sequence[Object], path: str) -> Iterator[Problem]:
    names: set[str] = set()
    for index, port in enumerate(ports):
        place, name, number = f"{path}[{index}]", port.get("name", ""), port.get("containerPort", 0)
        wrong = port_name(name) if name else []
        yield from (invalid(f"{place}.name", name, problem) for problem in wrong)
        if name and not wrong and name in names:
            yield duplicate(f"{place}.name", name)
        names.add(name)
        if not number:
            yield required(f"{place}.containerPort")
        elif not 1 <= number <= 65535:
            yield invalid(f"{place}.containerPort", number, PORT_RANGE)
        if not 0 <= port.get("hostPort", 0) <= 65535:
            yield invalid(f"{place}.hostPort", port["hostPort"], PORT_RANGE)
        if (protocol := port.get("protocol", "TCP")) not in PROTOCOLS:
            yield unsupported(f"{place}.protocol", protocol, PROTOCOLS)


def _check_host_ports(containers: Sequence[Object], path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for place, port in enumerate(container.get("ports", [])):
            if not port.get("hostPort"):
                continue
            address = f"{port.get('protocol', 'TCP')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if address in seen:
                yield duplicate(f"{path}[{index}].ports[{place}].hostPort", address)
            seen.add(address)


def _check_env(variable: Mapping[str, Any], path: str) -> Iterator[Problem]:
    name, source = variable.get("name", ""), variable.get("valueFrom")
    if not name:
        yield required(f"{path}.name")
    elif "=" in name or not (name.isascii() and name.isprintable()):
        yield invalid(f"{path}.name", name, _ENV_TEXT)
    if source is None:
        return
    if field := source.get("fieldRef"):
        yield from _check_field(field, f"{path}.valueFrom.fieldRef")
    for key in ("configMapKeyRef", "secretKeyRef"):
        if key in source:
            yield from _check_key(source[key], f"{path}.valueFrom.{key}")
    if not source:
        yield invalid(f"{path}.valueFrom", "", f"must specify one of: {_SOURCES}")
    elif variable.get("value"):
        yield invalid(f"{path}.valueFrom", "", "may not be specified when `value` is not empty")
    elif len(source) > 1:
        yield invalid(f"{path}.valueFrom", "", "may not have more than one field specified at a time")


def _check_field(field: Mapping[str, Any], path: str) -> Iterator[Problem]:
    name = field.get("fieldPath", "")
    base, bracket, rest = name.partition("['")
    if not name:
        yield required(f"{path}.fieldPath")
    elif bracket and base in ("metadata.labels", "metadata.annotations"):
        yield from (invalid(path, rest[:-2], problem) for problem in label_key(rest[:-2].lower()))
    elif not name.startswith(("metadata.", "spec.nodeName", "spec.serviceAccountName", "status.")):
        yield invalid(f"{path}.fieldPath", name, f"error converting fieldPath: field label not supported: {name}")
    elif name not in _FIELDS:
        yield unsupported(f"{path}.fieldPath", name, _FIELDS)


def _check_key(reference: Mapping[str, Any], path: str) -> Iterator[Problem]:
    name, key = reference.get("name", ""), reference.get("key", "")
    yield from (invalid(f"{path}.name", name, problem) for problem in subdomain(name))
    if not key:
        yield required(f"{path}.key")
    else:
        yield from (invalid(f"{path}.key", key, problem) for problem in config_key(key))


def _check_mounts(mounts: Sequence[Object], volumes: set[str], path: str) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, mount in enumerate(mounts):
        place, name, where = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{place}.name")
        if name not in volumes:
            yield missing(f"{place}.name", name)
        if not where:
            yield required(f"{place}.mountPath")
        if where in taken:
            yield invalid(f"{place}.mountPath", where, "must be unique")
        taken.add(where)


def _check_resources(resources: Mapping[str, Any], path: str) -> Iterator[Problem]:
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            yield from _check_amount(name, text, f"{path}.{kind}[{name}]")
    for name, text in requests.items():
        wanted, most = amount(text), amount(limits.get(name, text))
        if "/" in name and name not in limits:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif wanted is not None and most is not None and ("/" in name and wanted != most):
            yield invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limits[name]}")
        elif wanted is not None and most is not None and wanted > most:
            yield invalid(f"{path}.requests", text, f"must be less than or equal to {name} limit of {limits[name]}")


def _check_amount(name: str, text: str, path: str) -> Iterator[Problem]:
    if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
        yield invalid(path, name, "must be a standard resource type or fully qualified")
        yield invalid(path, name, "must be a standard resource for containers")
    number = amount(text)
    if number is not None and number < 0:
        yield invalid(path, text, NOT_NEGATIVE)
    elif number is not None and "/" in name and number != int(number):
        yield invalid(path, text, "must be an integer")


def _check_probes(container: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None and not any(handler in probe for handler in _HANDLERS):
            yield required(f"{path}.{name}", "must specify a handler type")
