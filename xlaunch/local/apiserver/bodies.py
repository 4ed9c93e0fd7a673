"""The body of a write: read by its kind's schema, checked against the request, and cut to what it may change."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from xlaunch.local.apiserver.decoding import decode
from xlaunch.local.apiserver.resources import MODIFIED, Resource
from xlaunch.local.apiserver.schema import with_rules
from xlaunch.local.kube import Object, StatusError, bad_request
from xlaunch.local.objects import without_empties
from xlaunch.local.problems import Problem, invalid

# The metadata that only the system writes, once an object has its name
SYSTEM = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
          "generation", "resourceVersion", "managedFields", "selfLink")  # fmt: skip
# JobSet's; its Go types read what a client sends
MUTATING_WEBHOOK = "mjobset.kb.io"
# The parts of an object that have an endpoint of their own
_PARTS = {"status": "status", "finalize": "spec"}


@dataclass
class WriteOptions:
    """How to write. `unknown_fields` is the API's fieldValidation: Ignore, Warn or Strict.

    `warnings` collects the texts of Warning headers.
    """

    manager: str = "xlaunch"
    dry_run: bool = False
    force: bool = False
    unknown_fields: str = "Ignore"
    warnings: list[str] = field(default_factory=list)


def check_object(body: Any) -> None:
    """400 for what is no object at all."""
    if not isinstance(body, dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")


def decoded(resource: Resource, body: Any, options: WriteOptions, *, fill: bool = True, update: bool = False) -> Object:
    """A fresh copy of a body by the kind's schema; 400 for a wrong type, 422 in an `update` of a custom resource.

    Without `fill` it has no defaults: what somebody applies is what they said.
    """
    check_object(body)
    found = decode(body, resource.schema, go=not (resource.custom and update), fill=fill)
    if found.problems and resource.custom and update:
        raise resource.invalid(str(metadata_of(body).get("name", "")), with_rules(found.problems))
    if found.problems:
        # A webhook gets an object's fields sorted by name, and its decoder tells the first that is wrong
        problems = sorted(found.problems, key=lambda each: each.field) if resource.custom else found.problems
        raise bad_request(_not_decoded(resource, problems[0]))
    if found.unknown and options.unknown_fields == "Strict":
        listed = ", ".join(f'unknown field "{path}"' for path in _in_order(resource, found.unknown))
        message = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: strict '
        raise bad_request(f"{message}decoding error: {listed}")
    if options.unknown_fields == "Warn":
        options.warnings += [f'unknown field "{path}"' for path in found.unknown]
    metadata = {key: part for key, part in found.value.get("metadata", {}).items() if part not in ({}, [])}
    return {**found.value, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def _in_order(resource: Resource, unknown: list[str]) -> list[str]:
    """Unknown fields as they are told: those of custom objects sorted, others as they come."""
    return sorted(unknown) if resource.custom else unknown


def _not_decoded(resource: Resource, problem: Problem) -> str:
    """Why a body was not read. A new custom object is read by its mutating webhook, all but its metadata."""
    if resource.custom and not problem.field.startswith("metadata."):
        return f'admission webhook "{MUTATING_WEBHOOK}" denied the request: {problem.message}'
    text = (
        problem.message.replace("field ObjectMeta.metadata.", "field ObjectMeta.")
        if resource.custom
        else problem.message
    )
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {text}'


def metadata_of(body: Any) -> Object:
    """The metadata of whatever a client sent; {} where it is none."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def check_target(resource: Resource, body: Any, namespace: str, name: str = "") -> None:
    """400 where a body says another kind, namespace or name than the request."""
    check_object(body)
    if resource.custom and "kind" not in body:
        message = f"(must be of type {resource.kind}): Object 'Kind' is missing in '{json.dumps(body)}'"
        raise bad_request(f"the object provided is unrecognized {message}")
    version = body.get("apiVersion", "" if resource.custom else resource.api_version)
    kind = body.get("kind", resource.kind)
    if version != resource.api_version:
        message = f"the API version in the data ({version}) does not match the expected API version "
        raise bad_request(f"{message}({resource.api_version})")
    if kind != resource.kind and not resource.custom:
        message = f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"'
        raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {message}')
    inside, inner = metadata_of(body).get("namespace"), metadata_of(body).get("name")
    if inside and inside != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent "
                          "on the request")  # fmt: skip
    if name and inner and inner != name:
        raise _other_name(inner, name)


def _other_name(inside: str, name: str) -> StatusError:
    message = f"the name of the object ({inside}) does not match the name on the URL ({name})"
    return bad_request(message)


def check_preconditions(resource: Resource, old: Object, new: Object) -> None:
    """409 where a new version names another resourceVersion or uid than the stored object has."""
    metadata, current = metadata_of(new), old["metadata"]
    name = current["name"]
    if metadata.get("name", name) != name:
        raise _other_name(metadata["name"], name)
    if metadata.get("uid", current["uid"]) != current["uid"]:
        if resource.custom:
            raise resource.invalid(name, [invalid("metadata.uid", metadata["uid"], "field is immutable")])
        why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {current['uid']}"
        raise resource.conflict(name, why)
    if metadata.get("resourceVersion") not in (None, "", current["resourceVersion"]):
        raise resource.conflict(name, MODIFIED)


def is_written(resource: Resource, part: str, subresource: str) -> bool:
    """Whether a request to a subresource may write a top-level part of an object."""
    if part in ("apiVersion", "kind", "metadata") or subresource == "binding":
        return True
    if subresource:
        return part == _PARTS[subresource]
    return part not in {_PARTS.get(each) for each in resource.subresources}


def changed(resource: Resource, old: Object, made: Object, options: WriteOptions, subresource: str) -> Object:
    """What becomes of an object: the parts that the request may write, decoded, and all others as they were."""
    check_object(made)
    parts = {part: value for part, value in made.items() if is_written(resource, part, subresource)}
    kept = {part: value for part, value in old.items() if not is_written(resource, part, subresource)}
    new = {**kept, **decoded(resource, parts, options, update=True)}
    metadata = metadata_of_update(new["metadata"], old["metadata"])
    if subresource == "finalize" or (subresource == "status" and resource.custom):
        metadata = old["metadata"]
    elif subresource == "status" and "ownerReferences" in old["metadata"]:
        metadata["ownerReferences"] = old["metadata"]["ownerReferences"]
    return {**new, "metadata": metadata}


def _only(source: Object, *parts: str) -> Object:
    return {part: source[part] for part in parts if part in source}


def _without(source: Object, *parts: str) -> Object:
    return {part: value for part, value in source.items() if part not in parts}


def metadata_of_update(new: Object, old: Object) -> Object:
    """Metadata of an update: what the system writes comes from the stored object."""
    return {**_without(new, *SYSTEM), **_only(old, *SYSTEM)}


def desired(each: Object) -> Object:
    """The part of an object whose change is a new generation; an empty list or map is as good as none."""
    found: Object = without_empties(_without(each, "metadata", "status"))
    return found
