"""Which Kubernetes and which JobSet a cluster runs, as far as the caller may read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xlaunch.cluster.answers import strange
from xlaunch.cluster.api import Api, ApiError

Object = Mapping[str, Any]

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobsets.jobset.x-k8s.io"
# Where JobSet's manifests and its Helm chart install the controller (v0.12 config/default, charts/jobset)
DEPLOYMENTS = "/apis/apps/v1/namespaces/jobset-system/deployments"
# registry.k8s.io/jobset/jobset:v0.12.0, or a mirror of it
IMAGE = re.compile(r"(?:^|/)jobset(?:-controller)?:(v?\d[^@]*)")
# Helm charts put it on what they install (JobSet v0.10 charts/jobset/templates/_helpers.tpl)
VERSION_LABEL = "app.kubernetes.io/version"


def kubernetes_version(api: Api) -> str:
    """The server's gitVersion ("v1.35.4-gke.100"); NetworkError within 10 seconds where it can't be reached."""
    found = api.request("GET", "/version", timeout=10.0).body
    if not isinstance(found, Mapping) or "gitVersion" not in found:
        raise strange("its version")
    return str(found["gitVersion"])


def jobset_version(api: Api) -> str | None:
    """The controller's version from its image or label, else from a label of the CRD; "" where none can be read.

    None where the cluster has no JobSet.
    """
    controllers = (_get(api, DEPLOYMENTS) or {}).get("items") or ()
    version = next((found for each in controllers if (found := _from_images(each) or _label(each))), "")
    if version:
        return version
    crd = _get(api, CRD)
    if crd is None:
        return None if _get(api, "/apis/jobset.x-k8s.io") is None else ""
    return _label(crd)


def _label(item: Object) -> str:
    return str(((item.get("metadata") or {}).get("labels") or {}).get(VERSION_LABEL, ""))


def _from_images(deployment: Object) -> str:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    found = (IMAGE.search(container.get("image", "")) for container in containers)
    return next((match[1] for match in found if match), "")


def _get(api: Api, path: str) -> Object | None:
    """The object, {} where it may not be read, None where it is not there."""
    try:
        found: Object = api.request("GET", path, timeout=10.0).body
    except ApiError as error:
        return None if error.status == 404 else {}
    return found
