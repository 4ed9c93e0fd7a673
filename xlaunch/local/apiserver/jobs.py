"""What the API server refuses in a Job, with the texts of kubernetes v1.37, pkg/apis/batch/validation/validation.go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.core.conditions import is_true
from xlaunch.local import managers
from xlaunch.local.apiserver import pods
from xlaunch.local.apiserver.metadata import check_annotations, check_labels
from xlaunch.local.kube import Object
from xlaunch.local.names import dns_label
from xlaunch.local.objects import status_of
from xlaunch.local.problems import NOT_SHOWN, Problem, duplicate, invalid, required, unsupported

IMMUTABLE = "field is immutable"
_NOT_NEGATIVE = "must be greater than or equal to 0"
_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
_MODES = ("NonIndexed", "Indexed")
_RESTARTS = ("OnFailure", "Never")
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_TEMPLATE = "spec.template.spec"


def check(new: Object) -> Iterator[Problem]:
    """A Job as it is created; its metadata has been checked."""
    yield from _check_generated(new)
    yield from _check_spec(new["spec"])
    yield from _check_name(new)


def check_update(new: Object, old: Object) -> Iterator[Problem]:
    """A Job that replaces another; its pod template is free to be scheduled otherwise while nothing of it runs."""
    after, before = new["spec"], old["spec"]
    yield from _check_spec(after)
    if after["completionMode"] != "Indexed":
        yield from _unchanged(after, before, ("completions",))
    elif after.get("completions") not in (None, before.get("completions"), after["parallelism"]):
        text = "can only be modified in tandem with spec.parallelism"
        yield invalid("spec.completions", after["completions"], text)
    yield from _unchanged(after, before, ("selector",))
    free = before.get("suspend") and not status_of(old).get("active")
    free = free and ("startTime" not in status_of(old) or is_true(status_of(old), "Suspended"))
    if free:
        if _fixed(after) != _fixed(before):
            yield invalid("spec.template.spec", after["template"].get("spec"), IMMUTABLE)
    elif after["template"] != before["template"]:
        yield invalid("spec.template", after["template"], IMMUTABLE)
    yield from _unchanged(after, before, ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy"))
    yield from _check_name(new)


def check_status(new: Object, old: Object) -> Iterator[Problem]:
    """A Job's status, by its counters alone: only the Job controller writes it here."""
    status = status_of(new)
    for key in ("active", "succeeded", "failed", "ready", "terminating"):
        if status.get(key, 0) < 0:
            yield invalid(f"status.{key}", status[key], _NOT_NEGATIVE)
    if status.get("ready", 0) > status.get("active", 0):
        yield invalid("status.ready", status["ready"], "cannot set more ready pods than active")
    if status.get("failed", 0) < status_of(old).get("failed", 0):
        yield invalid("status.failed", status.get("failed", 0), "cannot decrease the failed counter")


def _unchanged(after: Mapping[str, Any], before: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[Problem]:
    for key in keys:
        if after.get(key) != before.get(key):
            yield invalid(f"spec.{key}", after.get(key), IMMUTABLE)


def _fixed(spec: Mapping[str, Any]) -> Object:
    """The pod spec without what may change while nothing of the Job runs: where pods go, and what they need."""
    directives = ("nodeSelector", "tolerations", "schedulingGates")
    pod = {key: value for key, value in spec["template"].get("spec", {}).items() if key not in directives}
    if "affinity" in pod:
        pod["affinity"] = {key: value for key, value in pod["affinity"].items() if key != "nodeAffinity"}
    for key in ("containers", "initContainers"):
        if key in pod:
            pod[key] = [{**each, "resources": {}} for each in pod[key]]
    return pod


def _check_generated(new: Object) -> Iterator[Problem]:
    """The labels and the selector that a Job gets, where the client has given its own."""
    spec, metadata = new["spec"], new["metadata"]
    if spec.get("manualSelector"):
        return
    labels = spec["template"].get("metadata", {}).get("labels", {})
    generated = {
        "controller-uid": metadata["uid"],
        "job-name": metadata["name"],
        "batch.kubernetes.io/controller-uid": metadata["uid"],
        "batch.kubernetes.io/job-name": metadata["name"],
    }
    for key, value in generated.items():
        if labels.get(key) != value:
            yield invalid(f"spec.template.metadata.labels[{key}]", labels, f"must be '{value}'")
    wanted = spec["selector"].get("matchLabels", {})
    if any(generated.get(key) != value for key, value in wanted.items()):
        yield invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _check_name(new: Object) -> Iterator[Problem]:
    """The name of the last pod's host, which is that of the Job with the index behind it."""
    spec, name = new["spec"], new["metadata"]["name"]
    if spec["completionMode"] == "Indexed" and spec.get("completions", 0) > 0:
        host = f"{name}-{spec['completions'] - 1}"
        if dns_label(host):
            yield invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {host}")


def _check_spec(spec: Mapping[str, Any]) -> Iterator[Problem]:
    for key in _COUNTS:
        if spec.get(key, 0) < 0:
            yield invalid(f"spec.{key}", spec[key], _NOT_NEGATIVE)
    if (manager := spec.get("managedBy")) is not None:
        yield from managers.check(manager)
    if spec["completionMode"] not in _MODES:
        yield unsupported("spec.completionMode", spec["completionMode"], _MODES)
    if spec["completionMode"] == "Indexed" and "completions" not in spec:
        yield required("spec.completions", "when completion mode is Indexed")
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        yield from _check_failure_policy(policy, spec["template"].get("spec", {}))
    replacement = ("Failed",) if policy is not None else ("Failed", "TerminatingOrFailed")
    if spec["podReplacementPolicy"] not in replacement:
        yield unsupported("spec.podReplacementPolicy", spec["podReplacementPolicy"], replacement)
    yield from _check_template(spec["template"])
    restart = spec["template"].get("spec", {}).get("restartPolicy")
    if restart == "Always":
        yield required(f"{_TEMPLATE}.restartPolicy", 'valid values: "OnFailure", "Never"')
    elif restart not in _RESTARTS:
        yield unsupported(f"{_TEMPLATE}.restartPolicy", restart, _RESTARTS)
    elif policy is not None and restart != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        yield invalid(f"{_TEMPLATE}.restartPolicy", restart, text)
    yield from _check_selector(spec)


def _check_template(template: Mapping[str, Any]) -> Iterator[Problem]:
    metadata = template.get("metadata", {})
    yield from check_labels(metadata.get("labels", {}), "spec.template.labels")
    yield from check_annotations(metadata.get("annotations", {}), "spec.template.annotations")
    yield from pods.check_spec(template.get("spec", {}), _TEMPLATE)


def _check_selector(spec: Mapping[str, Any]) -> Iterator[Problem]:
    if "selector" not in spec:
        yield required("spec.selector")
    labels = spec["template"].get("metadata", {}).get("labels", {})
    wanted = spec.get("selector", {}).get("matchLabels", {})
    if "selector" not in spec or any(labels.get(key) != value for key, value in wanted.items()):
        yield invalid("spec.template.metadata.labels", labels or None, "`selector` does not match template `labels`")


def _check_failure_policy(policy: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[Problem]:
    names = {each.get("name") for key in ("containers", "initContainers") for each in pod.get(key, [])}
    for index, rule in enumerate(policy.get("rules", [])):
        path = f"spec.podFailurePolicy.rules[{index}]"
        action, codes, conditions = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions")
        if not action:
            yield required(f"{path}.action", 'valid values: ["Count" "FailIndex" "FailJob" "Ignore"]')
        elif action == "FailIndex":
            yield invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set")
        elif action not in _ACTIONS:
            yield unsupported(f"{path}.action", action, _ACTIONS)
        if codes is not None:
            yield from _check_codes(codes, f"{path}.onExitCodes", names)
        if codes is not None and conditions:
            yield invalid(path, NOT_SHOWN, "specifying both OnExitCodes and OnPodConditions is not supported")
        if codes is None and not conditions:
            yield invalid(path, NOT_SHOWN, "specifying one of OnExitCodes and OnPodConditions is required")


def _check_codes(codes: Mapping[str, Any], path: str, names: set[Any]) -> Iterator[Problem]:
    operator, values = codes.get("operator", ""), codes.get("values", [])
    if not operator:
        yield required(f"{path}.operator", 'valid values: ["In" "NotIn"]')
    elif operator not in ("In", "NotIn"):
        yield unsupported(f"{path}.operator", operator, ("In", "NotIn"))
    if "containerName" in codes and codes["containerName"] not in names:
        text = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", codes["containerName"], text)
    if not values:
        yield invalid(f"{path}.values", values, "at least one value is required")
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        yield invalid(f"{path}.values", values, "must be ordered")
