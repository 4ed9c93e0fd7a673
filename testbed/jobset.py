"""JobSet as a process: its CRD, its configuration, and its webhooks by URL."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from testbed import webhooks
from testbed.build import Build
from testbed.instance import Command, Instance
from testbed.pki import Pair
from testbed.processes import LOOPBACK, answers
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, Api, ApiError, namespaced

PORTS = ("jobset-webhook", "jobset-health")
CRD = "jobsets.jobset.x-k8s.io"
POD_LABEL = "jobset.sigs.k8s.io/jobset-name"


def install(instance: Instance, build: Build) -> None:
    """Applies the CRD and returns when it is served."""
    files = sorted(build.file("config/components/crd/bases").glob("*.yaml"))
    webhooks.apply(instance.api, webhooks.CRDS, webhooks.documents(*files))
    instance.wait(partial(webhooks.established, instance.api, [CRD]), "JobSet's CRD", "kube-apiserver")


def command(instance: Instance, build: Build, gates: Mapping[str, bool]) -> Command:
    """The controller, with these feature gates."""
    # controller-runtime looks for certificates below the directory for temporary files, and JobSet has no flag for it
    temporary = instance.directory / "jobset-tmp"
    serve_with(instance.server, temporary / "k8s-webhook-server" / "serving-certs")
    path = instance.directory / "jobset.json"
    path.write_text(json.dumps(configuration(instance.ports, gates), indent=1), encoding="utf-8")
    env = {"TMPDIR": str(temporary), "KUBECONFIG": str(instance.kubeconfig)}
    url = f"http://{LOOPBACK}:{instance.ports['jobset-health']}/readyz"
    return Command("jobset", [build.binary("jobset"), "--config", path], partial(answers, url), env)


def configuration(ports: Mapping[str, int], gates: Mapping[str, bool]) -> dict[str, Any]:
    """JobSet's Configuration (api/config/v1alpha1). Before 0.11 it knows no `featureGates`, so none are written."""
    return {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": LOOPBACK, "port": ports["jobset-webhook"]},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{ports['jobset-health']}"},
        "clientConnection": {"qps": 500, "burst": 500},
        **({"featureGates": dict(gates)} if gates else {}),
    }


def admit(instance: Instance, build: Build) -> None:
    """Applies the webhook configurations and returns when the API server asks them."""
    url = f"https://{LOOPBACK}:{instance.ports['jobset-webhook']}"
    bundle = base64.b64encode(instance.authority.certificate.read_bytes()).decode()
    found = webhooks.documents(build.file("config/components/webhook/manifests.yaml"))
    placed = [webhooks.by_url(each, "jobset", url, bundle) for each in found]
    # As upstream's config/components/webhook/patches: the webhooks for pods see only those of JobSets
    webhooks.apply_configurations(instance.api, [webhooks.only_labelled(each, POD_LABEL, "pods") for each in placed])
    instance.wait(partial(admits, instance.api), "JobSet's webhooks", "jobset")


def admits(api: Api) -> bool:
    """Whether both webhooks act: the one gives a JobSet its network's defaults, the other refuses an endless name."""
    defaulted = False
    try:
        defaulted = "network" in _dry_run(api, "probe")["spec"]
        _dry_run(api, "x" * 60)
    except ApiError as refusal:
        return defaulted and "admission webhook" in str(refusal)
    return False


def _dry_run(api: Api, name: str) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    job = {"name": "job", "template": {"spec": {"template": {"spec": pod}}}}
    body = {
        "apiVersion": JOBSET_GROUP_VERSION,
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [job]},
    }
    path = namespaced(api, JOBSET_GROUP_VERSION, "jobsets")
    created: dict[str, Any] = api.request("POST", path, query={"dryRun": "All"}, body=body).body
    return created


def serve_with(pair: Pair, directory: Path) -> None:
    """Puts a certificate and its key where servers look for `tls.crt` and `tls.key`."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(pair.certificate, directory / "tls.crt")
    shutil.copy(pair.key, directory / "tls.key")  # with its mode
