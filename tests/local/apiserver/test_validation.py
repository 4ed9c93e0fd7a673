"""What is refused in pods, Jobs and JobSets, and which of their fields may change."""

import pytest

from xlaunch.local.apiserver.pods import check_spec
from xlaunch.local.kube import JSON_PATCH, STRATEGIC


def problems(**spec):
    base = {"containers": [{"name": "main", "image": "x"}]}
    return [f"{each.field}: {each.message}" for each in check_spec({**base, **spec}, "spec")]


def container(**parts):
    return {"containers": [{"name": "main", "image": "x", **parts}]}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        container(env=[{"name": "A.b-c", "value": "$(X)"}, {"name": "B", "valueFrom": {"fieldRef": {}}}]),
        container(resources={"limits": {"google.com/tpu": "4", "cpu": "500m"}, "requests": {"cpu": "250m"}}),
        {"tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}]},
        {"volumes": [{"name": "v"}], **container(volumeMounts=[{"name": "v", "mountPath": "/a"}])},
        {"initContainers": [{"name": "side", "image": "y", "restartPolicy": "Always"}]},
        {"hostNetwork": True, **container(ports=[{"containerPort": 80, "hostPort": 80}])},
    ],
)  # fmt: skip
def test_a_good_pod(spec):
    assert problems(**spec) == []


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": [{"image": "x"}]}, "spec.containers[0].name: Required value"),
        ({"containers": [{"name": "a"}]}, "spec.containers[0].image: Required value"),
        ({"containers": [{"name": "A", "image": "x"}]}, 'spec.containers[0].name: Invalid value: "A": a lowercase'),
        ({"initContainers": [{"name": "main", "image": "x"}]}, 'spec.initContainers[0].name: Duplicate value: "main"'),
        (container(volumeMounts=[{"name": "scratch", "mountPath": "/tmp"}]),
         'spec.containers[0].volumeMounts[0].name: Not found: "scratch"'),
        ({"volumes": [{"name": "v"}], **container(volumeMounts=[{"name": "v", "mountPath": "/a"}] * 2)},
         'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique'),
        ({"restartPolicy": "Sometimes"},
         'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'),
        ({"dnsPolicy": "Mine"}, 'spec.dnsPolicy: Unsupported value: "Mine"'),
        ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds: Invalid value: 0"),
        ({"nodeSelector": {"a": "b c"}}, 'spec.nodeSelector: Invalid value: "b c": a valid label'),
        ({"nodeSelector": {"a": "x" * 64}}, f'spec.nodeSelector: Invalid value: "{"x" * 64}": must be no more'),
        ({"nodeSelector": {"/a": "b"}}, 'spec.nodeSelector: Invalid value: "/a": prefix part must be non-empty'),
        (container(env=[{"name": "A=B"}]), 'spec.containers[0].env[0].name: Invalid value: "A=B"'),
        (container(env=[{"value": "x"}]), "spec.containers[0].env[0].name: Required value"),
        (container(env=[{"name": "A", "value": "x", "valueFrom": {"a": {}}}]), "spec.containers[0].env[0].valueFrom"),
        (container(env=[{"name": "A", "valueFrom": {}}]), "spec.containers[0].env[0].valueFrom: "),
        (container(ports=[{}]), "spec.containers[0].ports[0].containerPort: Required value"),
        (container(ports=[{"containerPort": 65536}]), "spec.containers[0].ports[0].containerPort: Invalid"),
        (container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
         'spec.containers[0].ports[1].name: Duplicate value: "a"'),
        ({"hostNetwork": True, **container(ports=[{"containerPort": 80, "hostPort": 81}])},
         "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort`"),
        (container(resources={"limits": {"cpu": "-1"}}), "spec.containers[0].resources.limits[cpu]: Invalid"),
        (container(resources={"limits": {"google.com/tpu": "500m"}}),
         'spec.containers[0].resources.limits[google.com/tpu]: Invalid value: "500m": must be an integer'),
        (container(resources={"requests": {"google.com/tpu": "4"}}), "spec.containers[0].resources.limits: Required"),
        (container(resources={"requests": {"google.com/tpu": "4"}, "limits": {"google.com/tpu": "8"}}),
         'spec.containers[0].resources.requests: Invalid value: "4": must be equal to google.com/tpu limit of 8'),
        (container(resources={"requests": {"memory": "2Gi"}, "limits": {"memory": "2G"}}),
         'spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal'),
        (container(imagePullPolicy="Maybe"), 'spec.containers[0].imagePullPolicy: Unsupported value: "Maybe"'),
        ({"tolerations": [{"key": "a", "operator": "Like"}]}, 'spec.tolerations[0].operator: Unsupported value'),
        ({"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]}, "spec.tolerations[0].operator: Invalid"),
        ({"tolerations": [{"value": "x"}]}, 'spec.tolerations[0].operator: Invalid value: "": operator must'),
        ({"tolerations": [{"key": "a", "tolerationSeconds": 3}]}, 'spec.tolerations[0].effect: Invalid value: ""'),
    ],
)  # fmt: skip
def test_a_bad_pod(spec, problem):
    found = problems(**spec)
    if not problem:
        assert found == []
        return
    assert len(found) == 1
    assert found[0].startswith(problem)


@pytest.mark.parametrize(
    ("spec", "template", "problem"),
    [
        ({"parallelism": -1}, {}, "spec.parallelism"),
        ({"completionMode": "Some"}, {}, "spec.completionMode"),
        ({"completionMode": "Indexed", "parallelism": 1}, {}, "spec.completions"),
        ({}, {"restartPolicy": "Always"}, "spec.template.spec.restartPolicy"),
        ({"podFailurePolicy": {"rules": []}}, {"restartPolicy": "OnFailure"}, "spec.template.spec.restartPolicy"),
        (
            {"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"},
            {},
            "spec.podReplacementPolicy",
        ),
        ({}, {"containers": [{"name": "a"}]}, "spec.template.spec.containers[0].image"),
    ],
)
def test_a_bad_job(refused, job, spec, template, problem):
    body = job(**spec)
    body["spec"]["template"]["spec"].update(template)
    error = refused("create", "jobs", body, "default")
    assert error.code == 422
    assert [each["field"] for each in error.details["causes"]] == [problem]
    assert error.message.startswith('Job.batch "j" is invalid: ')


def test_an_indexed_job_whose_hosts_have_no_label(refused, job):
    body = job("j" * 62, completionMode="Indexed", completions=1)
    wanted = f"will not able to create pod with invalid DNS label: {'j' * 62}-0"
    assert wanted in refused("create", "jobs", body, "default").message


def test_pod_labels_of_a_template_are_checked(refused, job):
    body = job()
    body["spec"]["template"]["metadata"] = {"labels": {"jobset.sigs.k8s.io/coordinator": "x" * 64}}
    assert "must be no more than 63 bytes" in refused("create", "jobs", body, "default").message


def test_what_may_change_in_a_pod(do, refused, pod):
    do("create", "pods", pod(), "default")
    image = {"spec": {"containers": [{"name": "main", "image": "other"}]}}
    assert do("patch", "pods", "p", image, "default", kind=STRATEGIC)["spec"]["containers"][0]["image"] == "other"
    more = [{"op": "add", "path": "/spec/tolerations/-", "value": {"key": "a", "operator": "Exists"}}]
    assert len(do("patch", "pods", "p", more, "default", kind=JSON_PATCH)["spec"]["tolerations"]) == 3
    env = {"spec": {"containers": [{"name": "main", "env": [{"name": "B", "value": "2"}]}]}}
    for body in (env, {"spec": {"nodeName": "n"}}, {"spec": {"nodeSelector": {"a": "b"}}}):
        error = refused("patch", "pods", "p", body, "default", kind=STRATEGIC)
        assert (error.code, "pod updates may not change fields other than" in error.message) == (422, True)
    fewer = [{"op": "remove", "path": "/spec/tolerations/2"}]
    assert "existing toleration" in refused("patch", "pods", "p", fewer, "default", kind=JSON_PATCH).message


def test_a_gated_pod_may_still_be_told_where_to_go(do, pod):
    do("create", "pods", pod(schedulingGates=[{"name": "a.b/c"}]), "default")
    body = {"spec": {"schedulingGates": None, "nodeSelector": {"a": "b"}}}
    assert do("patch", "pods", "p", body, "default")["spec"]["nodeSelector"] == {"a": "b"}


def test_what_may_change_in_a_job(do, refused, job):
    do("create", "jobs", job(suspend=True), "default")
    where = {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}
    assert do("patch", "jobs", "j", where, "default")["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}
    for body in ({"spec": {"backoffLimit": 99}}, {"spec": {"parallelism": 2}}, {"spec": {"suspend": False}}):
        do("patch", "jobs", "j", body, "default")
    for body in (where | {"spec": {"template": {"spec": {"nodeSelector": {"a": "c"}}}}}, {"spec": {"completions": 5}}):
        error = refused("patch", "jobs", "j", body, "default")
        assert (error.code, "field is immutable" in error.message) == (422, True)


def test_jobset_rules_of_the_crd(do, refused, jobset):
    in_order = jobset(startupPolicy={"startupPolicyOrder": "InOrder"})
    in_order["spec"]["replicatedJobs"][0]["dependsOn"] = [{"name": "x", "status": "Ready"}]
    assert "mutually exclusive" in refused("create", "jobsets", in_order, "default").message
    do("create", "jobsets", jobset(failurePolicy={"maxRestarts": 1}), "default")
    error = refused("patch", "jobsets", "js", {"spec": {"failurePolicy": {"maxRestarts": 2}}}, "default")
    assert error.code == 422
    assert error.message == (
        'JobSet.jobset.x-k8s.io "js" is invalid: spec.failurePolicy: Invalid value: Value is immutable'
    )
    assert do("patch", "jobsets", "js", {"spec": {"suspend": True}}, "default")["spec"]["suspend"] is True


def test_an_immutable_config_map(do, refused):
    do("create", "configmaps", {"metadata": {"name": "c"}, "data": {"a": "1"}, "immutable": True}, "default")
    assert refused("patch", "configmaps", "c", {"data": {"a": "2"}}, "default").code == 422
    assert do("patch", "configmaps", "c", {"metadata": {"labels": {"a": "1"}}}, "default")
