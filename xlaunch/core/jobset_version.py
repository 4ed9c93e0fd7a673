"""Which JobSet a cluster runs, where nobody has written it down: by the fields of its schema, or by what it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Object = Mapping[str, Any]

# The first release that has a field, newest first (JobSet v0.6 to v0.12, jobset.x-k8s.io_jobsets.yaml)
FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("0.12", ("status", "replicatedJobsStatus", "jobRestarts")),
    ("0.11", ("spec", "volumeClaimPolicies")),
    ("0.10", ("spec", "failurePolicy", "rules", "onJobFailureMessagePatterns")),
    ("0.9", ("spec", "replicatedJobs", "groupName")),
    ("0.8", ("spec", "replicatedJobs", "dependsOn")),
    ("0.7", ("spec", "failurePolicy", "restartStrategy")),
    ("0.6", ("spec", "coordinator")),
)
OLDEST = "0.5"
WEBHOOK = "vjobset.kb.io"


@dataclass(frozen=True)
class JobSetVersion:
    """`version` is what an image or a label says ("v0.12.0"), or the minor release ("0.12"); "" where none is known.

    `bound` says that the minor release is a bound. `source` is how it is known, "" for a version that is not.
    """

    version: str = ""
    source: Literal["", "image", "label", "schema", "webhook"] = ""
    bound: Literal["", "or later", "or older"] = ""

    def __str__(self) -> str:
        """In words: "0.12 or later"."""
        return f"{self.version} {self.bound}".rstrip()

    def is_before(self, major: int, minor: int) -> bool:
        """Whether it is known to be older than that release."""
        found = re.match(r"v?(\d+)\.(\d+)", self.version)
        return found is not None and (int(found[1]), int(found[2])) < (major, minor)


def by_schema(schema: Object) -> JobSetVersion:
    """From the OpenAPI schema of a JobSet, as its CRD or the API server publishes it."""
    for index, (release, path) in enumerate(FIELDS):
        if _has(schema, path):
            return JobSetVersion(release, "schema", "" if index else "or later")
    return JobSetVersion(OLDEST, "schema", "or older")


def _has(schema: Object, path: tuple[str, ...]) -> bool:
    node: Any = schema
    for name in path:
        node = (node.get("properties") or {}).get(name)
        if node is None:
            return False
        node = node.get("items") or node
    return True


def probe() -> dict[str, Any]:
    """A JobSet whose coordinator's address is too long for a label, which releases answer differently in a dry run."""
    name = "xlaunch-asks-for-the-version-of-jobset"
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}}
    job = {"completionMode": "Indexed", "completions": 1, "parallelism": 1, "template": pod}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "replicatedJobs": [{"name": "main", "replicas": 1, "template": {"spec": job}}],
            "coordinator": {"replicatedJob": "main", "jobIndex": 0, "podIndex": 0},
        },
    }


def by_answer(status: int, message: str) -> JobSetVersion:
    """From the HTTP status and message of the answer to `probe`.

    Up to 0.10 it is accepted; 0.11 refuses the label, as Forbidden; since 0.12 refusals are Invalid (JobSet
    pkg/webhooks/jobset_webhook.go, jobset#1079 and #1207).
    """
    if status in (200, 201):
        return JobSetVersion("0.10", "webhook", "or older")
    if WEBHOOK not in message or "invalid label value" not in message:
        return JobSetVersion()
    return JobSetVersion("0.11", "webhook") if status == 403 else JobSetVersion("0.12", "webhook", "or later")
