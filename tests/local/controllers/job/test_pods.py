"""The pods that a Job creates."""

from xlaunch.local.controllers.job.pods import pod_for

JOB = {
    "metadata": {"name": "js-worker-0", "namespace": "ns", "uid": "u"},
    "spec": {
        "template": {
            "metadata": {"labels": {"l": "1"}, "annotations": {"a": "2"}},
            "spec": {
                "initContainers": [{"name": "rm"}],
                "containers": [{"name": "main", "env": [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]}],
            },
        }
    },
}


def test_an_indexed_pod():
    pod = pod_for(JOB, 3)
    index = {"batch.kubernetes.io/job-completion-index": "3"}
    assert pod["metadata"] == {
        "generateName": "js-worker-0-3-",
        "namespace": "ns",
        "labels": {"l": "1", **index},
        "annotations": {"a": "2", **index},
        "finalizers": ["batch.kubernetes.io/job-tracking"],
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "js-worker-0",
                "uid": "u",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    assert pod["spec"]["hostname"] == "js-worker-0-3"
    (variable,) = pod["spec"]["initContainers"][0]["env"]
    path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    assert variable == {
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}},
    }
    assert pod["spec"]["containers"][0]["env"] == [{"name": "JOB_COMPLETION_INDEX", "value": "mine"}]


def test_the_template_is_left_alone():
    assert "env" not in JOB["spec"]["template"]["spec"]["initContainers"][0]


def test_a_pod_without_an_index():
    pod = pod_for(JOB, None)
    assert pod["metadata"]["generateName"] == "js-worker-0-"
    assert "hostname" not in pod["spec"]
    assert pod["metadata"]["labels"] == {"l": "1"}


def test_a_long_name_is_cut_before_the_index():
    job = {**JOB, "metadata": {**JOB["metadata"], "name": "n" * 63}}
    assert pod_for(job, 12)["metadata"]["generateName"] == "n" * 54 + "-12-"
