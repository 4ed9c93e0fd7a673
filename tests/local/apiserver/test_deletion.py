"""Deletion: finalizers, propagation, grace periods, preconditions, answers."""

import pytest

from xlaunch.local.kube import StatusError


@pytest.fixture
def gone(do):
    def check(resource, name):
        try:
            do("get", resource, name, "default")
        except StatusError as error:
            return error.code == 404
        return False

    return check


def test_an_object_without_finalizers_goes_at_once(do, gone, jobset):
    made = do("create", "jobsets", jobset(), "default")
    status = do("delete", "jobsets", "js", "default")
    assert status["status"] == "Success"
    assert status["details"] == {
        "name": "js",
        "group": "jobset.x-k8s.io",
        "kind": "jobsets",
        "uid": made["metadata"]["uid"],
    }
    assert gone("jobsets", "js")


def test_a_finalizer_keeps_it_until_it_is_removed(do, gone, refused, jobset):
    body = jobset()
    body["metadata"]["finalizers"] = ["a.b/hold"]
    do("create", "jobsets", body, "default")
    kept = do("delete", "jobsets", "js", "default")
    assert kept["kind"] == "JobSet"
    assert kept["metadata"]["deletionTimestamp"] == "2026-11-29T12:00:00Z"
    more = {"metadata": {"finalizers": ["a.b/hold", "a.b/more"]}}
    error = refused("patch", "jobsets", "js", more, "default")
    assert (error.code, "no new finalizers can be added" in error.message) == (422, True)
    do("patch", "jobsets", "js", {"metadata": {"finalizers": []}}, "default")
    assert gone("jobsets", "js")


@pytest.mark.parametrize(
    ("resource", "policy", "finalizers"),
    [
        ("configmaps", None, None),
        ("configmaps", "Background", None),
        ("configmaps", "Foreground", ["foregroundDeletion"]),
        ("configmaps", "Orphan", ["orphan"]),
        ("jobs", None, ["orphan"]),
        ("jobs", "Background", None),
    ],
)
def test_propagation(do, gone, job, resource, policy, finalizers):
    body = job("x") if resource == "jobs" else {"metadata": {"name": "x"}}
    do("create", resource, body, "default")
    answer = do("delete", resource, "x", "default", propagation=policy)
    assert answer["metadata"].get("finalizers") == finalizers
    assert gone(resource, "x") is (finalizers is None)


def test_another_policy_replaces_the_first(do, gone):
    do("create", "configmaps", {"metadata": {"name": "x"}}, "default")
    do("delete", "configmaps", "x", "default", propagation="Foreground")
    kept = do("delete", "configmaps", "x", "default", propagation="Orphan")
    assert kept["metadata"]["finalizers"] == ["orphan"]
    do("delete", "configmaps", "x", "default", propagation="Background")
    assert gone("configmaps", "x")


@pytest.mark.parametrize(
    ("spec", "phase", "grace", "left"),
    [
        ({}, "Pending", None, None),  # no node: nobody needs time
        ({"nodeName": "n"}, "Running", None, 30),
        ({"nodeName": "n", "terminationGracePeriodSeconds": 5}, "Running", None, 5),
        ({"nodeName": "n"}, "Running", 7, 7),
        ({"nodeName": "n"}, "Running", -1, 1),
        ({"nodeName": "n"}, "Running", 0, None),
        ({"nodeName": "n"}, "Succeeded", None, None),
        ({"nodeName": "n"}, "Failed", 60, None),
    ],
)
def test_grace_period_of_pods(do, gone, pod, spec, phase, grace, left):
    do("create", "pods", pod(**spec), "default")
    do("patch", "pods", "p", {"status": {"phase": phase}}, "default", subresource="status")
    answer = do("delete", "pods", "p", "default", grace=grace)
    assert answer["kind"] == "Pod"
    assert gone("pods", "p") is (left is None)
    assert answer["metadata"]["deletionGracePeriodSeconds"] == (left or 0)


def test_a_shorter_period_wins_a_longer_one_changes_nothing(do, gone, pod):
    do("create", "pods", pod(nodeName="n"), "default")
    first = do("delete", "pods", "p", "default")
    assert first["metadata"]["deletionTimestamp"] == "2026-11-29T12:00:30Z"
    assert do("delete", "pods", "p", "default", grace=60) == first
    shorter = do("delete", "pods", "p", "default", grace=2)["metadata"]
    assert (shorter["deletionTimestamp"], shorter["deletionGracePeriodSeconds"]) == ("2026-11-29T12:00:02Z", 2)
    do("delete", "pods", "p", "default", grace=0)
    assert gone("pods", "p")


def test_a_pod_under_a_finalizer_stays_after_its_kubelet_is_done(do, gone, pod):
    do("create", "pods", pod("p", {"finalizers": ["batch.kubernetes.io/job-tracking"]}, nodeName="n"), "default")
    do("delete", "pods", "p", "default")
    do("patch", "pods", "p", {"metadata": {"labels": {"still": "here"}}}, "default")
    do("delete", "pods", "p", "default", grace=0)
    assert not gone("pods", "p")
    do("patch", "pods", "p", {"metadata": {"finalizers": None}}, "default")
    assert gone("pods", "p")


def test_a_pod_in_its_grace_period_survives_the_loss_of_its_finalizer(do, gone, pod):
    do("create", "pods", pod("p", {"finalizers": ["x/y"]}, nodeName="n"), "default")
    do("delete", "pods", "p", "default")
    do("patch", "pods", "p", {"metadata": {"finalizers": None}}, "default")
    assert not gone("pods", "p")


@pytest.mark.parametrize(
    ("resource", "name", "namespace", "options", "code"),
    [
        ("configmaps", "kube-root-ca.crt", "default", {"uid": "other"}, 409),
        ("configmaps", "none", "default", {}, 404),
        ("namespaces", "default", None, {}, 403),
    ],
)
def test_refused(refused, resource, name, namespace, options, code):
    assert refused("delete", resource, name, namespace, **options).code == code
