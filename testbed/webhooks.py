"""What the controllers of JobSet and Kueue need of a cluster, made to fit processes on loopback.

Their manifests expect a Service in front of a pod and cert-manager; here a webhook is a URL and a CA bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xlaunch.cluster.api import APPLY, Api

Object = dict[str, Any]
FIELD_MANAGER = "testbed"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


def documents(*files: Path) -> list[Object]:
    """The objects in YAML files, in their order."""
    import yaml

    found: list[Object] = []
    for file in files:
        found += [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]
    return found


def by_url(configuration: Mapping[str, Any], prefix: str, url: str, bundle: str, paths: Sequence[str] = ()) -> Object:
    """A webhook configuration whose services are replaced by `url`, and whose name starts with `prefix`.

    The upstreams all call theirs `mutating-webhook-configuration`. `paths`: only webhooks whose path has one of
    these in it; those of integrations that are off would refuse everything. `bundle` is base64.
    """
    hooks = []
    for hook in configuration["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        if not paths or any(part in path for part in paths):
            hooks.append({**hook, "clientConfig": {"url": url + path, "caBundle": bundle}})
    metadata = {**configuration["metadata"], "name": f"{prefix}-{configuration['metadata']['name']}"}
    return {**configuration, "metadata": metadata, "webhooks": hooks}


def only_labelled(configuration: Mapping[str, Any], label: str, resource: str) -> Object:
    """A webhook configuration whose webhooks for `resource` see only objects that have `label`."""
    selector = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    hooks = [
        {**hook, "objectSelector": selector} if resource in hook["rules"][0]["resources"] else hook
        for hook in configuration["webhooks"]
    ]
    return {**configuration, "webhooks": hooks}


def converted_by(crd: Mapping[str, Any], url: str, bundle: str) -> Object:
    """A CRD whose versions are converted by a webhook at `url`."""
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": url, "caBundle": bundle}}
    return {**crd, "spec": {**crd["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}


def apply(api: Api, collection: str, objects: Iterable[Mapping[str, Any]]) -> None:
    """Server-side apply into a collection."""
    for each in objects:
        path = f"{collection}/{each['metadata']['name']}"
        query = {"fieldManager": FIELD_MANAGER, "force": "true"}
        api.request("PATCH", path, query=query, body=each, content_type=APPLY)


def apply_configurations(api: Api, configurations: Iterable[Mapping[str, Any]]) -> None:
    """Server-side apply of webhook configurations."""
    for each in configurations:
        apply(api, f"{ADMISSION}/{PLURALS[each['kind']]}", [each])


def established(api: Api, names: Iterable[str]) -> bool:
    """Whether the API server serves all these CRDs."""
    return all(_is_established(api.request("GET", f"{CRDS}/{name}").body) for name in names)


def _is_established(crd: Mapping[str, Any]) -> bool:
    # At first they are null
    conditions = crd.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)
