"""What the API server fills in: defaults of fields and the parts of a new object that are not the client's to choose.

Sources: kubernetes v1.37, pkg/apis/{core,batch}/v1/defaults.go, and the Prepare… methods of the registry strategies.
Each function takes a new object that it may change.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from xlaunch.local.kube import Object
from xlaunch.local.objects import containers_of

_NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def _fill(target: Object, **values: Any) -> None:
    for key, value in values.items():
        target.setdefault(key, value)


def pod_spec(spec: Object, *, host_ports: bool = False) -> None:
    """Defaults of a pod or a pod template; a pod on the host's network (not its template) gets its host ports."""
    _fill(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        securityContext={},
        schedulerName="default-scheduler",
    )
    for container in containers_of(spec):
        _container(container, host_ports=host_ports and spec.get("hostNetwork", False))
    for volume in spec.get("volumes", []):
        if set(volume) == {"name"}:
            volume["emptyDir"] = {}
        if "hostPath" in volume:
            _fill(volume["hostPath"], type="")
        for source in ("configMap", "secret", "projected", "downwardAPI"):
            if source in volume:
                _fill(volume[source], defaultMode=0o644)
    if account := spec.get("serviceAccountName"):
        _fill(spec, serviceAccount=account)
    elif account := spec.get("serviceAccount"):
        spec["serviceAccountName"] = account


def _container(container: Object, *, host_ports: bool) -> None:
    image = container.get("image", "")
    latest = bool(image) and (":" not in image.rsplit("/", 1)[-1] or image.endswith(":latest"))
    _fill(
        container,
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy="Always" if latest and "@" not in image else "IfNotPresent",
    )
    for port in container.get("ports", []):
        if host_ports and "containerPort" in port:
            _fill(port, hostPort=port["containerPort"])
    for variable in container.get("env", []):
        if reference := variable.get("valueFrom", {}).get("fieldRef"):
            _fill(reference, apiVersion="v1")
    limits = container["resources"].get("limits", {})
    if limits:
        requests = container["resources"].setdefault("requests", {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(name):
            _fill(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            if get := probe.get("httpGet"):
                _fill(get, path="/", scheme="HTTP")


def pod(new: Object) -> None:
    """A pod: its template's defaults, and what admission adds to every pod (service account, tolerations)."""
    spec = new.setdefault("spec", {})
    pod_spec(spec, host_ports=True)
    _fill(spec, enableServiceLinks=True, serviceAccountName="default")
    _fill(spec, serviceAccount=spec["serviceAccountName"])
    tolerated = {
        each.get("key") for each in spec.get("tolerations", []) if each.get("effect") in (None, "", "NoExecute")
    }
    for key in _NOT_READY:
        if key not in tolerated and None not in tolerated:
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            spec["tolerations"] = [*spec.get("tolerations", []), toleration]


def new_pod(new: Object) -> None:
    """A pod that is being created: Pending, whatever the client says."""
    spec = new["spec"]
    # Pods from before there was a rule may have such a grace period
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    new["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
    if spec.get("schedulingGates"):
        text = "Scheduling is blocked due to non-empty scheduling gates"
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": text}
        new["status"]["conditions"] = [{**gated, "lastTransitionTime": new["metadata"]["creationTimestamp"]}]


def qos_class(spec: Mapping[str, Any]) -> str:
    """Guaranteed, Burstable or BestEffort (pkg/apis/core/v1/helper/qos/qos.go), by cpu and memory alone."""
    amounts = [
        {kind: container.get("resources", {}).get(kind, {}) for kind in ("requests", "limits")}
        for container in containers_of(spec)
    ]
    named = [each[kind][name] for each in amounts for kind in each for name in ("cpu", "memory") if name in each[kind]]
    if not named:
        return "BestEffort"
    full = all(
        name in each["limits"] and each["requests"].get(name, each["limits"][name]) == each["limits"][name]
        for each in amounts
        for name in ("cpu", "memory")
    )
    return "Guaranteed" if full else "Burstable"


def job(new: Object) -> None:
    """A Job and its pod template."""
    spec = new.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        _fill(spec, completions=1)
    _fill(spec, parallelism=1, completionMode="NonIndexed", suspend=False, manualSelector=False)
    _fill(spec, backoffLimit=2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    _fill(spec, podReplacementPolicy="Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    for rule in spec.get("podFailurePolicy", {}).get("rules", []):
        for pattern in rule.get("onPodConditions", []):
            _fill(pattern, status="True")
    template = spec.setdefault("template", {})
    pod_spec(template.setdefault("spec", {}))
    if not new["metadata"].get("labels") and (labels := template.get("metadata", {}).get("labels")):
        new["metadata"]["labels"] = labels  # the very map, as upstream: what is added to one is in both


def new_job(new: Object) -> None:
    """A Job that is being created: its selector is its uid, and its pods carry it."""
    metadata, spec = new["metadata"], new["spec"]
    if not spec["manualSelector"]:
        uid, name = metadata["uid"], metadata["name"]
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": name,
            "controller-uid": uid,
            "job-name": name,
        }
        selector = spec.setdefault("selector", {}).setdefault("matchLabels", {})
        selector.setdefault("batch.kubernetes.io/controller-uid", uid)
        # What a client has set against it is refused afterwards
        template = spec["template"].setdefault("metadata", {})
        _fill(template.setdefault("labels", {}), **labels)
    new["status"] = {}


def service(new: Object) -> None:
    """A headless Service; any other is refused, because nothing here would forward from its cluster IP."""
    spec = new.setdefault("spec", {})
    _fill(spec, type="ClusterIP", sessionAffinity="None", internalTrafficPolicy="Cluster")
    # Whoever maintains the endpoints of a headless Service without selector may give it both families
    if spec.get("selector"):
        _fill(spec, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
    else:
        _fill(spec, ipFamilies=["IPv4", "IPv6"], ipFamilyPolicy="RequireDualStack")
    if "clusterIP" in spec:
        _fill(spec, clusterIPs=[spec["clusterIP"]])
    for port in spec.get("ports", []):
        if "port" in port:
            _fill(port, targetPort=port["port"])
    _fill(new, status={"loadBalancer": {}})


def namespace(new: Object) -> None:
    """A Namespace: labelled with its name, kept by the finalizer of the namespace controller."""
    labels = new["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = new["metadata"]["name"]


def new_namespace(new: Object) -> None:
    """A Namespace that is being created."""
    new["spec"] = {"finalizers": ["kubernetes"]}
    new["status"] = {"phase": "Active"}


def secret(new: Object) -> None:
    """A Secret: `stringData` becomes `data`."""
    _fill(new, type="Opaque")
    if texts := new.pop("stringData", None):
        encoded = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
        new["data"] = {**new.get("data", {}), **encoded}


def node(new: Object) -> None:
    """A Node."""
    _fill(new, spec={}, status={})


DEFAULTS: Mapping[str, Callable[[Object], None]] = {
    "pods": pod,
    "jobs": job,
    "services": service,
    "namespaces": namespace,
    "secrets": secret,
    "nodes": node,
}
ON_CREATE: Mapping[str, Callable[[Object], None]] = {"pods": new_pod, "jobs": new_job, "namespaces": new_namespace}
