"""What the API server would refuse in a pod template: names, images, variables, amounts, ports, mounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xlaunch.core.names import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_env_name,
    is_label_value,
    is_qualified_name,
)
from xlaunch.core.quantity import is_quantity

Pod = Mapping[str, Any]
# Linux takes no single argument or variable of more (MAX_ARG_STRLEN, fs/exec.c), with its closing NUL
LONGEST_ARGUMENT = 128 * 1024 - 1
# All annotations of one object together (apimachinery TotalAnnotationSizeLimitB), without what JobSet and Kueue add
LARGEST_ANNOTATIONS = 252 * 1024


def problems(template: Mapping[str, Any], path: str, claimed: Iterable[str] = ()) -> Iterator[str]:
    """A sentence for each refusal, for a template whose fields have the right types.

    `claimed` are volumes that JobSet adds to the pod.
    """
    spec: Pod = template.get("spec") or {}
    yield from metadata_problems(template.get("metadata") or {}, f"{path}.metadata")
    path = f"{path}.spec"
    if spec.get("restartPolicy", "OnFailure") not in ("OnFailure", "Never"):
        yield f"{path}.restartPolicy is neither OnFailure nor Never, which is all that a Job takes"
    if not spec.get("containers"):
        yield f"{path}.containers is empty"
    yield from _name_problems(spec, path)
    yield from _selector_problems(spec, path)
    yield from _volume_problems(spec.get("volumes") or (), f"{path}.volumes")
    own = [volume.get("name") for volume in spec.get("volumes") or () if isinstance(volume, Mapping)]
    volumes = [*own, *claimed]
    names: set[str] = set()
    ports: set[tuple[Any, Any]] = set()
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            place = f"{path}.{key}[{index}]"
            name = container.get("name") or ""
            if name in names:
                yield f"{place}.name {name} is taken by another container"
            names.add(name)
            yield from _container_problems(container, place, volumes)
            for port in container.get("ports") or ():
                taken = (port.get("containerPort"), port.get("protocol", "TCP"))
                if spec.get("hostNetwork") and taken in ports:
                    yield f"{place}.ports has {taken[0]}, which another container of the same host network has"
                ports.add(taken)


def metadata_problems(metadata: Mapping[str, Any], path: str) -> Iterator[str]:
    """Labels and annotations."""
    for key, value in (metadata.get("labels") or {}).items():
        if not is_qualified_name(key):
            yield f"{path}.labels has {key!r}, which can't be the key of a label"
        if not is_label_value(value):
            yield f"{path}.labels[{key}] is {value!r}, which can't be the value of a label"
    for key in metadata.get("annotations") or {}:
        # Upper case is fine here, unlike in labels (apimachinery ValidateAnnotations)
        if not is_qualified_name(key.lower()):
            yield f"{path}.annotations has {key!r}, which can't be the key of an annotation"
    size = sum(len(f"{key}{value}".encode()) for key, value in (metadata.get("annotations") or {}).items())
    if size > LARGEST_ANNOTATIONS:
        yield f"{path}.annotations is larger than the 256 KiB that one object may have"


def _name_problems(spec: Pod, path: str) -> Iterator[str]:
    named = [(key, spec.get(key)) for key in ("serviceAccountName", "priorityClassName", "schedulerName")]
    named += [
        (f"imagePullSecrets[{i}].name", each.get("name")) for i, each in enumerate(spec.get("imagePullSecrets") or ())
    ]
    for key, name in named:
        checked = name.replace("/", ".") if name and key == "schedulerName" else name
        if checked is not None and not is_dns1123_subdomain(checked):
            yield f"{path}.{key} is {name!r}, which can't be a name"


def _selector_problems(spec: Pod, path: str) -> Iterator[str]:
    for key, value in (spec.get("nodeSelector") or {}).items():
        if not is_qualified_name(key) or not is_label_value(value):
            yield f"{path}.nodeSelector has {key}={value}, which can't be a label of a node"
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        place = f"{path}.tolerations[{index}]"
        if toleration.get("operator", "Equal") not in ("Exists", "Equal", "Lt", "Gt"):
            yield f"{place}.operator is {toleration['operator']!r}, not Exists or Equal"
        if toleration.get("operator") == "Exists" and toleration.get("value"):
            yield f"{place} has a value although its operator is Exists"
        if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
            yield f"{place}.tolerationSeconds goes with the effect NoExecute only"


def _volume_problems(volumes: Iterable[Any], path: str) -> Iterator[str]:
    """What the server would say only of one volume at a time, or (an amount) without a word of which it is."""
    names: list[Any] = []
    for index, volume in enumerate(volumes):
        if not isinstance(volume, Mapping):
            yield f"{path}[{index}] is not a mapping"
            continue
        if volume.get("name") in names:
            yield f"{path}[{index}].name {volume['name']} is taken by another volume"
        names.append(volume.get("name"))
        directory = volume.get("emptyDir")
        size = directory.get("sizeLimit") if isinstance(directory, Mapping) else None
        if size is not None and not is_quantity(str(size)):
            yield f"{path}[{index}].emptyDir.sizeLimit is {size!r}, which is no amount"


def _container_problems(container: Mapping[str, Any], path: str, volumes: list[Any]) -> Iterator[str]:
    if not is_dns1123_label(container.get("name") or ""):
        yield f"{path}.name is {container.get('name')!r}, which can't be the name of a container"
    image = container.get("image") or ""
    if not image or image != image.strip():
        yield f"{path}.image is {image!r}"
    for key in ("command", "args"):
        for index, word in enumerate(container.get(key) or ()):
            if "\0" in word:
                yield f"{path}.{key}[{index}] contains a NUL character"
            if len(word.encode(errors="replace")) > LONGEST_ARGUMENT:
                yield f"{path}.{key}[{index}] is longer than the 128 KiB that Linux takes as one argument"
    yield from _env_problems(container.get("env") or (), f"{path}.env")
    for kind in ("limits", "requests"):
        for resource, amount in ((container.get("resources") or {}).get(kind) or {}).items():
            if not is_qualified_name(resource) or (str(amount) != "0" and not is_quantity(str(amount))):
                yield f"{path}.resources.{kind} has {resource}={amount}, which is no amount of a resource"
    for index, port in enumerate(container.get("ports") or ()):
        if not 1 <= (port.get("containerPort") or 0) <= 65535:
            yield f"{path}.ports[{index}].containerPort is not between 1 and 65535"
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        if mount.get("name") not in volumes:
            yield f"{path}.volumeMounts[{index}] names the volume {mount.get('name')!r}, which the pod does not have"


def _env_problems(env: Any, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, entry in enumerate(env):
        name, value = entry.get("name") or "", entry.get("value") or ""
        if not is_env_name(name):
            yield f"{path}[{index}].name is {name!r}, which can't be the name of an environment variable"
        if name in seen:
            yield f"{path} has {name} twice"
        seen.add(name)
        if value and entry.get("valueFrom"):
            yield f"{path}[{index}] has both value and valueFrom"
        if len(f"{name}={value}".encode(errors="replace")) > LONGEST_ARGUMENT:
            yield f"{path}[{index}] ({name}) is longer than the 128 KiB that Linux takes as one variable"
