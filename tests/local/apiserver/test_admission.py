"""Admission of pods, and what a fresh cluster has."""

import pytest

from xlaunch.local.apiserver.seed import PRIORITY_CLASSES
from xlaunch.local.kube import StatusError


@pytest.mark.parametrize(
    ("spec", "priority"), [({}, 0), ({"priorityClassName": "medium"}, 500), ({"priorityClassName": "very-high"}, 1000)]
)
def test_a_pod_has_the_priority_of_its_class(do, pod, spec, priority):
    made = do("create", "pods", pod(**spec), "default")["spec"]
    assert (made["priority"], made["preemptionPolicy"]) == (priority, "PreemptLowerPriority")


def test_the_default_class_is_taken(do, pod):
    body = {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True, "preemptionPolicy": "Never"}
    do("create", "priorityclasses", body)
    made = do("create", "pods", pod(), "default")["spec"]
    assert (made["priorityClassName"], made["priority"], made["preemptionPolicy"]) == ("usual", 7, "Never")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        ({"serviceAccountName": "robot"}, 'serviceaccount "robot" not found'),
        ({"serviceAccount": "robot"}, 'serviceaccount "robot" not found'),
    ],
)
def test_refused(refused, pod, spec, why):
    error = refused("create", "pods", pod(**spec), "default")
    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message.startswith('pods "p" is forbidden: ')
    assert why in error.message


def test_a_fresh_cluster(do):
    names = {each["metadata"]["name"] for each in do("list", "namespaces")[0]}
    assert names == {"default", "kube-node-lease", "kube-public", "kube-system"}
    assert {each["metadata"]["name"] for each in do("list", "priorityclasses")[0]} == PRIORITY_CLASSES.keys()
    crd = do("get", "customresourcedefinitions", "jobsets.jobset.x-k8s.io")
    (version,) = crd["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert version["name"] == "v1alpha2"
    assert "RestartJob" in spec["failurePolicy"]["properties"]["rules"]["items"]["properties"]["action"]["enum"]
    with pytest.raises(StatusError):
        do("get", "customresourcedefinitions", "others.example.com")
