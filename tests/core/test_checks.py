"""Each way in which a template or a patch can break a JobSet is found, and told in one sentence."""

import copy
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from xlaunch.core.checks import check
from xlaunch.core.errors import UsageError

DATA = Path(__file__).parent.parent / "data"
REFERENCE = yaml.safe_load((DATA / "jobset-elastic-v5e16x3.yaml").read_text(encoding="utf-8"))
HEAD = "spec.replicatedJobs.0.template.spec"
POD = f"{HEAD}.template.spec"
WORKER = "spec.replicatedJobs.1.template.spec"
DELETE = object()


def changed(path, value):
    manifest = copy.deepcopy(REFERENCE)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = manifest
    for step in way:
        place = place[step]
    if value is DELETE:
        del place[last]
    else:
        place[last] = value
    return manifest


def test_the_reference_is_right():
    assert check(REFERENCE) is None


def test_a_manifest_of_xpk_is_right():
    manifest = yaml.safe_load((DATA / "xpk-pathways.yaml").read_text(encoding="utf-8"))
    assert check(manifest) is None


FINE = {
    "no coordinator, long name": ("spec.coordinator", DELETE),
    "null is absent": (f"{POD}.nodeSelector", None),
    "any of a part that is not looked into": (f"{POD}.affinity", {"nodeAffinity": {"x": [1]}}),
    "numbers as amounts": (f"{POD}.containers.0.resources.limits", {"cpu": 24, "memory": "100G"}),
    "restart rule": ("spec.failurePolicy.rules", [{"action": "RestartJobSet"}]),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_fine(name):
    assert check(changed(*FINE[name])) is None


def test_a_claim_of_the_jobset_may_be_mounted():
    manifest = changed(f"{POD}.containers.0.volumeMounts", [{"name": "data", "mountPath": "/data"}])
    with pytest.raises(UsageError, match="names the volume 'data'"):
        check(manifest)
    manifest["spec"]["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "data"}, "spec": {}}]}]
    assert check(manifest) is None


@pytest.mark.parametrize("value", [None, "x", [None], ["x"], [{"templates": None}], [{"templates": [{}, None]}]])
def test_claims_of_any_type_are_told_or_taken_and_never_a_crash(value):
    with suppress(UsageError):
        check(changed("spec.volumeClaimPolicies", value))


WRONG = {
    "kind": ("kind", "Job", "not jobset.x-k8s.io/v1alpha2 JobSet"),
    "no name": ("metadata.name", DELETE, "metadata.name"),
    "name": ("metadata.name", "1st", "metadata.name"),
    "long name": ("metadata.name", "a" * 23, "coordinator's address"),
    "namespace": ("metadata.namespace", "A", "metadata.namespace"),
    "label value": ("metadata.labels", {"a": "b c"}, "value of a label"),
    "label number": ("metadata.labels", {"a": 1}, "mapping from text to text"),
    "label key": ("metadata.labels", {"a/b/c": "x"}, "key of a label"),
    "annotation key": ("metadata.annotations", {"a b": "x"}, "key of an annotation"),
    "annotation number": ("metadata.annotations", {"a": 1}, "mapping from text to text"),
    "unknown field": ("spec.maxRestarts", 3, "spec.maxRestarts is not a field"),
    "unknown pod field": (f"{POD}.nodeselector", {}, "nodeselector is not a field"),
    "unknown container field": (f"{POD}.containers.0.argz", [], "argz is not a field"),
    "wrong type": ("spec.replicatedJobs.1.replicas", "3", "replicas is not an integer"),
    "boolean for integer": ("spec.replicatedJobs.1.replicas", True, "replicas is not an integer"),
    "integer for boolean": (f"{POD}.hostNetwork", 1, "hostNetwork is not true or false"),
    "list for mapping": ("spec.network", [], "spec.network is not a mapping"),
    "mapping for list": (f"{POD}.containers", {}, "containers is not a list"),
    "empty item": (f"{POD}.containers", [None], "containers[0] is empty"),
    "no jobs": ("spec.replicatedJobs", [], "spec.replicatedJobs is empty"),
    "negative replicas": ("spec.replicatedJobs.1.replicas", -1, "replicas -1"),
    "job's name": ("spec.replicatedJobs.1.name", "Worker", "replicatedJobs[1].name"),
    "same job twice": ("spec.replicatedJobs.1.name", "pathways-head", "taken by another replicated job"),
    "long job's name": ("spec.replicatedJobs.1.name", "w" * 50, "leave room for"),
    "too many pods": ("spec.replicatedJobs.1.replicas", 2**30, "more than 2147483647 pods"),
    "backoffLimit": (f"{WORKER}.backoffLimit", 2**31, "backoffLimit 2147483648"),
    "policy and OnFailure": (f"{WORKER}.podFailurePolicy", {"rules": []}, "restartPolicy Never"),
    "unknown coordinator": ("spec.coordinator.replicatedJob", "x", "'x', which there is not"),
    "coordinator's index": ("spec.coordinator.podIndex", 1, "which pathways-head does not have"),
    "coordinator not indexed": (f"{HEAD}.completionMode", "NonIndexed", "not Indexed"),
    "subdomain": ("spec.network.subdomain", "1.a", "name of a Service"),
    "success operator": ("spec.successPolicy.operator", "Some", "not All or Any"),
    "unknown target": ("spec.successPolicy.targetReplicatedJobs", ["x"], "'x', which there is not"),
    "strategy": ("spec.failurePolicy.restartStrategy", "Fast", "Recreate, BlockingRecreate"),
    "maxRestarts": ("spec.failurePolicy.maxRestarts", -1, "maxRestarts"),
    "action": ("spec.failurePolicy.rules", [{"action": "Retry"}], "rules[0].action"),
    "reason": (
        "spec.failurePolicy.rules",
        [{"action": "FailJobSet", "onJobFailureReasons": ["Bad"]}],
        "onJobFailureReasons has 'Bad'",
    ),
    "rule's name": ("spec.failurePolicy.rules", [{"name": "1", "action": "FailJobSet"}], "rules[0].name"),
    "rule twice": (
        "spec.failurePolicy.rules",
        [{"name": "a", "action": "FailJobSet"}, {"name": "a", "action": "RestartJobSet"}],
        "rules[1].name",
    ),
    "order": ("spec.startupPolicy.startupPolicyOrder", "First", "not InOrder or AnyOrder"),
    "order and dependsOn": ("spec.replicatedJobs.1.dependsOn", [{"name": "pathways-head"}], "exclude each other"),
    "ttl": ("spec.ttlSecondsAfterFinished", -1, "ttlSecondsAfterFinished"),
    "restartPolicy": (f"{POD}.restartPolicy", "Always", "neither OnFailure nor Never"),
    "no containers": (f"{POD}.containers", [], "containers is empty"),
    "container's name": (f"{POD}.containers.0.name", "Main", "name of a container"),
    "container twice": (f"{POD}.containers.0.name", "pathways-rm", "taken by another container"),
    "no image": (f"{POD}.containers.0.image", "", "image is ''"),
    "image with blanks": (f"{POD}.containers.0.image", " a", "image is ' a'"),
    "env name": (f"{POD}.containers.0.env", [{"name": "1", "value": "x"}], "name of an environment variable"),
    "env twice": (f"{POD}.containers.0.env", [{"name": "A"}, {"name": "A"}], "has A twice"),
    "env number": (f"{POD}.containers.0.env", [{"name": "A", "value": 1}], "value is not text"),
    "env both": (
        f"{POD}.containers.0.env",
        [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
        "both value and valueFrom",
    ),
    "long env": (f"{POD}.containers.0.env", [{"name": "A", "value": "x" * 131072}], "128 KiB"),
    "long argument": (f"{POD}.containers.0.args", ["x" * 131072], "128 KiB"),
    "NUL": (f"{POD}.containers.0.args", ["\0"], "NUL"),
    "amount": (f"{POD}.containers.0.resources.limits", {"cpu": "lots"}, "cpu=lots"),
    "port": (f"{POD}.containers.0.ports", [{"containerPort": 0}], "between 1 and 65535"),
    "port twice": (f"{POD}.containers.0.ports", [{"containerPort": 29000}], "of the same host network"),
    "mount": (f"{POD}.volumes", DELETE, "names the volume 'scratch'"),
    "volume": (f"{POD}.volumes", ["scratch"], "volumes[0] is not a mapping"),
    "volume twice": (f"{POD}.volumes", [{"name": "scratch"}] * 2, "volumes[1].name scratch is taken"),
    "volume's size": (f"{POD}.volumes", [{"name": "scratch", "emptyDir": {"sizeLimit": "1GB"}}], "is '1GB'"),
    "node label": (f"{POD}.nodeSelector", {"a": "b c"}, "label of a node"),
    "toleration": (f"{POD}.tolerations", [{"key": "a", "operator": "Is"}], "not Exists or Equal"),
    "toleration value": (f"{POD}.tolerations", [{"operator": "Exists", "value": "x"}], "its operator is Exists"),
    "toleration seconds": (f"{POD}.tolerations", [{"operator": "Exists", "tolerationSeconds": 1}], "NoExecute only"),
    "service account": (f"{POD}.serviceAccountName", "A", "can't be a name"),
    "pull secret": (f"{POD}.imagePullSecrets", [{"name": "A"}], "imagePullSecrets[0].name"),
    "size": (f"{POD}.containers.0.args", ["x" * 130_000] * 10, "1.2 MB"),
    "annotations": ("metadata.annotations", {"a": "é" * 130_000}, "256 KiB"),
}  # fmt: skip


@pytest.mark.parametrize("value", [12345678, 1.5, True, ["12345678"], {"a": 12345678}, 10**40])
def test_the_value_of_a_variable_is_never_told(value):
    with pytest.raises(UsageError, match="value is not text") as error:
        check(changed(f"{POD}.containers.0.env", [{"name": "A", "value": value}]))
    assert str(value) not in error.value.message
    assert "12345678" not in error.value.message


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_in_a_sentence(name):
    path, value, said = WRONG[name]
    with pytest.raises(UsageError, match="not a valid JobSet") as error:
        check(changed(path, value))
    assert said in error.value.message
    assert error.value.reason == "InvalidManifest"


@pytest.mark.parametrize("manifest", [{}, {"spec": None}, {"metadata": {}, "spec": {"replicatedJobs": [{}]}}])
def test_almost_nothing_is_refused_and_no_crash(manifest):
    with pytest.raises(UsageError, match="not a valid JobSet"):
        check(manifest)


def test_several_problems_are_counted():
    manifest = changed("metadata.name", "1st")
    manifest["spec"]["ttlSecondsAfterFinished"] = -1
    with pytest.raises(UsageError, match=r"\(1 more\)"):
        check(manifest)


def places(value, path=""):
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        if "." not in str(key):
            yield from places(held, f"{path}.{key}" if path else str(key))


@pytest.mark.parametrize(
    "value",
    [None, -1, "x", [], {}, [None], [{}], [{"name": ["x"]}], DELETE],
    ids=lambda value: "absent" if value is DELETE else repr(value),
)
def test_a_field_of_any_type_is_told_or_taken_and_never_a_crash(value):
    for path in places(REFERENCE):
        with suppress(UsageError):
            check(changed(path, value))
