"""The fields of a JobSet: which there are and what they hold, so that a slip in a template is found here and not later.

JobSet v0.12 api/jobset/v1alpha2/jobset_types.go, k8s.io/api v0.36 batch/v1 and core/v1. Parts of a pod that templates
rarely touch are not looked into (ANY).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TEXT, INT, BOOL, ANY = "text", "an integer", "true or false", "anything"
TEXTS = "a mapping from text to text"
AMOUNTS = "a mapping from text to quantities"
Shape = Any  # one of the words above, [item] for a list, or a mapping of fields

_METADATA = {
    **dict.fromkeys(("name", "namespace", "generateName"), TEXT),
    **dict.fromkeys(("labels", "annotations"), TEXTS),
    "finalizers": [TEXT],
    "ownerReferences": ANY,
}
_CLAIM = {"apiVersion": TEXT, "kind": TEXT, "metadata": _METADATA, "spec": ANY, "status": ANY}
_KEY_REFERENCE = {"name": TEXT, "key": TEXT, "optional": BOOL}
_FIELD_REFERENCE = {"fieldPath": TEXT, "apiVersion": TEXT}
_ENV = {
    "name": TEXT,
    "value": TEXT,
    "valueFrom": {
        "fieldRef": _FIELD_REFERENCE,
        "secretKeyRef": _KEY_REFERENCE,
        "configMapKeyRef": _KEY_REFERENCE,
        "resourceFieldRef": ANY,
        "fileKeyRef": ANY,
    },
}
_CONTAINER = {
    **dict.fromkeys(("name", "image", "imagePullPolicy", "workingDir", "restartPolicy"), TEXT),
    **dict.fromkeys(("terminationMessagePath", "terminationMessagePolicy"), TEXT),
    "command": [TEXT],
    "args": [TEXT],
    "env": [_ENV],
    "envFrom": ANY,
    "ports": [{"containerPort": INT, "hostPort": INT, "name": TEXT, "protocol": TEXT, "hostIP": TEXT}],
    "resources": {"limits": AMOUNTS, "requests": AMOUNTS, "claims": ANY},
    "volumeMounts": [
        {
            **dict.fromkeys(("name", "mountPath", "subPath", "subPathExpr"), TEXT),
            **dict.fromkeys(("mountPropagation", "recursiveReadOnly"), TEXT),
            "readOnly": BOOL,
        }
    ],
    **dict.fromkeys(("volumeDevices", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"), ANY),
    **dict.fromkeys(("securityContext", "resizePolicy", "restartPolicyRules"), ANY),
    **dict.fromkeys(("stdin", "stdinOnce", "tty"), BOOL),
}
_TOLERATION = {**dict.fromkeys(("key", "operator", "value", "effect"), TEXT), "tolerationSeconds": INT}
_POD = {
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    **dict.fromkeys(("restartPolicy", "dnsPolicy", "serviceAccountName", "serviceAccount", "nodeName"), TEXT),
    **dict.fromkeys(("priorityClassName", "schedulerName", "runtimeClassName", "hostname", "subdomain"), TEXT),
    **dict.fromkeys(("preemptionPolicy", "hostnameOverride"), TEXT),
    **dict.fromkeys(("terminationGracePeriodSeconds", "activeDeadlineSeconds", "priority"), INT),
    **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace"), BOOL),
    **dict.fromkeys(("automountServiceAccountToken", "enableServiceLinks", "setHostnameAsFQDN"), BOOL),
    "nodeSelector": TEXTS,
    "tolerations": [_TOLERATION],
    "imagePullSecrets": [{"name": TEXT}],
    "overhead": AMOUNTS,
    "volumes": [ANY],
    **dict.fromkeys(("affinity", "securityContext", "hostAliases", "dnsConfig", "readinessGates"), ANY),
    **dict.fromkeys(("topologySpreadConstraints", "schedulingGates", "resourceClaims", "resources", "os"), ANY),
    "ephemeralContainers": ANY,
}
_JOB = {
    **dict.fromkeys(("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"), INT),
    **dict.fromkeys(("backoffLimitPerIndex", "maxFailedIndexes", "ttlSecondsAfterFinished"), INT),
    **dict.fromkeys(("completionMode", "podReplacementPolicy", "managedBy"), TEXT),
    **dict.fromkeys(("suspend", "manualSelector"), BOOL),
    **dict.fromkeys(("selector", "successPolicy"), ANY),
    "podFailurePolicy": {"rules": ANY},
    "template": {"metadata": _METADATA, "spec": _POD},
}
_RULE = {
    **dict.fromkeys(("name", "action"), TEXT),
    "onJobFailureReasons": [TEXT],
    "onJobFailureMessagePatterns": [TEXT],
    "targetReplicatedJobs": [TEXT],
}
JOBSET: dict[str, Shape] = {
    **dict.fromkeys(("apiVersion", "kind"), TEXT),
    "metadata": _METADATA,
    "spec": {
        "replicatedJobs": [
            {
                **dict.fromkeys(("name", "groupName"), TEXT),
                "replicas": INT,
                "template": {"metadata": _METADATA, "spec": _JOB},
                "dependsOn": [{"name": TEXT, "status": TEXT}],
            }
        ],
        "network": {**dict.fromkeys(("enableDNSHostnames", "publishNotReadyAddresses"), BOOL), "subdomain": TEXT},
        "successPolicy": {"operator": TEXT, "targetReplicatedJobs": [TEXT]},
        "failurePolicy": {"maxRestarts": INT, "restartStrategy": TEXT, "rules": [_RULE]},
        "startupPolicy": {"startupPolicyOrder": TEXT},
        "suspend": BOOL,
        "coordinator": {"replicatedJob": TEXT, "jobIndex": INT, "podIndex": INT},
        "managedBy": TEXT,
        "ttlSecondsAfterFinished": INT,
        "volumeClaimPolicies": [{"templates": [_CLAIM], "retentionPolicy": ANY}],
    },
}
_TYPES: dict[str, tuple[type, ...]] = {TEXT: (str,), INT: (int,)}


def problems(value: Any, shape: Shape = JOBSET, path: str = "") -> Iterator[str]:
    """A sentence for each field that does not exist or holds something else. null counts as absent."""
    if value is None or shape == ANY:
        return
    if isinstance(shape, Mapping):
        yield from _object_problems(value, shape, path)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{path} is not a list"
            return
        for index, item in enumerate(value):
            if item is None:
                yield f"{path}[{index}] is empty"
            yield from problems(item, shape[0], f"{path}[{index}]")
    elif not _holds(value, shape):
        # A variable's value may be a password, also as a number
        yield f"{path} is not {shape}" + ("" if path.endswith(".value") else f" ({str(value)[:60]!r})")


def _object_problems(value: Any, fields: Mapping[str, Shape], path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'the manifest'} is not a mapping"
        return
    for key, inner in value.items():
        place = f"{path}.{key}".lstrip(".")
        if key not in fields:
            yield f"{place} is not a field"
        else:
            yield from problems(inner, fields[key], place)


def _holds(value: Any, shape: str) -> bool:
    if shape == BOOL:
        return isinstance(value, bool)
    if shape in (TEXTS, AMOUNTS):
        wanted = (str,) if shape == TEXTS else (str, int, float)
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and isinstance(held, wanted) and not isinstance(held, bool)
            for key, held in value.items()
        )
    return isinstance(value, _TYPES[shape]) and not isinstance(value, bool)
