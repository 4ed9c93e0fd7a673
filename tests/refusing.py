"""Manifests as xlaunch renders them, changed, and what an API server and JobSet's webhook say to them."""

import copy
import json

from xlaunch.cluster import jobsets
from xlaunch.cluster.api import MERGE, ApiError
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.core.refusals import sentence

FLAGS = ("--tpu-type=v5litepod-16", "--docker-image=img", "--pathways-gcs-location=gs://my-bucket/tmp")


def rendered(cluster, name, *flags):
    """What a dry run prints."""
    line = ("workload", "create-pathways", f"--workload={name}", *FLAGS, *flags, "--dry-run", "-o", "json")
    return json.loads(cluster.xlaunch(*line, "--", "sleep", "600", target=False).stdout)


def changed(manifest, change):
    """A copy of the manifest after `change(manifest)`."""
    body = copy.deepcopy(manifest)
    change(body)
    return body


class Asking:
    """A cluster's API server, asked for its opinion; a refusal is told as xlaunch tells it, "" is none."""

    def __init__(self, cluster):
        self._api = connect(TargetOptions(kubeconfig=str(cluster.kubeconfig)), {}).api

    def of(self, manifest):
        """What it says to a new JobSet, of which nothing is created."""
        query = {"dryRun": "All", "fieldValidation": "Strict"}
        return self._told("POST", jobsets.path(self._api), query=query, body=manifest)

    def of_change(self, name, spec):
        """What it says to a merge patch of a living JobSet's spec, which is applied."""
        return self._told("PATCH", jobsets.path(self._api, name), body={"spec": spec}, content_type=MERGE)

    def _told(self, *request, **more):
        try:
            self._api.request(*request, **more)
        except ApiError as error:
            return sentence(error.message, error.details)
        return ""
