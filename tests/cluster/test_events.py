"""Events are read raw: most controllers write them without `eventTime`, and then the official client's types refuse."""

import pytest
from fakes.server import Server
from kubernetes import client

from xlaunch.cluster.kubeapi import KubeApi
from xlaunch.cluster.observe import events_about
from xlaunch.core.events import latest, message, when

# One event as a kube-apiserver tells it in either group
METADATA = {"name": "train-worker-0.18a2", "namespace": "default", "creationTimestamp": "2026-11-29T12:00:00Z"}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "train-worker-0", "namespace": "default", "uid": "u1"}
COMMON = {"metadata": METADATA, "type": "Normal", "reason": "SuccessfulCreate", "eventTime": None}
TEXT, FIRST, LAST = "Created pod: train-worker-0-0-abcde", "2026-11-29T12:00:00Z", "2026-11-29T12:00:07Z"
CORE = {
    **COMMON,
    "involvedObject": JOB,
    "message": TEXT,
    "count": 2,
    "firstTimestamp": FIRST,
    "lastTimestamp": LAST,
    "source": {"component": "job-controller"},
    "reportingComponent": "job-controller",
    "reportingInstance": "",
}
NEW = {
    **COMMON,
    "regarding": JOB,
    "note": TEXT,
    "deprecatedCount": 2,
    "deprecatedFirstTimestamp": FIRST,
    "deprecatedLastTimestamp": LAST,
    "deprecatedSource": {"component": "job-controller"},
    "reportingController": "job-controller",
}


def answer(request):
    """The list of both groups."""
    version, item = ("events.k8s.io/v1", NEW) if "events.k8s.io" in request.path else ("v1", CORE)
    return {"kind": "EventList", "apiVersion": version, "metadata": {"resourceVersion": "9"}, "items": [item]}


@pytest.mark.verified("14.2")
def test_what_the_clients_types_refuse_is_read():
    with Server(answer) as server:
        typed = client.EventsV1Api(client.ApiClient(client.Configuration(host=server.url)))
        with pytest.raises(ValueError, match=r"(?s)1 validation error for EventsV1Event\neventTime\n"):
            typed.list_namespaced_event("default")
        [found] = events_about(KubeApi.from_url(server.url), "u1")
    assert found == CORE
    assert (message(latest([found])), when(found)) == (TEXT, LAST)
