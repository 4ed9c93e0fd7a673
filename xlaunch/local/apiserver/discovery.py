"""What the server says about itself: versions, groups, resources (plain and aggregated), and OpenAPI."""

from __future__ import annotations

from typing import Any

from xlaunch.local.apiserver.resources import DEFINITIONS, GROUP_VERSIONS, KNOWN, SERVED, Resource, no_such_path
from xlaunch.local.kube import KUBERNETES_VERSION, Object, not_implemented

VERSION = {
    "major": "1",
    "minor": "37",
    "gitVersion": KUBERNETES_VERSION,
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "linux/amd64",
}
OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_BODY_KINDS = {"binding": ("", "v1", "Binding"), "eviction": ("policy", "v1", "Eviction")}


def _split(group_version: str) -> tuple[str, str]:
    group, _, version = group_version.rpartition("/")
    return group, version


def served(group_version: str) -> list[Resource]:
    """The resources of one group version, in the order of the table."""
    return [each for each in SERVED if each.api_version == group_version]


def api_versions() -> Object:
    """/api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def _group(group_version: str) -> Object:
    group, version = _split(group_version)
    entry = {"groupVersion": group_version, "version": version}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def api_groups() -> Object:
    """/apis."""
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(each) for each in GROUP_VERSIONS if "/" in each],
    }


def api_group(name: str) -> Object:
    """/apis/GROUP; 501 for a group that only a real cluster has, 404 for one that nobody knows."""
    for group_version in GROUP_VERSIONS:
        if name and _split(group_version)[0] == name:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group_version)}
    if any(name == _split(each)[0] for each in KNOWN):
        raise not_implemented(f"the API group {name}")
    raise no_such_path()


def resource_list(group_version: str) -> Object:
    """/api/v1 and /apis/GROUP/VERSION; 501 or 404 as for groups."""
    if group_version not in GROUP_VERSIONS:
        if group_version in KNOWN:
            raise not_implemented(f"the API version {group_version}")
        raise no_such_path()
    entries = []
    for each in served(group_version):
        entry: Object = {"name": each.plural, "singularName": each.singular, "namespaced": each.namespaced,
                         "kind": each.kind, "verbs": list(each.verbs)}  # fmt: skip
        entry |= {"shortNames": list(each.short)} if each.short else {}
        entry |= {"categories": list(each.categories)} if each.categories else {}
        entries.append(entry)
        for name, verbs in each.subresources.items():
            group, version, kind = _BODY_KINDS.get(name, ("", "", each.kind))
            entries.append(
                {"name": f"{each.plural}/{name}", "singularName": "", "namespaced": each.namespaced, "kind": kind,
                 "verbs": list(verbs), **({"group": group, "version": version} if version else {})}
            )  # fmt: skip
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}


def aggregated(*, core: bool) -> Object:
    """/api or /apis as an APIGroupDiscoveryList (apidiscovery.k8s.io/v2)."""
    chosen = [each for each in GROUP_VERSIONS if ("/" not in each) == core]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_discovery(each) for each in chosen],
    }


def _discovery(group_version: str) -> Object:
    group, version = _split(group_version)
    resources = []
    for each in served(group_version):
        entry: Object = {
            "resource": each.plural,
            "responseKind": _kind(each.group, each.version, each.kind),
            "scope": "Namespaced" if each.namespaced else "Cluster",
            "singularResource": each.singular,
            "verbs": list(each.verbs),
        }
        entry |= {"shortNames": list(each.short)} if each.short else {}
        entry |= {"categories": list(each.categories)} if each.categories else {}
        if each.subresources:
            entry["subresources"] = [_subresource(each, name) for name in each.subresources]
        resources.append(entry)
    return {
        "metadata": {"name": group} if group else {},
        "versions": [{"version": version, "freshness": "Current", "resources": resources}],
    }


def _subresource(resource: Resource, name: str) -> Object:
    kind = _BODY_KINDS.get(name, (resource.group, resource.version, resource.kind))
    return {"subresource": name, "responseKind": _kind(*kind), "verbs": list(resource.subresources[name])}


def _kind(group: str, version: str, kind: str) -> Object:
    return {"group": group, "version": version, "kind": kind}


def openapi_index() -> Object:
    """/openapi/v3."""
    paths = ["api/v1" if each == "v1" else f"apis/{each}" for each in GROUP_VERSIONS]
    return {"paths": {each: {"serverRelativeURL": f"/openapi/v3/{each}"} for each in paths}}


def openapi(group_version: str) -> Object:
    """/openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION: what `kubectl apply` and `kubectl explain` look for.

    Descriptions are left out: they would make most of the server's size.
    """
    paths: Object = {}
    schemas: set[str] = set()
    resource_list(group_version)  # refuses what is not served
    for each in served(group_version):
        root = "/api/v1" if group_version == "v1" else f"/apis/{group_version}"
        scope = "/namespaces/{namespace}" if each.namespaced else ""
        kind = {"x-kubernetes-group-version-kind": _kind(each.group, each.version, each.kind)}
        validation = {"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}
        operation = {"parameters": [validation], "responses": {}, **kind}
        paths[f"{root}{scope}/{each.plural}/{{name}}"] = {"get": operation, "patch": operation}
        if each.schema in DEFINITIONS:
            schemas.add(each.schema)
    components = {name: _component(name, group_version) for name in sorted(_closure(schemas))}
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION["gitVersion"]},
        "paths": paths,
        "components": {"schemas": components},
    }


def _references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(_references, node.values()))
    return set().union(*map(_references, node)) if isinstance(node, list) else set()


def _closure(names: set[str]) -> set[str]:
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += _references(DEFINITIONS[name])
    return found


def _component(name: str, group_version: str) -> Object:
    kinds = [each for each in served(group_version) if each.schema == name]
    marked = [_kind(each.group, each.version, each.kind) for each in kinds]
    component: Object = _qualified({key: value for key, value in DEFINITIONS[name].items() if key != "tags"})
    return {**component, **({"x-kubernetes-group-version-kind": marked} if marked else {})}


def _qualified(node: Any) -> Any:
    """A schema node whose references are those of OpenAPI 3."""
    if isinstance(node, dict):
        return {
            key: f"#/components/schemas/{value}" if key == "$ref" and isinstance(value, str) else _qualified(value)
            for key, value in node.items()
        }
    return [_qualified(each) for each in node] if isinstance(node, list) else node
