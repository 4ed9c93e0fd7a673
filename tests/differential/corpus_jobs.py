"""Variations of Jobs and pods for the corpus of requests."""

from __future__ import annotations

from differential.corpus import CONTAINER, GONE, Variation

POD_OF_JOB = "spec.template.spec"
FAIL_ON_3 = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}

METADATA: dict[str, Variation] = {
    "no name": {"metadata.name": GONE},
    "upper case": {"metadata.name": "Plain"},
    "dots": {"metadata.name": "pl.ain"},
    "64 characters": {"metadata.name": "x" * 64},
    "254 characters": {"metadata.name": "x" * 254},
    "generateName": {"metadata.name": GONE, "metadata.generateName": "some-"},
    "bad label value": {"metadata.labels.a": "-x-"},
    "bad label key": {"metadata.labels.a b": "x"},
    "label too long": {"metadata.labels.a": "x" * 64},
    "bad annotation key": {"metadata.annotations.a b": "x"},
    "label a number": {"metadata.labels.a": 1},
    "finalizer": {"metadata.finalizers": ["example.com/hold"]},
    "finalizer without domain": {"metadata.finalizers": ["mine"]},
    "owner without uid": {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x"}]},
    "unknown field": {"spec.fancy": 1},
    "wrong kind": {"kind": "Deployment"},
    "no spec": {"spec": GONE},
}
JOBS: dict[str, Variation] = {
    **METADATA,
    "indexed": {"spec.completionMode": "Indexed", "spec.completions": 2, "spec.parallelism": 2},
    "indexed without completions": {"spec.completionMode": "Indexed"},
    "indexed, long name": {"metadata.name": "x" * 62, "spec.completionMode": "Indexed", "spec.completions": 1},
    "indexed, too long name": {"metadata.name": "x" * 63, "spec.completionMode": "Indexed", "spec.completions": 1},
    "mode word": {"spec.completionMode": "Sometimes"},
    "parallelism negative": {"spec.parallelism": -1},
    "completions negative": {"spec.completions": -1},
    "parallelism alone": {"spec.parallelism": 3},
    "backoff negative": {"spec.backoffLimit": -1},
    "backoff a word": {"spec.backoffLimit": "six"},
    "backoff beyond int32": {"spec.backoffLimit": 2**40},
    "ttl negative": {"spec.ttlSecondsAfterFinished": -1},
    "deadline 0": {"spec.activeDeadlineSeconds": 0},
    "deadline negative": {"spec.activeDeadlineSeconds": -1},
    "replacement failed": {"spec.podReplacementPolicy": "Failed"},
    "replacement word": {"spec.podReplacementPolicy": "Later"},
    "managedBy": {"spec.managedBy": "example.com/controller"},
    "managedBy word": {"spec.managedBy": "nobody"},
    "manual selector": {"spec.manualSelector": True},
    "selector given": {"spec.selector": {"matchLabels": {"a": "b"}}},
    "manual selector with labels": {
        "spec.manualSelector": True,
        "spec.selector": {"matchLabels": {"a": "b"}},
        "spec.template.metadata.labels": {"a": "b"},
    },
    "pod failure policy": {"spec.podFailurePolicy": {"rules": [FAIL_ON_3]}},
    "pod failure policy, restarts": {
        "spec.podFailurePolicy": {"rules": [FAIL_ON_3]},
        f"{POD_OF_JOB}.restartPolicy": "OnFailure",
    },
    "pod failure policy, replacement": {
        "spec.podFailurePolicy": {"rules": [FAIL_ON_3]},
        "spec.podReplacementPolicy": "TerminatingOrFailed",
    },
    "pod failure policy, empty": {"spec.podFailurePolicy": {"rules": []}},
    "pod failure policy, code 0": {
        "spec.podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}]}
    },
    "pod failure policy, wrong action": {"spec.podFailurePolicy": {"rules": [FAIL_ON_3 | {"action": "Explode"}]}},
    "pod failure policy, conditions": {
        "spec.podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}],
        }
    },
    "pod failure policy, no rule": {"spec.podFailurePolicy": {"rules": [{"action": "FailJob"}]}},
    "restart always": {f"{POD_OF_JOB}.restartPolicy": "Always"},
    "no restart policy": {f"{POD_OF_JOB}.restartPolicy": GONE},
    "no template": {"spec.template": GONE},
    "no containers": {f"{POD_OF_JOB}.containers": []},
    "container without image": {f"{POD_OF_JOB}.containers": [{"name": "x"}]},
    "unknown volume": {f"{POD_OF_JOB}.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    "template labels": {"spec.template.metadata.labels": {"a": "-b-"}},
    "template annotations": {"spec.template.metadata.annotations": {"a b": "c"}},
    "host network": {f"{POD_OF_JOB}.hostNetwork": True, f"{POD_OF_JOB}.containers.0.ports": [{"containerPort": 8471}]},
    "spec null": {"spec": None},
    "suspend a word": {"spec.suspend": "yes"},
}
PODS: dict[str, Variation] = {
    **METADATA,
    "no containers": {"spec.containers": GONE},
    "empty containers": {"spec.containers": []},
    "containers null": {"spec.containers": None},
    "container without name": {"spec.containers": [{"image": "x"}]},
    "container without image": {"spec.containers": [{"name": "x"}]},
    "container with bad name": {"spec.containers": [{"name": "X_", "image": "x"}]},
    "container name too long": {"spec.containers": [{"name": "x" * 64, "image": "x"}]},
    "containers of one name": {"spec.containers": [CONTAINER, CONTAINER]},
    "init of the same name": {"spec.initContainers": [CONTAINER]},
    "sidecar": {"spec.initContainers": [CONTAINER | {"name": "side", "restartPolicy": "Always"}]},
    "sidecar word": {"spec.initContainers": [CONTAINER | {"name": "side", "restartPolicy": "Sometimes"}]},
    "image latest": {"spec.containers.0.image": "busybox"},
    "image with spaces": {"spec.containers.0.image": " busybox "},
    "image by digest": {"spec.containers.0.image": "busybox@sha256:" + "a" * 64},
    "pull policy word": {"spec.containers.0.imagePullPolicy": "Sometimes"},
    "restart word": {"spec.restartPolicy": "Sometimes"},
    "restart never": {"spec.restartPolicy": "Never"},
    "dns word": {"spec.dnsPolicy": "Mine"},
    "grace negative": {"spec.terminationGracePeriodSeconds": -1},
    "grace zero": {"spec.terminationGracePeriodSeconds": 0},
    "deadline 0": {"spec.activeDeadlineSeconds": 0},
    "deadline beyond int32": {"spec.activeDeadlineSeconds": 2**31},
    "env": {"spec.containers.0.env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
    "env without name": {"spec.containers.0.env": [{"value": "1"}]},
    "env with equals": {"spec.containers.0.env": [{"name": "A=B", "value": "1"}]},
    "env with spaces": {"spec.containers.0.env": [{"name": "A B", "value": "1"}]},
    "env not ascii": {"spec.containers.0.env": [{"name": "Ä", "value": "1"}]},
    "env number": {"spec.containers.0.env": [{"name": "A", "value": 1}]},
    "env both": {
        "spec.containers.0.env": [
            {"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
        ]
    },
    "env from field": {
        "spec.containers.0.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    },
    "env from wrong field": {
        "spec.containers.0.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.fancy"}}}]
    },
    "env from nothing": {"spec.containers.0.env": [{"name": "A", "valueFrom": {}}]},
    "env from secret": {
        "spec.containers.0.env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
    },
    "env from secret without key": {
        "spec.containers.0.env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}}]
    },
    "port 0": {"spec.containers.0.ports": [{"containerPort": 0}]},
    "port too large": {"spec.containers.0.ports": [{"containerPort": 65536}]},
    "port with name": {"spec.containers.0.ports": [{"containerPort": 1, "name": "http"}]},
    "port with bad name": {"spec.containers.0.ports": [{"containerPort": 1, "name": "HTTP"}]},
    "port with long name": {"spec.containers.0.ports": [{"containerPort": 1, "name": "a-very-long-port-name"}]},
    "ports of one name": {
        "spec.containers.0.ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]
    },
    "port protocol": {"spec.containers.0.ports": [{"containerPort": 1, "protocol": "SMTP"}]},
    "host port": {"spec.containers.0.ports": [{"containerPort": 1, "hostPort": 70000}]},
    "host ports twice": {
        "spec.containers.0.ports": [{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]
    },
    "host network": {"spec.hostNetwork": True, "spec.containers.0.ports": [{"containerPort": 8471}]},
    "host network, other port": {
        "spec.hostNetwork": True,
        "spec.containers.0.ports": [{"containerPort": 8471, "hostPort": 8472}],
    },
    "tpu": {"spec.containers.0.resources.limits": {"google.com/tpu": 4}},
    "tpu fraction": {"spec.containers.0.resources.limits": {"google.com/tpu": "0.5"}},
    "tpu request alone": {"spec.containers.0.resources.requests": {"google.com/tpu": "4"}},
    "tpu request and limit": {
        "spec.containers.0.resources": {"requests": {"google.com/tpu": "2"}, "limits": {"google.com/tpu": "4"}}
    },
    "memory": {"spec.containers.0.resources": {"requests": {"memory": "1.5Gi", "cpu": 0.1}, "limits": {"cpu": "100m"}}},
    "request over limit": {"spec.containers.0.resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}},
    "guaranteed": {"spec.containers.0.resources.limits": {"cpu": "1", "memory": "1000Mi"}},
    "bad quantity": {"spec.containers.0.resources.limits": {"memory": "much"}},
    "negative quantity": {"spec.containers.0.resources.limits": {"memory": "-1"}},
    "unknown resource": {"spec.containers.0.resources.limits": {"fancy": "1"}},
    "toleration": {"spec.tolerations": [{"key": "a", "operator": "Exists"}]},
    "toleration for all": {"spec.tolerations": [{"operator": "Exists"}]},
    "toleration wrong": {"spec.tolerations": [{"key": "a", "operator": "Sometimes"}]},
    "toleration with value": {"spec.tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
    "toleration without key": {"spec.tolerations": [{"value": "b"}]},
    "toleration with seconds": {"spec.tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}]},
    "toleration with effect word": {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "Maybe"}]},
    "toleration with bad key": {"spec.tolerations": [{"key": "a b", "operator": "Exists"}]},
    "own tolerations": {
        "spec.tolerations": [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
            for key in ("not-ready", "unreachable")
        ]
    },
    "volume": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        "spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}],
    },
    "volume without source": {"spec.volumes": [{"name": "v"}]},
    "volume with two sources": {"spec.volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]},
    "volume host path": {"spec.volumes": [{"name": "v", "hostPath": {"path": "/x"}}]},
    "volume host path without path": {"spec.volumes": [{"name": "v", "hostPath": {}}]},
    "volume config map": {"spec.volumes": [{"name": "v", "configMap": {"name": "c"}}]},
    "volume secret without name": {"spec.volumes": [{"name": "v", "secret": {}}]},
    "volume memory": {"spec.volumes": [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]},
    "volume bad name": {"spec.volumes": [{"name": "V_", "emptyDir": {}}]},
    "volume twice": {"spec.volumes": [{"name": "v", "emptyDir": {}}] * 2},
    "unknown volume": {"spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}]},
    "mount without path": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        "spec.containers.0.volumeMounts": [{"name": "v"}],
    },
    "mounts at one path": {
        "spec.volumes": [{"name": "v", "emptyDir": {}}],
        "spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}],
    },
    "node selector": {"spec.nodeSelector": {"a": "b"}},
    "bad node selector": {"spec.nodeSelector": {"a": "-b-", "c d": "e"}},
    "hostname": {"spec.hostname": "host", "spec.subdomain": "sub"},
    "bad hostname": {"spec.hostname": "Host_"},
    "bad subdomain": {"spec.subdomain": "Sub_"},
    "service account": {"spec.serviceAccountName": "nobody"},
    "bad service account": {"spec.serviceAccountName": "No body"},
    "priority class": {"spec.priorityClassName": "system-node-critical"},
    "no such priority class": {"spec.priorityClassName": "urgent"},
    "priority": {"spec.priority": 5},
    "scheduler": {"spec.schedulerName": "mine"},
    "gate": {"spec.schedulingGates": [{"name": "example.com/gate"}]},
    "gate without domain": {"spec.schedulingGates": [{"name": "gate!"}]},
    "node name": {"spec.nodeName": "nowhere"},
    "affinity": {
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
        ]
    },
    "affinity operator": {
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
        ]
    },
    "affinity without terms": {
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": []
    },
    "anti-affinity without key": {
        "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]
    },
    "probe": {"spec.containers.0.livenessProbe": {"httpGet": {"port": 80}}},
    "probe without handler": {"spec.containers.0.livenessProbe": {"periodSeconds": 3}},
    "status given": {"status": {"phase": "Running"}},
    "security context": {"spec.containers.0.securityContext": {"privileged": True}},
    "command a word": {"spec.containers.0.command": "sleep"},
    "termination policy word": {"spec.containers.0.terminationMessagePolicy": "Mail"},
}
OTHERS: dict[str, dict[str, Variation]] = {
    "services": {
        "no name": {"metadata.name": GONE},
        "dots": {"metadata.name": "a.b"},
        "digit first": {"metadata.name": "1a"},
        "no ports": {"spec.ports": GONE},
        "port 0": {"spec.ports": [{"port": 0}]},
        "two ports without names": {"spec.ports": [{"port": 1}, {"port": 2}]},
        "two ports": {"spec.ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]},
        "ports of one name": {"spec.ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]},
        "bad port name": {"spec.ports": [{"port": 1, "name": "A_"}]},
        "target port": {"spec.ports": [{"port": 1, "targetPort": "http"}]},
        "selector": {"spec.selector": {"a": "b"}},
        "bad selector": {"spec.selector": {"a": "-b-"}},
        "not ready addresses": {"spec.publishNotReadyAddresses": True},
        "affinity word": {"spec.sessionAffinity": "Maybe"},
        "type word": {"spec.type": "Fancy"},
    },
    "configmaps": {
        "no name": {"metadata.name": GONE},
        "upper case": {"metadata.name": "Plain"},
        "no data": {"data": GONE},
        "bad key": {"data": {"a b": "c"}},
        "key too long": {"data": {"k" * 254: "v"}},
        "value a number": {"data": {"a": 1}},
        "binary": {"binaryData": {"a": "AAEC"}},
        "key in both": {"binaryData": {"key": "AAEC"}},
        "binary not base64": {"binaryData": {"a": "?"}},
        "immutable": {"immutable": True},
        "unknown field": {"fancy": 1},
    },
}
