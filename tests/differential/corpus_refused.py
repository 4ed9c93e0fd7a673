"""Requests that the embedded server refuses by name, one for each thing that known.py lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from differential.corpus import MERGE, Call, Variation, job, jobset, pod, service, varied
from differential.known import READ_ONLY, RESOURCES

DRY = {"dryRun": "All"}
JOB_OF_SET = "spec.replicatedJobs.1.template.spec"
SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
INDEXED = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 1}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CREATIONS: dict[str, dict[str, Variation]] = {
    "jobsets": {
        "volume claims": {
            "spec.volumeClaimPolicies": [{"templates": [{"metadata": {"name": "data"}, "spec": CLAIM}]}],
        },
        "budget of each index": {f"{JOB_OF_SET}.{key}": value for key, value in INDEXED.items()},
        "spread pods": {f"{JOB_OF_SET}.template.spec.topologySpreadConstraints": SPREAD},
    },
    "jobs": {
        "budget of each index": {f"spec.{key}": value for key, value in INDEXED.items()},
        "failed indexes": {f"spec.{key}": value for key, value in (INDEXED | {"maxFailedIndexes": 1}).items()},
        "success policy": {
            **{f"spec.{key}": value for key, value in INDEXED.items() if key != "backoffLimitPerIndex"},
            "spec.successPolicy": {"rules": [{"succeededCount": 1}]},
        },
        "claims": {"spec.template.spec.resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
    },
    "pods": {
        "claims": {"spec.resourceClaims": [{"name": "c", "resourceClaimName": "c"}]},
        "spread": {"spec.topologySpreadConstraints": SPREAD},
    },
    "services": {
        "cluster IP": {"spec": {"ports": [{"port": 80}]}},
        "external name": {"spec": {"type": "ExternalName", "externalName": "example.com"}},
        "load balancer": {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}},
        "node port": {"spec": {"type": "NodePort", "ports": [{"port": 80}]}},
    },
}
PLAIN = {"jobsets": jobset, "jobs": job, "pods": pod, "services": service}
SUBRESOURCES = (
    Call("", "POST", "pods/waiting/attach", query={"stdout": "true"}),
    Call("", "PATCH", "pods/waiting/ephemeralcontainers", {"spec": {}}, DRY, MERGE),
    Call("", "POST", "pods/waiting/exec", query={"command": "true", "stdout": "true"}),
    Call("", "POST", "pods/waiting/portforward"),
    Call("", "GET", "pods/waiting/proxy"),
    Call("", "PATCH", "pods/waiting/resize", {"spec": {}}, DRY, MERGE),
    Call("", "POST", "serviceaccounts/default/token", {"spec": {"audiences": ["a"]}}, DRY),
    Call("", "GET", "services/plain/proxy"),
    Call("", "GET", "pods/waiting/log", query={"stream": "Stdout"}),
)
KINDS = {"limitranges": ("LimitRange", {"limits": []}), "resourcequotas": ("ResourceQuota", {"hard": {"pods": "1"}})}


def refused_creations() -> list[tuple[str, Call]]:
    """Objects with what the embedded cluster does not have, with their resources."""
    return [
        (plural, Call(f"create {plural}: {name}", "POST", plural, varied(PLAIN[plural](), variation), DRY))
        for plural, variations in CREATIONS.items()
        for name, variation in variations.items()
    ]


def refused() -> list[Call]:
    """All such requests; those to objects that exist are to those of corpus_changes."""
    return [
        *(call for _, call in refused_creations()),
        *(replace(each, name=f"{each.method} {each.path}") for each in SUBRESOURCES),
        *(Call(f"list {plural}", "GET", plural) for plural in RESOURCES),
        *(Call(f"create {plural}", "POST", plural, _limit(plural), DRY) for plural in READ_ONLY),
    ]


def _limit(plural: str) -> dict[str, Any]:
    kind, spec = KINDS[plural]
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "limit"}, "spec": spec}
