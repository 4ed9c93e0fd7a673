"""The Jobs and the Service of a JobSet."""

import hashlib

from fakes.cluster import reference_jobset

from xlaunch.local.controllers.jobset.build import child_job, headless_service

PREFIX = "jobset.sigs.k8s.io/"


def jobset(**spec):
    made = reference_jobset(**spec)
    made["metadata"]["uid"] = "uid"
    made["status"] = {"restarts": 2}
    return made


def worker(made, index=1):
    return child_job(made, made["spec"]["replicatedJobs"][1], index)


def test_labels_and_annotations_on_the_job_and_its_pods():
    job = worker(jobset())
    expected = {
        "jobset-name": "demo-elastic",
        "jobset-uid": "uid",
        "replicatedjob-name": "worker",
        "replicatedjob-replicas": "3",
        "global-replicas": "4",
        "job-index": "1",
        "job-global-index": "2",
        "job-key": hashlib.sha1(b"default/demo-elastic-worker-1", usedforsecurity=False).hexdigest(),
        "restart-attempt": "2",
        "group-name": "default",
        "group-replicas": "4",
        "job-group-index": "2",
        "coordinator": "demo-elastic-pathways-head-0-0.demo-elastic",
    }
    expected = {PREFIX + name: value for name, value in expected.items()}
    topology = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"}
    for meta in (job["metadata"], job["spec"]["template"]["metadata"]):
        assert meta["labels"] == expected
        assert meta["annotations"] == {**expected, **topology}


def test_name_owner_subdomain_and_suspension():
    job = worker(jobset(network={"enableDNSHostnames": True, "subdomain": "short"}, suspend=True))
    assert job["metadata"]["name"] == "demo-elastic-worker-1"
    assert job["spec"]["suspend"] is True
    assert job["spec"]["template"]["spec"]["subdomain"] == "short"
    (owner,) = job["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("JobSet", "demo-elastic", "uid", True)
    assert job["metadata"]["labels"][PREFIX + "coordinator"] == "demo-elastic-pathways-head-0-0.short"


def test_without_host_names_there_is_no_subdomain():
    job = worker(jobset(network={"enableDNSHostnames": False}))
    assert "subdomain" not in job["spec"]["template"]["spec"]


def test_groups_number_their_own_jobs():
    made = jobset()
    made["spec"]["replicatedJobs"][1]["groupName"] = "tpu"
    labels = worker(made)["metadata"]["labels"]
    assert (labels[PREFIX + "group-replicas"], labels[PREFIX + "job-group-index"]) == ("3", "1")
    assert labels[PREFIX + "job-global-index"] == "2"


def test_placement_for_the_whole_jobset_and_by_node_labels():
    made = jobset()
    key = "alpha.jobset.sigs.k8s.io/"
    made["metadata"]["annotations"] = {key + "exclusive-topology": "rack", key + "node-selector": "true"}
    made["spec"]["replicatedJobs"][1]["template"]["metadata"] = {}
    job = worker(made)
    assert job["metadata"]["annotations"][key + "exclusive-topology"] == "rack"
    pod = job["spec"]["template"]["spec"]
    assert pod["nodeSelector"][key + "namespaced-job"] == "default_demo-elastic-worker-1"
    assert pod["tolerations"][-1] == {"key": key + "no-schedule", "operator": "Exists", "effect": "NoSchedule"}


def test_the_users_own_metadata_stays():
    made = jobset()
    head = made["spec"]["replicatedJobs"][0]
    job = child_job(made, head, 0)
    annotations = job["spec"]["template"]["metadata"]["annotations"]
    assert annotations["kubectl.kubernetes.io/default-container"] == "main"
    assert PREFIX + "job-key" not in head["template"]["spec"]["template"]["metadata"].get("labels", {})


def test_the_headless_service():
    service = headless_service(jobset())
    assert service["metadata"]["name"] == "demo-elastic"
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {PREFIX + "jobset-name": "demo-elastic"},
        "publishNotReadyAddresses": True,
    }
