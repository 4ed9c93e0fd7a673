"""What the API server refuses in metadata, of objects and of templates.

Texts: k8s.io/apimachinery 0.37, pkg/api/validation/objectmeta.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlaunch.local.kube import Object
from xlaunch.local.names import label_key, label_value
from xlaunch.local.objects import FOREGROUND, ORPHAN
from xlaunch.local.problems import Problem, invalid, required, too_long

_MOST_ANNOTATIONS = 256 * 1024  # bytes


def check(metadata: Mapping[str, Any], *, custom: bool) -> Iterator[Problem]:
    """Everything but the name. The finalizers of custom objects need no domain."""
    yield from check_labels(metadata.get("labels", {}), "metadata.labels")
    yield from check_annotations(metadata.get("annotations", {}), "metadata.annotations")
    yield from _check_owners(metadata.get("ownerReferences", []))
    yield from _check_finalizers(metadata.get("finalizers", []), custom=custom)


def check_labels(labels: Mapping[str, str], path: str) -> Iterator[Problem]:
    """Label keys and values, also those of node selectors."""
    for key in labels:
        yield from (invalid(path, key, problem) for problem in label_key(key))
    for value in dict.fromkeys(labels.values()):
        yield from (invalid(path, value, problem) for problem in label_value(value))


def check_annotations(annotations: Mapping[str, str], path: str) -> Iterator[Problem]:
    """Annotation keys, whose case does not matter, and the size of all of them."""
    for key in annotations:
        yield from (invalid(path, key, problem) for problem in label_key(key.lower()))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _MOST_ANNOTATIONS:
        yield too_long(path, _MOST_ANNOTATIONS)


def _check_owners(owners: Sequence[Object]) -> Iterator[Problem]:
    path, controller = "metadata.ownerReferences", ""
    for index, owner in enumerate(owners):
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                yield required(f"{path}[{index}].{key}", "must not be empty")
        if owner.get("controller") and controller:
            text = 'Only one reference can have Controller set to true. Found "true" in references for '
            yield invalid(path, owners, f"{text}{controller} and {owner['kind']}/{owner['name']}")
        elif owner.get("controller"):
            controller = f"{owner.get('kind')}/{owner.get('name')}"


def _check_finalizers(finalizers: Sequence[str], *, custom: bool) -> Iterator[Problem]:
    for index, each in enumerate(finalizers):
        yield from (invalid("metadata.finalizers", each, problem) for problem in label_key(each))
        if "/" not in each and each not in (FOREGROUND, ORPHAN, "kubernetes") and not custom:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", each, text)
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        text = f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set"
        yield invalid("metadata.finalizers", list(finalizers), text)


def check_new_finalizers(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[Problem]:
    """None may be added to an object that is being deleted."""
    more = set(new.get("finalizers", [])) - set(old.get("finalizers", []))
    if "deletionTimestamp" in old and more:
        listed = ", ".join(f'"{each}"' for each in sorted(more))
        text = "no new finalizers can be added if the object is being deleted, found new finalizers []string"
        yield Problem("FieldValueForbidden", "metadata.finalizers", f"Forbidden: {text}{{{listed}}}")
