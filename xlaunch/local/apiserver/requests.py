"""What a request asks for: the target in its path, its parameters, and the form of answer that it accepts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from xlaunch.local.apiserver import protobuf
from xlaunch.local.apiserver.bodies import WriteOptions, metadata_of
from xlaunch.local.apiserver.decoding import decode
from xlaunch.local.apiserver.deletion import DeleteOptions
from xlaunch.local.apiserver.resources import Resource, find, no_such_path
from xlaunch.local.kube import APPLY, JSON_PATCH, MERGE, STRATEGIC, StatusError, bad_request, not_implemented
from xlaunch.local.problems import Problem, invalid, refusal, required, unsupported

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_PROPAGATIONS = ("Foreground", "Background", "Orphan")
Form = Literal["json", "table", "partial"]
# Subresources that Kubernetes has and the embedded cluster has not
_ELSEWHERE = {
    "pods": ("attach", "ephemeralcontainers", "exec", "portforward", "proxy", "resize"),
    "nodes": ("proxy",),
    "services": ("proxy",),
    "serviceaccounts": ("token",),
}


@dataclass(frozen=True)
class Target:
    """A resource, or one object of it, or a subresource of that. `namespace` is "" for all or where there is none."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse_path(parts: list[str]) -> Target:
    """The target of a path below the secret, as its parts: ["api", "v1", "namespaces", "default", "pods", "x"]."""
    api_version, rest = ("v1", parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
    namespace = ""
    if (
        rest[0] == "namespaces"
        and len(rest) > 2
        and (api_version, rest[2]) not in (("v1", "status"), ("v1", "finalize"))
    ):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource, *more = [*rest, "", ""]
    resource = find(api_version, plural)
    if any(more) or (resource.namespaced and name and not namespace) or (namespace and not resource.namespaced):
        raise no_such_path()
    if subresource and subresource not in resource.subresources:
        if subresource in _ELSEWHERE.get(plural, ()):
            raise not_implemented(f"{plural}/{subresource}")
        raise no_such_path()
    return Target(resource, namespace, name, subresource)


def accepted(header: str) -> Form:
    """The first form of an Accept header that the server offers; 406 for none."""
    for each in (header or "*/*").split(","):
        media, *parameters = [part.strip() for part in each.split(";")]
        wanted = dict(part.split("=", 1) for part in parameters if "=" in part)
        if media not in ("application/json", "application/*", "*/*"):
            continue
        if "as" not in wanted:
            return "json"
        if wanted.get("g") == "meta.k8s.io" and wanted["as"] == "Table":
            return "table"
        if wanted.get("g") == "meta.k8s.io" and wanted["as"].startswith("PartialObjectMetadata"):
            return "partial"
    message = "only the following media types are accepted: application/json"
    raise StatusError(406, "NotAcceptable", message)


def flag(query: Mapping[str, str], name: str) -> bool:
    """A boolean parameter; the official Python client writes True, others true or 1."""
    return query.get(name, "").lower() in ("true", "1")


def number(query: Mapping[str, str], name: str) -> int | None:
    """An integer parameter; None where it is absent, 400 where it is none."""
    text = query.get(name, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error


def parse_body(data: bytes, content_type: str) -> Any:
    """A body in JSON, YAML (which the media type of server-side apply always means) or protobuf; 400, 415."""
    if content_type == protobuf.MEDIA_TYPE:
        return protobuf.decode(data)
    if content_type not in ("application/json", "application/yaml", MERGE, STRATEGIC, JSON_PATCH, APPLY, ""):
        message = "the body of the request was in an unknown format - accepted media types include: application/json"
        raise StatusError(415, "UnsupportedMediaType", message)
    try:
        return json.loads(data)
    except ValueError as error:
        if not content_type.endswith("yaml"):
            raise bad_request(f"the body is no JSON: {error}") from error
    import yaml

    try:
        return yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader either way
    except yaml.YAMLError as error:
        raise bad_request(f"error decoding YAML: {' '.join(str(error).split())}") from error


def _dry_run(values: Iterable[str], options: str) -> bool:
    found = [each for each in values if each]
    if any(each != "All" for each in found):
        raise _wrong_options(options, unsupported("dryRun", found, ("All",)))
    return bool(found)


def _wrong_options(options: str, problem: Problem) -> StatusError:
    """422 for a request's own options: CreateOptions, PatchOptions, DeleteOptions ..."""
    return refusal("meta.k8s.io", options, "", [problem])


def write_options(query: Mapping[str, str], user_agent: str, options: str, *, apply: bool = False) -> WriteOptions:
    """How to write, from a request's parameters; a manager without a name is called by its User-Agent.

    `options` is what Kubernetes calls them: CreateOptions, UpdateOptions or PatchOptions.
    """
    manager = query.get("fieldManager", "")
    if apply and not manager:
        raise _wrong_options(options, required("fieldManager", "is required for apply patch"))
    validation = query.get("fieldValidation") or "Warn"
    if validation not in _VALIDATIONS:
        raise _wrong_options(options, unsupported("fieldValidation", validation, _VALIDATIONS))
    return WriteOptions(
        manager=manager or user_agent.partition("/")[0] or "unknown",
        dry_run=_dry_run([query.get("dryRun", "")], options),
        force=flag(query, "force"),
        unknown_fields=validation,
    )


def check_named(body: Any, target: Target) -> None:
    """400 for the Binding or Eviction of another pod."""
    if (name := metadata_of(body).get("name")) and name != target.name:
        raise bad_request(f"name in URL does not match name in {target.subresource.capitalize()} object")


def delete_options(query: Mapping[str, str], body: Any) -> DeleteOptions:
    """How to delete, from DeleteOptions in the body or the same as parameters."""
    read = decode(body if isinstance(body, dict) else {}, "DeleteOptions")
    if read.problems:
        raise bad_request(read.problems[0].message)
    body = read.value
    wanted = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    policy = body.get("propagationPolicy") or query.get("propagationPolicy") or None
    orphan = body.get("orphanDependents")
    if policy not in (None, *_PROPAGATIONS):
        raise _wrong_options("DeleteOptions", unsupported("propagationPolicy", policy, (*_PROPAGATIONS, "nil")))
    if orphan is not None and policy is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        raise _wrong_options("DeleteOptions", invalid("propagationPolicy", policy, text))
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    return DeleteOptions(
        grace=number(query, "gracePeriodSeconds") if grace is None else grace,
        propagation=policy,
        uid=wanted.get("uid"),
        resource_version=wanted.get("resourceVersion"),
        dry_run=_dry_run([query.get("dryRun", ""), *(body.get("dryRun") or [])], "DeleteOptions"),
    )
