"""Rows of kubectl's tables."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.apiserver.podtable import pod_row, restarts, status_word
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.apiserver.tables import LAYOUTS, table
from xlaunch.local.kube import StatusError

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
MADE = "2026-11-29T11:58:30Z"
RUNNING = {"running": {"startedAt": MADE}}
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
READY = [{"type": "Ready", "status": "True"}]


def ended(code=0, reason="", **more):
    return {
        "terminated": {
            "exitCode": code,
            "finishedAt": "2026-11-29T11:59:00Z",
            **({"reason": reason} if reason else {}),
            **more,
        }
    }


def container(name="main", state=None, *, ready=False, count=0, **more):
    return {"name": name, "state": state or RUNNING, "ready": ready, "restartCount": count, **more}


def pod(status, *, sidecar=False, init=False, deleted=False):
    spec = {"containers": [{"name": "main"}]}
    if sidecar or init:
        spec["initContainers"] = [{"name": "first", **({"restartPolicy": "Always"} if sidecar else {})}]
    metadata = {"name": "p", "creationTimestamp": MADE, **({"deletionTimestamp": MADE} if deleted else {})}
    return {"metadata": metadata, "spec": spec, "status": status}


def initializing(state, **options):
    return pod({"phase": "Pending", "initContainerStatuses": [container("first", state)]}, init=True, **options)


def waiting(reason):
    return {"waiting": {"reason": reason}}


def states(*statuses, phase="Running", conditions=READY, **more):
    return {"phase": phase, "containerStatuses": list(statuses), "conditions": conditions, **more}


# Cases of kubernetes, pkg/printers/internalversion/printers_test.go, TestPrintPod and its kin
@pytest.mark.parametrize(
    ("each", "word", "ready"),
    [
        (pod({"phase": "Pending"}), "Pending", 0),
        (pod({"phase": "Failed", "reason": "Evicted"}), "Evicted", 0),
        (pod(states(container(ready=True))), "Running", 1),
        (pod(states(container(state=waiting("CrashLoopBackOff")))), "CrashLoopBackOff", 0),
        (pod(states(container(state=ended(1, "Error")), phase="Failed")), "Error", 0),
        (pod(states(container(state=ended(2)), phase="Failed")), "ExitCode:2", 0),
        (pod(states(container(state=ended(137, signal=9)), phase="Failed")), "Signal:9", 0),
        (pod(states(container(state=ended(0, "Completed")), phase="Succeeded", conditions=[])), "Completed", 0),
        (pod(states(container("a", state=ended(0, "Completed")), container("b", ready=True))), "Running", 1),
        (pod(states(container("a", ended(0, "Completed")), container("b", ready=True), conditions=[])), "NotReady", 1),
        (pod(states(container("a", ended(0, "Completed")), container("b", ended(1, "Error")))), "Error", 0),
        (pod(states(container(ready=True)), deleted=True), "Terminating", 1),
        (pod(states(phase="Succeeded"), deleted=True), "Succeeded", 0),
        (pod(states(container(ready=True), reason="NodeLost"), deleted=True), "Unknown", 1),
        (pod({"phase": "Pending", "conditions": [GATED]}), "SchedulingGated", 0),
        (initializing(RUNNING), "Init:0/1", 0),
        (initializing(ended(1, "Error")), "Init:Error", 0),
        (initializing(ended(3)), "Init:ExitCode:3", 0),
        (initializing(waiting("PodInitializing")), "Init:0/1", 0),
        (initializing(waiting("ErrImagePull")), "Init:ErrImagePull", 0),
        (pod(states(container(ready=True), initContainerStatuses=[container("a", ended(0))]), init=True), "Running", 1),
        (pod(states(container(ready=True), initContainerStatuses=[container("first", started=True, ready=True)]),
             sidecar=True), "Running", 2),
        (pod(states(container(state=waiting("PodInitializing")), phase="Pending", conditions=[],
                    initContainerStatuses=[container("first", started=False)]), sidecar=True), "Init:0/1", 0),
    ],
)  # fmt: skip
def test_the_status_of_a_pod(each, word, ready):
    assert status_word(each) == (word, ready)


@pytest.mark.parametrize(
    ("status", "options", "text"),
    [
        (states(container()), {}, "0"),
        (states(container(count=2)), {}, "2"),
        (states(container(count=3, lastState=ended(1))), {}, "3 (60s ago)"),
        (
            states(container(count=1), initContainerStatuses=[container("first", ended(0), count=5)]),
            {"init": True},
            "1",
        ),
        (
            states(container(count=1), initContainerStatuses=[container("first", started=True, count=5)]),
            {"sidecar": True},
            "6",
        ),
        ({"phase": "Pending", "initContainerStatuses": [container("first", count=4)]}, {"init": True}, "4"),
    ],
)
def test_the_restarts_of_a_pod(status, options, text):
    assert restarts(pod(status, **options), NOW) == text


def test_the_row_of_a_pod():
    each = pod(states(container(ready=True), podIP="127.0.0.9"))
    each["spec"] |= {"nodeName": "n", "readinessGates": [{"conditionType": "Ready"}, {"conditionType": "Other"}]}
    assert pod_row(each, NOW) == ["p", "1/1", "Running", "0", "90s", "127.0.0.9", "n", "<none>", "1/2"]


META = {"metadata": {"name": "x", "creationTimestamp": MADE}}
TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}}


def job(status, **spec):
    return {**META, "spec": {"template": TEMPLATE, "parallelism": 1, **spec}, "status": status}


@pytest.mark.parametrize(
    ("resource", "each", "cells"),
    [
        ("jobs", job({}, completions=2), ["x", "Running", "0/2", "", "90s", "a,b", "i,j", "<none>"]),
        ("jobs", job({"succeeded": 1, "startTime": MADE, "completionTime": "2026-11-29T11:59:00Z", "conditions": [
            {"type": "Complete", "status": "True"}]}), ["x", "Complete", "1/1", "30s", "90s", "a,b", "i,j", "<none>"]),
        ("jobs", job({"startTime": MADE, "conditions": [{"type": "FailureTarget", "status": "True"}]}, parallelism=3),
         ["x", "FailureTarget", "0/1 of 3", "90s", "90s", "a,b", "i,j", "<none>"]),
        ("jobsets", {**META, "spec": {"suspend": False}, "status": {
            "restarts": 1, "terminalState": "Completed", "conditions": [{"type": "Completed", "status": "True"}]}},
         ["x", "Completed", "1", "True", "false", "90s"]),
        ("jobsets", META, ["x", None, None, None, None, "90s"]),
        ("nodes", META, ["x", "Unknown", "<none>", "90s", "", "<none>", "<none>", *["<unknown>"] * 3]),
        ("nodes", {"metadata": {**META["metadata"], "labels": {"node-role.kubernetes.io/tpu": ""}},
                   "spec": {"unschedulable": True}, "status": {"conditions": READY, "addresses": [
                       {"type": "InternalIP", "address": "127.0.0.1"}], "nodeInfo": {"kubeletVersion": "v1"}}},
         ["x", "Ready,SchedulingDisabled", "tpu", "90s", "v1", "127.0.0.1", "<none>", *["<unknown>"] * 3]),
        ("nodes", {**META, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
         ["x", "NotReady", "<none>", "90s", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"]),
        ("services", {**META, "spec": {"type": "ClusterIP", "clusterIPs": ["None"], "ports": [{"port": 80}],
                                       "selector": {"a": "b"}}},
         ["x", "ClusterIP", "None", "<none>", "80/TCP", "90s", "a=b"]),
        ("events", {**META, "involvedObject": {"kind": "Pod", "name": "p"}, "type": "Normal", "reason": "R",
                    "message": "m\n", "eventTime": MADE, "reportingComponent": "c"},
         ["90s", "Normal", "R", "pod/p", "", "c", "m", "90s", "1", "x"]),
        ("events", {**META, "involvedObject": {}, "firstTimestamp": MADE, "lastTimestamp": "2026-11-29T11:59:50Z",
                    "count": 7, "source": {"component": "c", "host": "h"}},
         ["10s", "", "", "", "", "c, h", "", "90s", "7", "x"]),
        ("namespaces", {**META, "status": {"phase": "Active"}}, ["x", "Active", "90s"]),
        ("configmaps", {**META, "data": {"a": "1"}, "binaryData": {"b": "2"}}, ["x", "2", "90s"]),
        ("leases", {**META, "spec": {"holderIdentity": "n"}}, ["x", "n", "90s"]),
        ("secrets", {**META, "data": {"a": "1"}, "type": "Opaque"}, ["x", "Opaque", "1", "90s"]),
        ("resourcequotas", META, ["x", "90s"]),
    ],
)  # fmt: skip
def test_rows(resource, each, cells):
    made = table(BY_NAME[resource], [each], {}, NOW)
    assert made["rows"][0]["cells"] == cells
    assert len(made["columnDefinitions"]) == len(cells)


@pytest.mark.parametrize(
    ("include", "kind"), [("Metadata", "PartialObjectMetadata"), ("Object", "Pod"), ("None", None)]
)
def test_what_a_row_carries(include, kind):
    each = {"kind": "Pod", **pod({"phase": "Pending"})}
    (row,) = table(BY_NAME["pods"], [each], {"resourceVersion": "7"}, NOW, include=include)["rows"]
    assert row.get("object", {}).get("kind") == kind


def test_an_unknown_include_object_is_refused():
    with pytest.raises(StatusError) as caught:
        table(BY_NAME["pods"], [], {}, NOW, include="x")
    assert caught.value.code == 400


def test_columns_of_low_priority_are_for_wide_output():
    shown = {
        name: [each["name"] for each in layout.definitions() if not each["priority"]]
        for name, layout in LAYOUTS.items()
    }
    assert shown["pods"] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert shown["jobs"] == ["Name", "Status", "Completions", "Duration", "Age"]
    assert shown["jobsets"] == ["Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"]
    assert shown["events"] == ["Last Seen", "Type", "Reason", "Object", "Message"]
