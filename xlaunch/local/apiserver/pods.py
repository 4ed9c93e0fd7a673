"""What the API server refuses in a pod and its template.

The rules that a launcher's manifest can meet, with the texts of kubernetes v1.37,
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.core.quantity import amount
from xlaunch.local.apiserver.names import check_labels
from xlaunch.local.kube import Object
from xlaunch.local.names import dns_label
from xlaunch.local.problems import Problem, duplicate, forbidden, invalid, missing, required, unsupported

RESTART_POLICIES = ("Always", "Never", "OnFailure")
_CLOSED = {
    "restartPolicy": RESTART_POLICIES,
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "preemptionPolicy": ("Never", "PreemptLowerPriority"),
}
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_QUANTITY_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NO_KEY_TEXT = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def check_spec(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A pod's spec; `path` is "spec" or "spec.template.spec"."""
    for key, allowed in _CLOSED.items():
        if key in spec and spec[key] not in allowed:
            yield unsupported(f"{path}.{key}", spec[key], allowed)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        value = spec["terminationGracePeriodSeconds"]
        yield invalid(f"{path}.terminationGracePeriodSeconds", value, "must be greater than or equal to 0")
    if not 1 <= spec.get("activeDeadlineSeconds", 1) < 2**31:
        value = spec["activeDeadlineSeconds"]
        yield invalid(f"{path}.activeDeadlineSeconds", value, "must be between 1 and 2147483647, inclusive")
    yield from check_labels(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    volumes: set[str] = set()
    for index, volume in enumerate(spec.get("volumes", [])):
        yield from _check_key(volume, volumes, f"{path}.volumes[{index}]")
    for index, toleration in enumerate(spec.get("tolerations", [])):
        yield from _check_toleration(toleration, f"{path}.tolerations[{index}]")
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    yield from _check_containers(spec, volumes, path)


def _check_containers(spec: Mapping[str, Any], volumes: set[str], path: str) -> Iterator[Problem]:
    names: set[str] = set()
    host_network = spec.get("hostNetwork", False)
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key, [])):
            place = f"{path}.{key}[{index}]"
            yield from _check_key(container, names, place)
            yield from _check_container(container, volumes, place, host_network=host_network)


def _check_key(each: Mapping[str, Any], seen: set[str], path: str) -> Iterator[Problem]:
    """The name of a container or volume: a label, and no other's."""
    name = each.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif problems := dns_label(name):
        yield from (invalid(f"{path}.name", name, problem) for problem in problems)
    elif name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)


def _check_container(
    container: Mapping[str, Any], volumes: set[str], path: str, *, host_network: bool
) -> Iterator[Problem]:
    if not container.get("image"):
        yield required(f"{path}.image")
    if (policy := container.get("imagePullPolicy")) not in ("Always", "IfNotPresent", "Never", None):
        yield unsupported(f"{path}.imagePullPolicy", policy, ("Always", "IfNotPresent", "Never"))
    for index, variable in enumerate(container.get("env", [])):
        yield from _check_env(variable, f"{path}.env[{index}]")
    ports: set[str] = set()
    for index, port in enumerate(container.get("ports", [])):
        yield from _check_port(port, ports, f"{path}.ports[{index}]", host_network=host_network)
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", [])):
        place = f"{path}.volumeMounts[{index}]"
        if mount.get("name") not in volumes:
            yield missing(f"{place}.name", mount.get("name", ""))
        if not mount.get("mountPath"):
            yield required(f"{place}.mountPath")
        elif mount["mountPath"] in mounted:
            yield invalid(f"{place}.mountPath", mount["mountPath"], "must be unique")
        mounted.add(mount.get("mountPath", ""))
    yield from _check_resources(container.get("resources", {}), f"{path}.resources")


def _check_env(variable: Mapping[str, Any], path: str) -> Iterator[Problem]:
    name = variable.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif "=" in name or not (name.isascii() and name.isprintable()):
        yield invalid(f"{path}.name", name, _ENV_TEXT)
    source = variable.get("valueFrom")
    if source is not None and variable.get("value"):
        yield invalid(f"{path}.valueFrom", "", "may not be specified when `value` is not empty")
    elif source is not None and len(source) != 1:
        yield invalid(f"{path}.valueFrom", "", "must specify exactly one source")


def _check_port(port: Mapping[str, Any], names: set[str], path: str, *, host_network: bool) -> Iterator[Problem]:
    number = port.get("containerPort", 0)
    if not number:
        yield required(f"{path}.containerPort")
    elif not 1 <= number <= 65535:
        yield invalid(f"{path}.containerPort", number, "must be between 1 and 65535, inclusive")
    if host_network and port.get("hostPort", number) != number:
        yield invalid(f"{path}.hostPort", port["hostPort"], "must match `containerPort` when `hostNetwork` is true")
    if name := port.get("name"):
        if name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)


def _check_resources(resources: Mapping[str, Any], path: str) -> Iterator[Problem]:
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            number = amount(text)
            if number is None:
                yield invalid(f"{path}.{kind}[{name}]", text, _QUANTITY_TEXT)
            elif number < 0:
                yield invalid(f"{path}.{kind}[{name}]", text, "must be greater than or equal to 0")
            elif "/" in name and number != int(number):
                yield invalid(f"{path}.{kind}[{name}]", text, "must be an integer")
    for name, text in requests.items():
        wanted, most = amount(text), amount(limits.get(name, text))
        if "/" in name and name not in limits:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif wanted is not None and most is not None and ("/" in name and wanted != most):
            yield invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limits[name]}")
        elif wanted is not None and most is not None and wanted > most:
            yield invalid(f"{path}.requests", text, f"must be less than or equal to {name} limit of {limits[name]}")


def _check_toleration(toleration: Mapping[str, Any], path: str) -> Iterator[Problem]:
    operator = toleration.get("operator", "Equal")
    if operator not in ("Equal", "Exists", "Gt", "Lt"):
        yield unsupported(f"{path}.operator", operator, ("Equal", "Exists", "Gt", "Lt"))
    if operator == "Exists" and toleration.get("value"):
        yield invalid(f"{path}.operator", toleration, "value must be empty when `operator` is 'Exists'")
    if not toleration.get("key") and operator != "Exists":
        yield invalid(f"{path}.operator", operator, _NO_KEY_TEXT)
    if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
        effect = toleration.get("effect", "")
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")


def check(pod: Object) -> Iterator[Problem]:
    """A pod as it is created."""
    yield from check_spec(pod["spec"], "spec")


def check_update(new: Object, old: Object) -> Iterator[Problem]:
    """A pod's spec is fixed but for images, its deadline, further tolerations, and what scheduling gates hold back."""
    gated = bool(old["spec"].get("schedulingGates"))
    before, after = _untimed(old["spec"].get("tolerations", [])), _untimed(new["spec"].get("tolerations", []))
    if any(each not in after for each in before):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    if _fixed(new["spec"], gated=gated) != _fixed(old["spec"], gated=gated):
        yield forbidden("spec", _MUTABLE)


def _untimed(tolerations: list[Object]) -> list[Object]:
    return [{key: value for key, value in each.items() if key != "tolerationSeconds"} for each in tolerations]


def _fixed(spec: Mapping[str, Any], *, gated: bool) -> Object:
    changeable = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if gated:
        changeable |= {"nodeSelector", "affinity"}
    kept = {key: value for key, value in spec.items() if key not in changeable}
    for key in ("containers", "initContainers"):
        if key in kept:
            kept[key] = [{**each, "image": ""} for each in kept[key]]
    return kept
