"""A plan: the manifest that `create` submits, its bytes, and the hash that tells one plan from another."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from xlaunch.core.names import is_label_value
from xlaunch.core.restart_scope import SCOPE_ANNOTATION

Manifest = dict[str, Any]

HASH_ANNOTATION = "xlaunch.dev/plan-hash"
OWNER_KEY = "xlaunch.dev/owner"

# They say who asked and how, not what runs
_NOT_HASHED = (HASH_ANNOTATION, OWNER_KEY, SCOPE_ANNOTATION)

TEXT_TAG = "tag:yaml.org,2002:str"
# What Go's YAML (sigs.k8s.io/yaml) reads as a number, a time or a boolean, though PyYAML would write it plain: 1e3,
# 0o17, -_1, y ...
_NOT_PLAIN = re.compile(r"[-+]?\.?[0-9_][0-9_.:eE+\-TtZz ]*|[-+]?0[xXoObB][0-9a-fA-F_]*|[yYnN]")


@dataclass(frozen=True)
class Plan:
    """What is submitted. `manifest` is the JobSet, `text` the YAML that `--dry-run` prints, `notices` what to tell."""

    name: str
    namespace: str
    manifest: Manifest
    text: str
    hash: str
    notices: tuple[str, ...] = ()


def finished(manifest: Manifest, notices: tuple[str, ...] = ()) -> Plan:
    """A plan out of a checked manifest, which gets the annotation of its hash."""
    manifest = deepcopy(manifest)
    metadata = manifest["metadata"]
    digest = plan_hash(manifest)
    metadata["annotations"] = {**(metadata.get("annotations") or {}), HASH_ANNOTATION: digest}
    return Plan(metadata["name"], metadata.get("namespace", ""), manifest, dump(manifest), digest, notices)


def owned(plan: Plan, owner: str) -> Plan:
    """The plan with the name of who submits it: a label where it can be one, else an annotation.

    The hash stays: it says what runs, not who asked for it. A name that is no UTF-8 is written as far as it is.
    """
    if not owner:
        return plan
    owner = owner.encode(errors="replace").decode()
    manifest = deepcopy(plan.manifest)
    place = "labels" if is_label_value(owner) else "annotations"
    manifest["metadata"].setdefault(place, {})[OWNER_KEY] = owner
    return replace(plan, manifest=manifest, text=dump(manifest))


def plan_hash(manifest: Mapping[str, Any]) -> str:
    """16 hexadecimal digits over the manifest without the hash, the owner, and who chose its restart scope."""
    metadata = dict(manifest["metadata"])
    for place in ("labels", "annotations"):
        metadata[place] = {key: value for key, value in (metadata.get(place) or {}).items() if key not in _NOT_HASHED}
    canonical = json.dumps({**manifest, "metadata": metadata}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def dump(manifest: Mapping[str, Any]) -> str:
    """The manifest as YAML in block style and ASCII; the same manifest gives the same bytes in every locale.

    Every string comes back as it was from PyYAML and from Go's YAML: what either might read as a number, a boolean or
    a line break is quoted.
    """
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
            return True

    Dumper.add_representer(str, _represent_text)
    text: str = yaml.dump(manifest, Dumper=Dumper, sort_keys=False, width=2**31 - 1)
    return text


def _represent_text(dumper: Any, text: str) -> Any:
    style = None
    if _is_block(text):
        style = "|"
    elif not text.isprintable() or _NOT_PLAIN.fullmatch(text) or _resolved(dumper, text) != TEXT_TAG:
        style = '"'
    return dumper.represent_scalar(TEXT_TAG, text, style=style)


def _resolved(dumper: Any, text: str) -> str:
    """What PyYAML reads a text as when it stands without quotes."""
    from yaml import ScalarNode

    tag: str = dumper.resolve(ScalarNode, text, (True, False))
    return tag


def _is_block(text: str) -> bool:
    """Whether a text of several lines can stand as it is: printable, no blanks at the edges of a line."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(lines[0])
        and all(line.isprintable() and line == line.rstrip() for line in lines)
        and not lines[0].startswith(" ")
    )
