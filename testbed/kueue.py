"""Kueue as a process: its CRDs with their conversion, its configuration, webhooks by URL, and the visibility API."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from testbed import webhooks
from testbed.build import Build
from testbed.instance import Command, Instance
from testbed.jobset import serve_with
from testbed.processes import LOOPBACK, answers, listens
from xlaunch.cluster.api import ApiError

PORTS = ("kueue-webhook", "kueue-health", "kueue-visibility")
NAMESPACE = "kueue-system"
VISIBILITY = "visibility.kueue.x-k8s.io"
VISIBILITY_VERSION = "v1beta2"
# Those that upstream's config/components/crd/kustomization.yaml patches with a conversion webhook
CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
# Webhooks of Kueue itself and of the integrations that are on
WEBHOOK_PATHS = ("kueue-x-k8s-io", "-batch-v1-job", "jobset")
FRAMEWORKS = ("batch/job", "jobset.x-k8s.io/jobset")


def install(instance: Instance, build: Build) -> None:
    """Applies the CRDs and returns when they are served."""
    files = sorted(build.file("config/components/crd/bases").glob("*.yaml"))
    url = f"https://{LOOPBACK}:{instance.ports['kueue-webhook']}/convert"
    crds = [
        webhooks.converted_by(each, url, _bundle(instance)) if each["spec"]["names"]["plural"] in CONVERTED else each
        for each in webhooks.documents(*files)
    ]
    webhooks.apply(instance.api, webhooks.CRDS, crds)
    names = [each["metadata"]["name"] for each in crds]
    instance.wait(partial(webhooks.established, instance.api, names), "Kueue's CRDs", "kube-apiserver")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    webhooks.apply(instance.api, "/api/v1/namespaces", [namespace])


def command(instance: Instance, build: Build, more: Mapping[str, object]) -> Command:
    """The controller; `more` is merged into the top level of its configuration."""
    path = instance.directory / "kueue.json"
    certificates = instance.directory / "kueue-certs"
    serve_with(instance.server, certificates)
    serve_with(instance.server, instance.directory / "visibility")
    path.write_text(
        json.dumps({**configuration(instance.ports, str(certificates)), **more}, indent=1), encoding="utf-8"
    )
    argv: list[str | Path] = [build.binary("kueue"), "--config", path, "--kubeconfig", instance.kubeconfig]
    ready = partial(_ready, instance.ports)
    return Command("kueue", argv, ready, before=_with_metrics_certificate(instance))


def configuration(ports: Mapping[str, int], certificates: str) -> dict[str, Any]:
    """Kueue's Configuration (apis/config/v1beta2) with the integrations for Jobs and JobSets."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": LOOPBACK, "port": ports["kueue-webhook"], "certDir": certificates},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{ports['kueue-health']}"},
        "visibilityServer": {"bindAddress": LOOPBACK, "bindPort": ports["kueue-visibility"]},
        "clientConnection": {"qps": 200, "burst": 400},
        "integrations": {"frameworks": list(FRAMEWORKS)},
    }


def admit(instance: Instance, build: Build) -> None:
    """Applies the webhook configurations and the visibility API, and returns when the latter answers."""
    url = f"https://{LOOPBACK}:{instance.ports['kueue-webhook']}"
    found = webhooks.documents(build.file("config/components/webhook/manifests.yaml"))
    webhooks.apply_configurations(
        instance.api, [webhooks.by_url(each, "kueue", url, _bundle(instance), WEBHOOK_PATHS) for each in found]
    )
    service, api_service = visibility(instance.ports["kueue-visibility"])
    webhooks.apply(instance.api, f"/api/v1/namespaces/{NAMESPACE}/services", [service])
    webhooks.apply(instance.api, "/apis/apiregistration.k8s.io/v1/apiservices", [api_service])
    instance.wait(partial(_visible, instance), "Kueue's visibility API", "kueue")


def visibility(port: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The Service and APIService by which the API server finds the visibility server on loopback."""
    name = "visibility-server"
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "https", "port": port}]},
    }
    api_service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VISIBILITY_VERSION}.{VISIBILITY}"},
        "spec": {
            "group": VISIBILITY,
            "version": VISIBILITY_VERSION,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"name": name, "namespace": NAMESPACE, "port": port},
        },
    }
    return service, api_service


def _with_metrics_certificate(instance: Instance) -> list[str]:
    """A command that runs Kueue where /etc/kueue/metrics/certs has a certificate.

    That path is fixed in its main.go when it does not manage certificates itself, even without metrics. So it gets a
    mount namespace of its own, in which our directory lies over /etc; that takes root or user namespaces.
    """
    over = instance.directory / "kueue-etc"
    serve_with(instance.server, over / "kueue" / "metrics" / "certs")
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = 'mount -t overlay overlay -o "lowerdir=$0:/etc" /etc && exec "$@"'
    return ["unshare", *as_root, "--mount", "--propagation", "private", "sh", "-c", script, str(over)]


def _ready(ports: Mapping[str, int]) -> bool:
    servers = all(listens(ports[name]) for name in ("kueue-webhook", "kueue-visibility"))
    return servers and answers(f"http://{LOOPBACK}:{ports['kueue-health']}/readyz")


def _visible(instance: Instance) -> bool:
    try:
        instance.api.request("GET", f"/apis/{VISIBILITY}/{VISIBILITY_VERSION}")
    except ApiError:
        return False
    return True


def _bundle(instance: Instance) -> str:
    return base64.b64encode(instance.authority.certificate.read_bytes()).decode()
