"""The Jobs and pods by which a dry run looks into a JobSet."""

import copy

import pytest
from fakes.cluster import reference_jobset

from xlaunch.cluster.children import children, pod


def jobset(**spec):
    made = reference_jobset(**spec)
    made["metadata"]["uid"] = "uid"
    return made


def jobs(made):
    return [each.job(index) for each in children(made) for index in range(each.replicas)]


def by_name(made):
    return {job["metadata"]["name"]: job for job in jobs(made)}


def pods(made):
    return {name: pod(job) for name, job in by_name(made).items()}


def test_each_job_of_each_kind():
    made = jobset()
    made["spec"]["replicatedJobs"][1]["replicas"] = 11
    named = [each.name(index) for each in children(made) for index in range(each.replicas)]
    assert named == list(by_name(made))
    assert named == ["demo-elastic-pathways-head-0", *(f"demo-elastic-worker-{index}" for index in range(11))]


def test_the_jobs_of_a_kind_differ_in_their_indexes_alone():
    """So that one pod stands for those of all of them: names, and the labels that tell them apart."""
    found, made = {}, by_name(jobset())
    differing(made["demo-elastic-worker-0"], made["demo-elastic-worker-2"], "", found)
    labels = {path.rpartition("/")[2] for path in found if "labels" in path or "annotations" in path}
    assert labels == {"job-index", "job-global-index", "job-group-index", "job-key"}
    assert {path for path in found if "labels" not in path and "annotations" not in path} == {"/metadata/name"}


def differing(one, other, path, found):
    """The places at which two objects differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            differing(one.get(key), other.get(key), f"{path}/{key}", found)
    elif one != other:
        found[path] = (one, other)


def test_a_job_has_jobsets_labels_and_no_owner():
    job = by_name(jobset())["demo-elastic-worker-2"]
    assert job["kind"] == "Job"
    assert job["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == "demo-elastic"
    assert job["metadata"]["namespace"] == "default"
    assert "ownerReferences" not in job["metadata"]


def test_nothing_is_made_of_a_replicated_job_without_replicas():
    made = jobset()
    made["spec"]["replicatedJobs"][1]["replicas"] = 0
    assert list(by_name(made)) == ["demo-elastic-pathways-head-0"]


def test_a_suspended_jobset_has_suspended_jobs():
    assert all(job["spec"]["suspend"] for job in jobs(jobset(suspend=True)))


def test_the_last_pod_of_a_job_without_what_jobset_finds_it_by():
    made = pods(jobset())["demo-elastic-worker-2"]
    metadata = made["metadata"]
    assert metadata["generateName"] == "demo-elastic-worker-2-3-"
    assert made["spec"]["hostname"] == "demo-elastic-worker-2-3"
    for place in ("labels", "annotations"):
        assert not [key for key in metadata[place] if "jobset.sigs.k8s.io" in key]
    assert metadata["labels"]["batch.kubernetes.io/job-completion-index"] == "3"
    assert not {"ownerReferences", "finalizers"} & set(metadata)


def test_labels_of_the_template_stay_on_the_pod():
    made = jobset()
    template = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    template.setdefault("metadata", {}).setdefault("labels", {})["team"] = "vision"
    assert pods(made)["demo-elastic-pathways-head-0"]["metadata"]["labels"]["team"] == "vision"


@pytest.mark.parametrize("missing", ["restartPolicy", "completionMode"])
def test_what_jobsets_webhook_would_add_is_there(missing):
    """Where the JobSet itself is refused there is no defaulted one to look into."""
    made = jobset()
    job = made["spec"]["replicatedJobs"][1]["template"]["spec"]
    job.pop("completionMode", None)
    job["template"]["spec"].pop("restartPolicy", None)
    found = by_name(made)["demo-elastic-worker-2"]["spec"]
    assert {**found, **found["template"]["spec"]}[missing] in ("OnFailure", "Indexed")


def test_the_jobset_is_left_as_it_is():
    made = jobset()
    before = copy.deepcopy(made)
    pods(made)
    assert made == before


def test_claims_are_volumes_of_the_jobs_that_mount_them():
    made = jobset(volumeClaimPolicies=[{"templates": [{"metadata": {"name": "data"}, "spec": {}}]}])
    main = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    main.setdefault("volumeMounts", []).append({"name": "data", "mountPath": "/data"})
    head, *workers = (job["spec"]["template"]["spec"].get("volumes", []) for job in jobs(made))
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data-demo-elastic"}}
    assert claim in head
    assert len(workers) == 3
    assert all(claim not in each for each in workers)
