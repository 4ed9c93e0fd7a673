"""What a plan would change: a live JobSet beside the one that the server would make of the plan."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from xlaunch.core.env import looks_secret
from xlaunch.core.plan import dump

Object = Mapping[str, Any]
Tree = dict[str, Any]

# Ours say who submitted what with which version; kubectl's holds the manifest once more
_NO_PLAN = ("xlaunch.dev/", "kubectl.kubernetes.io/last-applied-configuration")
KUEUE_PODSET = "kueue.x-k8s.io/podset"
# kubectl 0.35 pkg/cmd/diff/diff.go sensitiveMaskDefault and its kin
HIDDEN, BEFORE, AFTER = "***", "*** (before)", "*** (after)"


def unified(live: Object | None, planned: Object, name: str) -> str:
    """The unified diff from `live` to `planned`, both as `comparable` gives them; "" where they are equal.

    None is an object that is not there. Values of variables that look like credentials are hidden.
    """
    before, after = _hidden(live or {}, planned, BEFORE), _hidden(planned, live or {}, AFTER)
    lines = difflib.unified_diff(
        dump(before).splitlines(keepends=True) if live is not None else [],
        dump(after).splitlines(keepends=True),
        fromfile=f"live/{name}" if live is not None else "/dev/null",
        tofile=f"plan/{name}",
    )
    return "".join(lines)


def comparable(jobset: Object, *, suspend: bool) -> Tree:
    """What a plan decides of a JobSet that a server has defaulted: names, labels, annotations and the spec, in order.

    `suspend` says whether the plan itself decides that; elsewhere Kueue does, or a person.
    """
    metadata = jobset["metadata"]
    kept: Tree = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    for place in ("labels", "annotations"):
        of_plan = {key: text for key, text in (metadata.get(place) or {}).items() if not key.startswith(_NO_PLAN)}
        kept |= {place: of_plan} if of_plan else {}
    spec = {key: value for key, value in jobset["spec"].items() if suspend or key != "suspend"}
    tree: Tree = _sorted({"apiVersion": jobset["apiVersion"], "kind": jobset["kind"], "metadata": kept, "spec": spec})
    return tree


def is_placed(jobset: Object) -> bool:
    """Whether Kueue has admitted it, and so has written into its pod templates."""
    return any(KUEUE_PODSET in _metadata(template).get("labels", ()) for _, template in _templates(jobset))


def unplaced(jobset: Object, workload: Object) -> Tree:
    """An admitted JobSet with the pod templates that it had before; its Kueue Workload has kept them.

    Restores what Kueue itself does when it evicts (Kueue v0.17.0 pkg/podset/podset.go RestorePodSpec).
    """
    before = {podset["name"]: podset["template"] for podset in workload["spec"].get("podSets") or ()}
    restored: Tree = deepcopy(dict(jobset))
    for name, template in _templates(restored):
        if name in before:
            _restore(template, "metadata", before[name], ("labels", "annotations"))
            _restore(template, "spec", before[name], ("nodeSelector", "tolerations", "schedulingGates"))
    return restored


def _restore(template: Tree, part: str, before: Object, fields: tuple[str, ...]) -> None:
    kept = {key: value for key, value in (template.get(part) or {}).items() if key not in fields}
    old = before.get(part) or {}
    template[part] = {**kept, **{key: old[key] for key in fields if old.get(key)}}
    if not template[part]:
        del template[part]


def _templates(jobset: Object) -> Iterator[tuple[str, Tree]]:
    """The replicated jobs' names and pod templates."""
    for job in jobset["spec"].get("replicatedJobs") or ():
        yield job["name"], job["template"]["spec"]["template"]


def _metadata(template: Object) -> Object:
    return template.get("metadata") or {}


def _hidden(shown: Object, other: Object, mark: str) -> Tree:
    """The object with values of credentials hidden; `mark` stands for one that the other object has otherwise."""
    if not shown:
        return {}
    values = {place: entry["value"] for place, entry in _credentials(other)} if other else {}
    hidden: Tree = deepcopy(dict(shown))
    for place, entry in _credentials(hidden):
        entry["value"] = mark if values.get(place, entry["value"]) != entry["value"] else HIDDEN
    return hidden


def _credentials(jobset: Object) -> Iterator[tuple[tuple[str, str, str], Tree]]:
    """The variables that have a value and look like a credential, by replicated job, container and name."""
    for job, template in _templates(jobset):
        spec = template.get("spec") or {}
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            for entry in container.get("env") or ():
                if entry.get("value") and looks_secret(entry["name"]):
                    yield (job, container["name"], entry["name"]), entry


def _sorted(value: Any) -> Any:
    """The tree with the keys of each object in order, whoever wrote it; without those that are null."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value) if value[key] is not None}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
