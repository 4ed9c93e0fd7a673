"""What the API server refuses in an object, by resource: on creation and on update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xlaunch.local.apiserver import jobs, metadata, pods, services
from xlaunch.local.apiserver.names import check_name
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.schema import check as check_schema
from xlaunch.local.apiserver.schema import definition, immutable_changes, with_rules
from xlaunch.local.kube import Object
from xlaunch.local.names import config_key
from xlaunch.local.problems import Problem, forbidden, invalid

_EXCLUSIVE = "StartupPolicy and DependsOn APIs are mutually exclusive"


def check_create(resource: Resource, new: Object) -> list[Problem]:
    """Everything that is wrong with a new object."""
    named = check_name(resource, new["metadata"]["name"])
    problems = [*named, *metadata.check(new["metadata"], custom=resource.custom), *_check_content(resource, new)]
    return with_rules(problems, _rules(new)) if resource.custom else problems


def check_update(resource: Resource, new: Object, old: Object, subresource: str) -> list[Problem]:
    """Everything that is wrong with an object that replaces another."""
    if subresource:  # its own writer, and nothing but the part that it may write
        if resource.custom:
            return with_rules(list(check_schema(new, resource.schema)))
        return list(jobs.check_status(new, old)) if (resource.plural, subresource) == ("jobs", "status") else []
    problems = list(metadata.check_new_finalizers(new["metadata"], old["metadata"]))
    problems += metadata.check(new["metadata"], custom=resource.custom)
    if rule := _ON_UPDATE.get(resource.plural):
        return [*problems, *rule(new, old)]
    problems += _check_content(resource, new)
    if resource.custom:
        changes = immutable_changes(new, old, definition(resource.schema))
        problems = with_rules(problems, [*_rules(new), *changes])
    return problems


def _check_content(resource: Resource, new: Object) -> Iterator[Problem]:
    if rule := _CONTENT.get(resource.plural):
        yield from rule(new)
    else:
        yield from check_schema(new, resource.schema)


def _rules(new: Object) -> Iterator[Problem]:
    """The rule of the JobSet CRD that is not about one field."""
    spec = new.get("spec", {})
    if spec.get("startupPolicy", {}).get("startupPolicyOrder") != "InOrder":
        return
    if "replicatedJobs" not in spec:
        text = f"no such key: replicatedJobs evaluating rule: {_EXCLUSIVE}"
        yield Problem("FieldValueInvalid", "spec", f'Invalid value: "object": {text}')
    elif any("dependsOn" in each for each in spec["replicatedJobs"]):
        yield Problem("FieldValueInvalid", "spec", f"Invalid value: {_EXCLUSIVE}")


def check_config_map(new: Object) -> Iterator[Problem]:
    """The keys of a ConfigMap, none of which may be text and bytes at once."""
    data, binary = new.get("data", {}), new.get("binaryData", {})
    for part, content in (("data", data), ("binaryData", binary)):
        for key in content:
            yield from (invalid(f"{part}[{key}]", key, problem) for problem in config_key(key))
            if part == "data" and key in binary:
                yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")


def check_config_map_update(new: Object, old: Object) -> Iterator[Problem]:
    """A ConfigMap that says `immutable: true` stays as it is."""
    yield from check_frozen(new, old)
    yield from check_config_map(new)


def check_frozen(new: Object, old: Object) -> Iterator[Problem]:
    """ConfigMaps and Secrets that say `immutable: true`."""
    if old.get("immutable"):
        for key in ("immutable", "data", "binaryData"):
            if new.get(key) != old.get(key):
                yield forbidden(key, f"{jobs.IMMUTABLE} when `immutable` is set")


_CONTENT: Mapping[str, Callable[[Object], Iterator[Problem]]] = {
    "pods": pods.check,
    "jobs": jobs.check,
    "services": services.check,
    "configmaps": check_config_map,
}
_ON_UPDATE: Mapping[str, Callable[[Object, Object], Iterator[Problem]]] = {
    "pods": pods.check_update,
    "jobs": jobs.check_update,
    "configmaps": check_config_map_update,
    "secrets": check_frozen,
}
