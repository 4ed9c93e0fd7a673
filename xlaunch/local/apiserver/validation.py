"""What the API server refuses in an object, by resource: on creation and on update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xlaunch.local.apiserver import pods
from xlaunch.local.apiserver.names import check_labels, check_name
from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.apiserver.schema import check as check_schema
from xlaunch.local.apiserver.schema import definition, immutable_changes
from xlaunch.local.kube import Object, not_implemented
from xlaunch.local.names import dns_label
from xlaunch.local.problems import Problem, forbidden, invalid, required, unsupported

_IMMUTABLE = "field is immutable"


def check_create(resource: Resource, new: Object) -> list[Problem]:
    """Everything that is wrong with a new object."""
    return [*check_name(resource, new["metadata"]["name"]), *_check_content(resource, new)]


def check_update(resource: Resource, new: Object, old: Object, subresource: str) -> list[Problem]:
    """Everything that is wrong with an object that replaces another."""
    if subresource:  # its own writer, and nothing but the part that it may write
        return list(check_schema(new, resource.schema)) if resource.custom else []
    problems = [*_check_finalizers(new, old), *_check_content(resource, new)]
    if resource.custom:
        problems += immutable_changes(new, old, definition(resource.schema))
    if rule := _ON_UPDATE.get(resource.plural):
        problems += rule(new, old)
    return problems


def _check_content(resource: Resource, new: Object) -> Iterator[Problem]:
    yield from check_labels(new["metadata"].get("labels", {}), "metadata.labels")
    if rule := _CONTENT.get(resource.plural):
        yield from rule(new)
    else:
        yield from check_schema(new, resource.schema)


def _check_finalizers(new: Object, old: Object) -> Iterator[Problem]:
    if "deletionTimestamp" in old["metadata"]:
        more = set(new["metadata"].get("finalizers", [])) - set(old["metadata"].get("finalizers", []))
        if more:
            listed = ", ".join(f'"{each}"' for each in sorted(more))
            text = "no new finalizers can be added if the object is being deleted, found new finalizers []string"
            yield forbidden("metadata.finalizers", f"{text}{{{listed}}}")


def check_job(new: Object) -> Iterator[Problem]:
    """A Job: kubernetes v1.37, pkg/apis/batch/validation/validation.go."""
    spec, template = new["spec"], new["spec"].get("template", {})
    for key in ("parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "activeDeadlineSeconds"):
        if spec.get(key, 0) < 0:
            yield invalid(f"spec.{key}", spec[key], "must be greater than or equal to 0")
    if spec["completionMode"] not in ("Indexed", "NonIndexed"):
        yield unsupported("spec.completionMode", spec["completionMode"], ("Indexed", "NonIndexed"))
    if spec["completionMode"] == "Indexed":
        if "completions" not in spec:
            yield required("spec.completions", "when completion mode is Indexed")
        elif problems := dns_label(host := f"{new['metadata']['name']}-{max(spec['completions'] - 1, 0)}"):
            yield invalid("metadata.name", host, f"will not able to create pod with invalid DNS label: {problems[0]}")
    yield from check_labels(template.get("metadata", {}).get("labels", {}), "spec.template.labels")
    yield from pods.check_spec(template.get("spec", {}), "spec.template.spec")
    policy = template.get("spec", {}).get("restartPolicy")
    if policy == "Always":
        yield unsupported("spec.template.spec.restartPolicy", policy, ("Never", "OnFailure"))
    if "podFailurePolicy" in spec and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid("spec.template.spec.restartPolicy", policy, text)
    if "podFailurePolicy" in spec and spec["podReplacementPolicy"] != "Failed":
        yield unsupported("spec.podReplacementPolicy", spec["podReplacementPolicy"], ("Failed",))


def check_job_update(new: Object, old: Object) -> Iterator[Problem]:
    """What is fixed in a Job; its scheduling directives are free while it is suspended and has not started."""
    after, before = new["spec"], old["spec"]
    fixed = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "selector"]
    if before["completionMode"] != "Indexed" or after.get("completions") != after.get("parallelism"):
        fixed.append("completions")
    for key in fixed:
        if after.get(key) != before.get(key):
            yield invalid(f"spec.{key}", after.get(key), _IMMUTABLE)
    startable = before.get("suspend") and "startTime" not in old.get("status", {})
    if _template(after, free=startable) != _template(before, free=startable):
        yield invalid("spec.template", after.get("template"), _IMMUTABLE)


def _template(spec: Object, *, free: bool) -> Object:
    template: Object = spec.get("template", {})
    if not free:
        return template
    directives = ("nodeSelector", "tolerations", "affinity", "schedulingGates")
    metadata = {
        key: value for key, value in template.get("metadata", {}).items() if key not in ("labels", "annotations")
    }
    pod = {key: value for key, value in template.get("spec", {}).items() if key not in directives}
    return {**template, "metadata": metadata, "spec": pod}


def check_service(new: Object) -> Iterator[Problem]:
    """A Service: only headless ones, because nothing here forwards from a cluster IP."""
    spec = new["spec"]
    if spec["type"] != "ClusterIP" or spec.get("clusterIP") != "None":
        raise not_implemented("Services other than headless ones (spec.clusterIP: None)")
    for index, port in enumerate(spec.get("ports", [])):
        if not 1 <= port.get("port", 0) <= 65535:
            yield invalid(f"spec.ports[{index}].port", port.get("port", 0), "must be between 1 and 65535, inclusive")


def check_jobset(new: Object) -> Iterator[Problem]:
    """A JobSet's schema, and the rule of its CRD that is not about one field."""
    yield from check_schema(new, "JobSet")
    spec = new.get("spec", {})
    in_order = spec.get("startupPolicy", {}).get("startupPolicyOrder") == "InOrder"
    if in_order and any("dependsOn" in each for each in spec.get("replicatedJobs", [])):
        yield Problem(
            "FieldValueInvalid", "spec", "Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive"
        )


def check_frozen(new: Object, old: Object) -> Iterator[Problem]:
    """ConfigMaps and Secrets that say `immutable: true`."""
    if old.get("immutable"):
        for key in ("data", "binaryData", "immutable"):
            if new.get(key) != old.get(key):
                yield forbidden(key, f"{_IMMUTABLE} when `immutable` is set")


_CONTENT: Mapping[str, Callable[[Object], Iterator[Problem]]] = {
    "pods": pods.check,
    "jobs": check_job,
    "services": check_service,
    "jobsets": check_jobset,
}
_ON_UPDATE: Mapping[str, Callable[[Object, Object], Iterator[Problem]]] = {
    "pods": pods.check_update,
    "jobs": check_job_update,
    "configmaps": check_frozen,
    "secrets": check_frozen,
}
