"""Writes xlaunch/local/apiserver/schema.json from what Kubernetes and JobSet publish.

    python tools/api_schema.py SWAGGER CRD API APIMACHINERY

SWAGGER is api/openapi-spec/swagger.json of kubernetes/kubernetes (v1.37.2); CRD is
config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml of kubernetes-sigs/jobset (v0.12.0); API and APIMACHINERY are
the directories of the Go modules k8s.io/api and k8s.io/apimachinery (v0.37.0). The result is OpenAPI without
descriptions: `definitions` of the kinds that the embedded API server has and of all that they refer to, and `known`,
the resources of every API group of Kubernetes, so that one which we lack can be refused by its name.

Each definition has `tags`: the properties by their protobuf field numbers. A struct that JSON inlines has tags of its
own in place of a name; a name that ends in "?" is a pointer in Go, where zero is something else than nothing.
"""
# ruff: noqa: INP001

import json
import re
import sys
from pathlib import Path

import yaml

TARGET = Path(__file__).parent.parent / "xlaunch/local/apiserver/schema.json"
CORE, META = "io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1."
ROOTS = [
    *(
        CORE + kind
        for kind in (
            "ConfigMap",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "Pod",
            "ResourceQuota",
            "Secret",
            "Service",
        )
    ),
    CORE + "ServiceAccount",
    "io.k8s.api.batch.v1.Job",
    "io.k8s.api.batch.v1.JobTemplateSpec",
    "io.k8s.api.coordination.v1.Lease",
    "io.k8s.api.events.v1.Event",
    "io.k8s.api.policy.v1.Eviction",
    "io.k8s.api.scheduling.v1.PriorityClass",
    CORE + "Binding",
    META + "DeleteOptions",
]
KEPT = ("type", "format", "required", "default", "enum", "minimum", "maxItems")


def short(name):
    """The kind, with its group where core has a kind of that name."""
    return name.removeprefix("io.k8s.api.") if name == "io.k8s.api.events.v1.Event" else name.rsplit(".", 1)[1]


def reduced(node):
    """A schema node without descriptions; references point at short names."""
    kept = {key: value for key, value in node.items() if key in KEPT or key.startswith("x-kubernetes-")}
    kept.pop("x-kubernetes-group-version-kind", None)
    for key in ("properties",):
        if key in node:
            kept[key] = {name: reduced(value) for name, value in node[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            kept[key] = reduced(node[key])
    if "$ref" in node:
        kept["$ref"] = short(node["$ref"].removeprefix("#/definitions/"))
    return kept


def references(node):
    """Full names of the definitions that a node refers to."""
    return re.findall(r'"\$ref": "#/definitions/([^"]+)"', json.dumps(node))


def jobset_node(node, name=""):
    """A node of the CRD; the Job template is batch/v1's own, which the CRD repeats in 7,000 lines."""
    if name == "template":
        return {"$ref": "JobTemplateSpec"}
    if name == "metadata":
        return {"$ref": "ObjectMeta"}
    kept = {key: value for key, value in node.items() if key not in ("description", "pattern", "anyOf")}
    if "properties" in node:
        kept["properties"] = {key: jobset_node(value, key) for key, value in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            kept[key] = jobset_node(node[key])
    return kept


def known(paths):
    """Resources of each group version: {"v1": ["bindings", …], "apps/v1": […]}."""
    found = {}
    for path in paths:
        if match := re.fullmatch(
            r"/(?:api|apis/([^/]+))/(v[^/]+)(?:/namespaces/\{namespace\})?/([a-z]+)/?(\{name\})?", path
        ):
            group, version, plural, _ = match.groups()
            found.setdefault(f"{group}/{version}" if group else version, set()).add(plural)
    return {group: sorted(plurals - {"watch"}) for group, plurals in sorted(found.items())}


def protobuf_file(name, suffix, api, machinery):
    """The Go module's file beside a definition: generated.proto or types.go."""
    package = name.rsplit(".", 1)[0]
    if package.startswith("io.k8s.api."):
        return Path(api, *package.removeprefix("io.k8s.api.").split("."), suffix)
    return Path(machinery, *package.removeprefix("io.k8s.apimachinery.").split("."), suffix)


def block(text, opening):
    """The lines of a message or struct, without comments."""
    found = re.search(rf"^{opening} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    return re.sub(r"//.*", "", found[1]) if found else ""


def tags(name, properties, api, machinery):
    """The properties of a definition by protobuf field number."""
    kind = name.rsplit(".", 1)[1]
    proto = protobuf_file(name, "generated.proto", api, machinery).read_text(encoding="utf-8")
    types = block(protobuf_file(name, "types.go", api, machinery).read_text(encoding="utf-8"), f"type {kind} struct")
    pointers = set(re.findall(r"\*(?:u?int\d*|bool|string)\s+`[^`]*json:\"(\w+)", types))
    found = {}
    for type_name, field, number in re.findall(r"([\w.]+|map<[^>]+>) (\w+) = (\d+);", block(proto, f"message {kind}")):
        if field in properties:
            found[number] = f"{field}?" if field in pointers else field
        elif "<" not in type_name and block(proto, f"message {type_name}"):
            found[number] = tags(f"{name.rsplit('.', 1)[0]}.{type_name}", properties, api, machinery)
    return found


def main(swagger, crd, api, machinery):
    """Reads the four and writes TARGET."""
    published = json.loads(Path(swagger).read_text(encoding="utf-8"))
    todo, definitions = list(ROOTS), {}
    while todo:
        name = todo.pop()
        if short(name) not in definitions:
            definitions[short(name)] = reduced(published["definitions"][name])
            if properties := published["definitions"][name].get("properties"):
                definitions[short(name)]["tags"] = tags(name, properties, api, machinery)
            todo += references(published["definitions"][name])
    for kind in ("ContainerPort", "ServicePort"):  # a default in /openapi/v3, which the older form leaves out
        definitions[kind]["properties"]["protocol"]["default"] = "TCP"
    version = yaml.safe_load(Path(crd).read_text(encoding="utf-8"))["spec"]["versions"][0]
    definitions["JobSet"] = jobset_node(version["schema"]["openAPIV3Schema"])
    document = {"definitions": dict(sorted(definitions.items())), "known": known(published["paths"])}
    TARGET.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
