"""Volumes that JobSet itself adds to pods: claims that all replicated jobs share (spec.volumeClaimPolicies, 0.11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def claims(jobset: str, spec: Mapping[str, Any]) -> dict[str, str]:
    """The names of the PersistentVolumeClaims by those of their volumes.

    JobSet v0.12 pkg/controllers/volume_claim_policy.go GeneratePVCName. `jobset` is the JobSet's name.
    """
    templates = [
        template for policy in spec.get("volumeClaimPolicies") or () for template in policy.get("templates") or ()
    ]
    volumes = [(template.get("metadata") or {}).get("name") or "" for template in templates]
    return {volume: f"{volume}-{jobset}" for volume in volumes}
