"""From what a user asks to a checked plan: values, template, additions, patch, checks, hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlaunch.core import budget
from xlaunch.core.checks import check
from xlaunch.core.env import merged, warnings
from xlaunch.core.errors import UsageError
from xlaunch.core.merge_patch import merge_patch
from xlaunch.core.names import longest_coordinated_name, short_subdomain
from xlaunch.core.plan import Manifest, Plan, finished
from xlaunch.core.render import parse, render
from xlaunch.core.restart_scope import SCOPE_ANNOTATION, SLICE
from xlaunch.core.spec import HEAD_JOB, PathwaysSpec, check_name


def make_plan(spec: PathwaysSpec, template: str, patch: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a workload by a template; `patch` is an RFC 7386 merge patch on the result, which is checked again.

    The same input gives the same bytes. Raises UsageError.
    """
    manifest = without_nulls(parse(render(template, values(spec)), "The rendered template"))
    check_name(spec, coordinator=_has_coordinator(manifest))
    check(manifest)
    _add_to_every_pod(manifest, spec.labels, spec.annotations)
    if spec.env:
        _add_env(manifest, spec)
    if patch is not None:
        manifest = _patched(manifest, patch)
    check(manifest)
    _check_identity(manifest, spec)
    if spec.auto_scope:
        metadata = manifest["metadata"]
        metadata["annotations"] = {**(metadata.get("annotations") or {}), SCOPE_ANNOTATION: spec.restart_scope}
    return finished(manifest, tuple(notices(spec, manifest)))


def values(spec: PathwaysSpec) -> dict[str, Any]:
    """What a template may use; docs/templates.md describes each."""
    slice_scope = spec.restart_scope == SLICE
    tpu = spec.tpu
    selector = {
        "cloud.google.com/gke-tpu-accelerator": tpu.accelerator,
        "cloud.google.com/gke-tpu-topology": tpu.topology,
    }
    if tpu.placement_policy:
        selector["cloud.google.com/placement-policy-name"] = tpu.placement_policy
    return {
        "name": spec.name,
        "namespace": spec.namespace,
        "queue": spec.queue or None,
        "subdomain": subdomain(spec) or None,
        "ttl_seconds": spec.ttl_seconds,
        "max_restarts": restart_budget(spec),
        "restart_scope": spec.restart_scope,
        "restart_exit_codes": list(spec.restart_exit_codes),
        "headless": spec.headless,
        "num_slices": spec.num_slices,
        "elastic_slices": spec.elastic_slices,
        "scratch": spec.scratch,
        "tmp": spec.tmp,
        "host_network": spec.host_network,
        "service_account": spec.service_account or None,
        "pull_secret": spec.pull_secret or None,
        "priority": spec.priority or None,
        "scheduler": spec.scheduler or None,
        "grace_seconds": spec.grace_seconds,
        "debug_logs": spec.debug_logs,
        "persistence": spec.persistence,
        "tpu": {
            "name": tpu.name,
            "topology": tpu.topology,
            "hosts": tpu.hosts,
            "chips_per_host": tpu.chips_per_host,
            "machine_type": tpu.machine_type,
            "pathways_instance": tpu.pathways_instance,
        },
        "head": {"node_selector": dict(spec.head_selector)},
        "main": {
            "name": spec.container,
            "image": spec.image,
            "command": list(spec.command),
            "args": list(spec.args),
            "cpu": spec.main_cpu,
            "memory": spec.main_memory,
        },
        "rm": {"image": spec.server_image, "args": list(spec.server_args), "memory": spec.rm_memory},
        "proxy": {"image": spec.proxy_image, "args": list(spec.proxy_args), "memory": spec.proxy_memory},
        "worker": {
            "image": spec.worker_image or spec.server_image,
            "args": list(spec.worker_args),
            "sidecar_image": spec.sidecar_image,
            "backoff_limit": 0 if slice_scope else budget.backoff_limit(slice_restarts(spec), tpu.hosts),
            "node_selector": {**selector, **spec.worker_selector},
            "tolerations": [dict(toleration) for toleration in spec.worker_tolerations],
            "toleration_seconds": spec.worker_toleration_seconds,
        },
    }


def slice_restarts(spec: PathwaysSpec) -> int:
    """How many losses of each slice are survived: what was given, 1 as in xpk where slices are elastic, else 4."""
    if spec.max_slice_restarts is not None:
        return spec.max_slice_restarts
    return 1 if spec.elastic_slices else budget.SLICE_RESTARTS_WITHOUT_ELASTICITY


def restart_budget(spec: PathwaysSpec) -> int:
    """The JobSet's `maxRestarts`: what was given, else 3 for elastic slices and 0 otherwise; plus those of slices."""
    whole = spec.max_restarts if spec.max_restarts is not None else (3 if spec.elastic_slices else 0)
    if spec.restart_scope == SLICE:
        return budget.slice_scope_restarts(whole, slice_restarts(spec), spec.num_slices)
    return whole


def subdomain(spec: PathwaysSpec) -> str:
    """A subdomain of our own where the name is too long for the default one, else ""."""
    if len(spec.name) <= longest_coordinated_name(HEAD_JOB, short_subdomain=False):
        return ""
    return short_subdomain(spec.name)


def notices(spec: PathwaysSpec, manifest: Manifest) -> list[str]:
    """What to tell about the choices that a plan makes by itself."""
    lines = []
    own = subdomain(spec)
    if own and (manifest["spec"].get("network") or {}).get("subdomain") == own:
        lines.append(
            f"Note: the name has {len(spec.name)} characters, more than the 22 that JobSet allows by default, "
            f"so the pods' addresses end in .{own}."
        )
    if spec.restart_scope == SLICE:
        needs = "; the cluster needs JobSet 0.12 or later with its RestartJob feature gate"
        lines.append(
            f"Note: with --restart-scope=slice the {restart_budget(spec)} restarts are one budget for slices and whole "
            f"restarts{'' if spec.auto_scope else needs}."
        )
    if spec.restart_exit_codes and not restart_budget(spec):
        lines.append("Note: --restart-on-exit-codes has no effect without --max-restarts.")
    return [*lines, *warnings(spec.env)]


def without_nulls(value: Any) -> Any:
    """A tree without the fields that are null, as if the template had not had them."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _has_coordinator(manifest: Manifest) -> bool:
    """Whether there is one, in a manifest that has not been checked yet."""
    spec = manifest.get("spec")
    return isinstance(spec, Mapping) and bool(spec.get("coordinator"))


def _pod_templates(manifest: Manifest) -> list[dict[str, Any]]:
    return [job["template"]["spec"]["template"] for job in manifest["spec"]["replicatedJobs"]]


def _add_to_every_pod(manifest: Manifest, labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
    for place in (manifest, *_pod_templates(manifest)):
        for key, added in (("labels", labels), ("annotations", annotations)):
            if added:
                metadata = place.setdefault("metadata", {})
                metadata[key] = {**(metadata.get(key) or {}), **added}


def _add_env(manifest: Manifest, spec: PathwaysSpec) -> None:
    containers = [
        container
        for template in _pod_templates(manifest)
        for container in template["spec"]["containers"]
        if container["name"] == spec.container
    ]
    if not containers:
        raise UsageError(
            f"The template has no container {spec.container} to give --env to",
            next="Name it {{ main.name }} in the template",
        )
    for container in containers:
        container["env"] = merged(container.get("env") or (), spec.env)


def _patched(manifest: Manifest, patch: Mapping[str, Any]) -> Manifest:
    result = merge_patch(manifest, patch)
    if not isinstance(result, dict):
        raise UsageError(
            "The patch leaves no JobSet",
            why="It is a JSON merge patch (RFC 7386) on the manifest",
            next="Write only the fields that differ, each in its place",
        )
    return result


def _check_identity(manifest: Manifest, spec: PathwaysSpec) -> None:
    name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
    if (name, namespace) != (spec.name, spec.namespace):
        raise UsageError(
            "The template or the patch changes the workload's name or namespace",
            why=f"It is {spec.name} in {spec.namespace}, and would be {name} in {namespace}",
            next="Use --workload and --namespace",
        )
