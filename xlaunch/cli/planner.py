"""The plans of one command line: of what is asked for, or of a variant of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.cli import files
from xlaunch.core.manifest import make_plan
from xlaunch.core.plan import Plan
from xlaunch.core.spec import PathwaysSpec


@dataclass(frozen=True)
class Planner:
    """`template` and `patch` are those of `make_plan`, `manifest_file` where the plan that is taken is kept, or ""."""

    template: str
    patch: Mapping[str, Any] | None
    manifest_file: str

    def make(self, spec: PathwaysSpec) -> Plan:
        """The plan of a variant. Raises UsageError."""
        return make_plan(spec, self.template, self.patch)

    def keep(self, plan: Plan) -> None:
        """Writes the manifest of the plan that is taken where --output-manifest-file says."""
        if self.manifest_file:
            files.write("--output-manifest-file", self.manifest_file, plan.text)
