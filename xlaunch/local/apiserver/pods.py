"""What the API server refuses in a pod and its template.

The rules that a launcher's manifest can meet, with the texts and in the order of kubernetes v1.37,
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlaunch.local.apiserver import containers, placement, volumes
from xlaunch.local.apiserver.metadata import check_labels
from xlaunch.local.kube import Object
from xlaunch.local.names import dns_label, subdomain
from xlaunch.local.problems import Problem, forbidden, invalid, required, unsupported

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_GATE_TEXT = "cannot be set until all schedulingGates have been cleared"
_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def check_spec(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A pod's spec; `path` is "spec" or "spec.template.spec"."""
    wrong_volumes, mountable = volumes.check_volumes(spec, path)
    yield from wrong_volumes
    yield from containers.check_containers(spec, mountable, path)
    yield from containers.check_host_network(spec, path)
    yield from _check_word(spec, "restartPolicy", RESTART_POLICIES, path)
    yield from _check_word(spec, "dnsPolicy", _DNS_POLICIES, path)
    yield from check_labels(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    yield from placement.check_affinity(spec, path)
    if spec.get("dnsPolicy") == "None" and "dnsConfig" not in spec:
        yield required(f"{path}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
    yield from placement.check_gates(spec, path)
    for key in ("serviceAccountName", "nodeName"):
        if name := spec.get(key):
            yield from (invalid(f"{path}.{key}", name, problem) for problem in subdomain(name))
    if not 1 <= spec.get("activeDeadlineSeconds", 1) < 2**31:
        value = spec["activeDeadlineSeconds"]
        yield invalid(f"{path}.activeDeadlineSeconds", value, "must be between 1 and 2147483647, inclusive")
    for key in ("hostname", "subdomain"):
        if name := spec.get(key):
            yield from (invalid(f"{path}.{key}", name, problem) for problem in dns_label(name))
    yield from placement.check_tolerations(spec, path)
    if name := spec.get("priorityClassName"):
        yield from (invalid(f"{path}.priorityClassName", name, problem) for problem in subdomain(name))
    yield from _check_word(spec, "preemptionPolicy", _PREEMPTION, path)


def _check_word(spec: Mapping[str, Any], key: str, allowed: tuple[str, ...], path: str) -> Iterator[Problem]:
    if key in spec and spec[key] not in allowed:
        yield unsupported(f"{path}.{key}", spec[key], allowed)


def check(pod: Object) -> Iterator[Problem]:
    """A pod as it is created."""
    yield from _check_pod(pod["spec"])
    if pod["spec"].get("nodeName") and pod["spec"].get("schedulingGates"):
        yield forbidden("spec.nodeName", _GATE_TEXT)


def _check_pod(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules for a pod that a template doesn't have to obey."""
    yield from check_spec(spec, "spec")
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        value = spec["terminationGracePeriodSeconds"]
        yield invalid("spec.terminationGracePeriodSeconds", value, containers.NOT_NEGATIVE)
    yield from containers.check_images(spec)


def check_update(new: Object, old: Object) -> Iterator[Problem]:
    """A pod's spec is fixed but for images, its deadline, further tolerations, and what scheduling gates hold back."""
    after, before = new["spec"], old["spec"]
    yield from _check_pod(after)
    for key in ("containers", "initContainers"):
        if len(after.get(key, [])) != len(before.get(key, [])):
            yield forbidden(f"spec.{key}", "pod updates may not add or remove containers")
            return
    yield from _check_deadline(after, before)
    known = _untimed(after.get("tolerations", []))
    if any(each not in known for each in _untimed(before.get("tolerations", []))):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    gates = {each["name"] for each in before.get("schedulingGates", [])}
    for index, gate in enumerate(after.get("schedulingGates", [])):
        if gate["name"] not in gates:
            text = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", text)
    if gates:
        selector = before.get("nodeSelector", {})
        if any(after.get("nodeSelector", {}).get(key) != value for key, value in selector.items()):
            text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield invalid("spec.nodeSelector", after.get("nodeSelector"), text)
    if _fixed(after, gated=bool(gates)) != _fixed(before, gated=bool(gates)):
        yield forbidden("spec", _MUTABLE)


def _check_deadline(after: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[Problem]:
    """A pod may get a deadline, and then a shorter one."""
    old, new = before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    if old is not None and new is None:
        text = "must not update from a positive integer to nil value"
        yield invalid("spec.activeDeadlineSeconds", None, text)
    elif old is not None and new is not None and old < new:
        yield invalid("spec.activeDeadlineSeconds", new, "must be less than or equal to previous value")


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
