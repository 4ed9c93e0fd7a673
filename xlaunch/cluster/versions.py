"""Which Kubernetes and which JobSet a cluster runs, as far as the caller may read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from xlaunch.cluster.answers import strange
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, Api, ApiError, Reply, namespaced
from xlaunch.core.errors import NetworkError
from xlaunch.core.jobset_version import JobSetVersion, by_answer, by_schema, probe
from xlaunch.core.restart_scope import TOO_OLD, lacking

Object = Mapping[str, Any]

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobsets.jobset.x-k8s.io"
GROUP = "/apis/jobset.x-k8s.io"
# What every user may read, also one who may read no CRDs (Kubernetes' role system:discovery)
OPENAPI = f"/openapi/v3/apis/{JOBSET_GROUP_VERSION}"
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


def jobset_version(api: Api) -> JobSetVersion | None:
    """JobSet's version by the controller's image, a label, its schema or its answer to a dry run: the first that tells.

    None where the cluster has no JobSet.
    """
    controllers = (_get(api, DEPLOYMENTS) or {}).get("items") or ()
    for controller in controllers:
        if found := _from_images(controller) or _label(controller):
            return found
    crd = _get(api, CRD)
    if not crd and _get(api, GROUP) is None:
        return None
    return _label(crd or {}) or schema_version(api, crd) or answered_version(partial(_dry_run, api))


def schema_version(api: Api, crd: Object | None = None) -> JobSetVersion | None:
    """The version of JobSet's schema, which decides what a JobSet may ask for; None where it may not be read.

    `crd` is the CustomResourceDefinition where it has been read already.
    """
    schema = _schema_of(crd or {}) or _published(_get(api, OPENAPI) or {})
    return by_schema(schema) if schema else None


def without_restart_job(api: Api, refusal: str) -> str:
    """What the cluster lacks for RestartJob, by the message of its refusal of a JobSet; "" for any other refusal."""
    lacks = lacking(refusal)
    version = None
    if lacks == TOO_OLD:
        # The refusal is worth more than the version
        with suppress(NetworkError):
            version = schema_version(api)
    return f"{lacks}, and this is {version}" if version else lacks


def _schema_of(crd: Object) -> Object | None:
    versions = (crd.get("spec") or {}).get("versions") or ()
    served = (each for each in versions if each["name"] == JOBSET_GROUP_VERSION.rpartition("/")[2])
    return next((each["schema"]["openAPIV3Schema"] for each in served if each.get("schema")), None)


def _published(document: Object) -> Object | None:
    schemas = ((document.get("components") or {}).get("schemas") or {}).values()
    return next((each for each in schemas if _is_jobset(each)), None)


def _is_jobset(schema: Object) -> bool:
    return any(kind["kind"] == "JobSet" for kind in schema.get("x-kubernetes-group-version-kind") or ())


def answered_version(create: Callable[[Object], Reply]) -> JobSetVersion:
    """The controller's version by what its webhook says to `create`, a dry run; an empty one where it says nothing."""
    try:
        reply = create(probe())
    except ApiError as error:
        return by_answer(error.status, error.message)
    return by_answer(reply.status, "")


def _dry_run(api: Api, body: Object) -> Reply:
    path = namespaced(api, JOBSET_GROUP_VERSION, "jobsets")
    return api.request("POST", path, query={"dryRun": "All"}, body=body, timeout=10.0)


def _label(item: Object) -> JobSetVersion | None:
    labels = (item.get("metadata") or {}).get("labels") or {}
    return JobSetVersion(labels[VERSION_LABEL], "label") if labels.get(VERSION_LABEL) else None


def _from_images(deployment: Object) -> JobSetVersion | None:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    found = (IMAGE.search(container.get("image", "")) for container in containers)
    return next((JobSetVersion(match[1], "image") for match in found if match), None)


def _get(api: Api, path: str) -> Object | None:
    """The object, {} where it may not be read or is none, None where it is not there."""
    try:
        found = api.request("GET", path, timeout=10.0).body
    except ApiError as error:
        return None if error.status == 404 else {}
    return found if isinstance(found, Mapping) else {}
