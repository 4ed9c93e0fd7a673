"""What JobSet's webhooks fill in and refuse, with upstream's texts."""

import asyncio
import copy

import pytest
from fakes.cluster import VirtualClock, reference_jobset

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError

LABEL = "jobset.sigs.k8s.io/coordinator"


def minimal(name="small", **spec):
    pod = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
    job = {"name": "w", "template": {"spec": {"template": pod}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [job], **spec},
    }


def create(jobset):
    return asyncio.run(EmbeddedKube(VirtualClock(), hooks()).create("jobsets", jobset, "default"))


def refused(jobset):
    with pytest.raises(StatusError) as caught:
        create(jobset)
    return caught.value


def change(jobset, patch):
    """The JobSet after a patch of the stored one."""

    async def go():
        kube = EmbeddedKube(VirtualClock(), hooks())
        stored = await kube.create("jobsets", jobset, "default")
        body = patch(copy.deepcopy(stored["spec"]))
        return await kube.patch("jobsets", stored["metadata"]["name"], {"spec": body}, "default")

    return asyncio.run(go())


def test_the_defaults():
    spec = create(minimal(failurePolicy={"rules": [{"action": "FailJobSet"}]}))["spec"]
    job = spec["replicatedJobs"][0]
    assert (job["groupName"], job["replicas"]) == ("default", 1)
    assert job["template"]["spec"]["completionMode"] == "Indexed"
    assert job["template"]["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"
    assert spec["successPolicy"] == {"operator": "All"}
    assert spec["startupPolicy"] == {"startupPolicyOrder": "AnyOrder"}
    assert spec["network"] == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    assert spec["failurePolicy"] == {
        "restartStrategy": "Recreate",
        "rules": [{"action": "FailJobSet", "name": "failurePolicyRule0"}],
    }


def test_what_is_given_stays():
    wanted = reference_jobset()
    made = create(copy.deepcopy(wanted))["spec"]
    for field in ("coordinator", "network", "startupPolicy", "successPolicy", "failurePolicy"):
        assert made[field] == wanted["spec"][field]


@pytest.mark.parametrize(("length", "subdomain", "accepted"), [
    (22, "", True), (23, "", False), (37, "abcdefg", True), (38, "abcdefg", False),
])  # fmt: skip
def test_the_coordinators_label_limits_the_name(length, subdomain, accepted):
    jobset = reference_jobset()
    jobset["metadata"]["name"] = "n" * length
    jobset["spec"]["network"] = {"subdomain": subdomain} if subdomain else {}
    if accepted:
        create(jobset)
        return
    error = refused(jobset)
    value = f"{'n' * length}-pathways-head-0-0.{subdomain or 'n' * length}"
    detail = (
        f'Internal error: spec will lead to invalid label value "{value}" for coordinator label "{LABEL}"'
        " (long JobSet / ReplicatedJob / SubDomain name?): must be no more than 63 bytes"
    )
    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message == (
        f'admission webhook "vjobset.kb.io" denied the request: JobSet.jobset.x-k8s.io "{"n" * length}" is invalid:'
        f" <nil>: {detail}"
    )
    assert error.details["causes"] == [{"reason": "InternalError", "message": detail, "field": "<nil>"}]


@pytest.mark.parametrize(("length", "what"), [(39, ""), (40, "pod"), (55, "job")])
def test_without_a_coordinator_the_names_of_children_limit_it(length, what):
    jobset = reference_jobset()
    jobset["metadata"]["name"] = "n" * length
    del jobset["spec"]["coordinator"]
    if not what:
        create(jobset)
        return
    message = refused(jobset).message
    assert f"JobSet name is too long, {what} names generated for this JobSet will exceed 63 characters" in message
    assert f'spec.replicatedJobs[0].name: Invalid value: "{"n" * length}-pathways-head-0"' in message


GATE = (
    "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate"
    " is disabled"
)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"failurePolicy": {"rules": [{"name": "r", "action": "RestartJob"}]}}, GATE),
        ({"failurePolicy": {"rules": [{"name": "r", "action": "RestartJobAndIgnoreMaxRestarts"}]}}, GATE),
        (
            {"failurePolicy": {"restartStrategy": "InPlaceRestart"}},
            "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled",
        ),
        (
            {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["x"]}},
            "invalid replicatedJob name 'x' does not appear in .spec.ReplicatedJobs",
        ),
        (
            {"failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet", "targetReplicatedJobs": ["x"]}]}},
            "invalid replicatedJob name 'x' in failure policy does not appear in .spec.ReplicatedJobs",
        ),
        (
            {"failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet", "onJobFailureReasons": ["x"]}]}},
            "invalid job failure reason 'x' in failure policy is not a recognized job failure reason",
        ),
        (
            {"failurePolicy": {"rules": [{"name": "1r", "action": "FailJobSet"}]}},
            "invalid failure policy rule name '1r', a failure policy rule name must start with an alphabetic character",
        ),
        (
            {"failurePolicy": {"rules": [{"name": "r" * 129, "action": "FailJobSet"}]}},
            "invalid failure policy rule name of length 129",
        ),
        (
            {"failurePolicy": {"rules": [{"name": "r", "action": "FailJobSet"}] * 2}},
            "rule names are not unique, rules with indices [0 1] all have the same name 'r'",
        ),
        ({"coordinator": {"replicatedJob": "x"}}, "coordinator replicatedJob x does not exist"),
        (
            {"coordinator": {"replicatedJob": "w", "jobIndex": 1}},
            "coordinator job index 1 is invalid for replicatedJob w",
        ),
        (
            {"coordinator": {"replicatedJob": "w"}},
            "job for coordinator pod must be indexed completion mode, and completions number must be set",
        ),
        (
            {"network": {"subdomain": "Bad"}},
            'spec.network.subdomain: Invalid value: "Bad": a lowercase RFC 1123 subdomain',
        ),
        (
            {"network": {"subdomain": "s" * 64}},
            ".spec.network.subdomain is too long, must be less than 63 characters",
        ),
    ],
)
def test_refusals(spec, message):
    error = refused(minimal(**spec))
    assert (error.code, error.reason) == (422, "Invalid")
    assert message in error.message
    assert error.details["kind"] == "JobSet"
    assert error.details["causes"]


def test_dependencies():
    jobset = minimal()
    (first,) = jobset["spec"]["replicatedJobs"]
    first["dependsOn"] = [{"name": "w", "status": "Ready"}]
    assert "DependsOn can't be set for the first ReplicatedJob" in refused(jobset).message
    jobset = minimal()
    second = {**copy.deepcopy(jobset["spec"]["replicatedJobs"][0]), "name": "v"}
    second["dependsOn"] = [{"name": "x", "status": "Ready"}]
    jobset["spec"]["replicatedJobs"].append(second)
    assert "replicatedJob: v cannot depend on replicatedJob: x" in refused(jobset).message
    second["dependsOn"] = [{"name": "w", "status": "Ready"}]
    jobset["spec"]["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    assert refused(jobset).message == (
        'JobSet.jobset.x-k8s.io "small" is invalid: spec: Invalid value: StartupPolicy and DependsOn APIs are mutually'
        " exclusive"
    )


@pytest.mark.parametrize(
    ("manager", "message"),
    [
        ("", "spec.managedBy: Required value"),
        ("me", 'Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'),
        ("/x", "must be a domain-prefixed path"),
        ("Me/x", 'spec.managedBy: Invalid value: "Me": a lowercase RFC 1123 subdomain must consist of'),
        ("me/ ", 'spec.managedBy: Invalid value: " ": Invalid path (regex used for validation is \'[A-Za-z0-9/'),
        (f"me/{'x' * 61}", "spec.managedBy: Too long: may not be more than 63 bytes"),
        (f"me/{'x' * 60}", ""),
    ],
)
def test_who_manages_it_is_a_path_with_a_domain(manager, message):
    jobset = minimal(managedBy=manager)
    if message:
        assert message in refused(jobset).message
    else:
        create(jobset)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"replicatedJobs": [{"name": "w"}]},
            'template.spec.template.spec.containers in body must be of type array: "null"',
        ),
        ({"failurePolicy": {"rules": [{"name": "r"}]}}, 'spec.failurePolicy.rules[0].action: Unsupported value: ""'),
        ({"successPolicy": {}}, 'spec.successPolicy.operator: Unsupported value: ""'),
        ({"replicatedJobs": [1]}, "spec.replicatedJobs"),
    ],
)
def test_what_is_no_jobset_at_all_is_refused_by_the_schema(spec, message):
    assert message in refused(minimal(**spec)).message


def test_too_many_pods():
    jobset = minimal()
    jobset["spec"]["replicatedJobs"][0].update(replicas=2**16)
    jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 2**15
    assert "the product of replicas and parallelism must not exceed 2147483647" in refused(jobset).message


def more_restarts(_):
    return {"failurePolicy": {"maxRestarts": 9}}


def replicas(spec):
    spec["replicatedJobs"][1]["replicas"] = 4
    return spec


def image(spec):
    pod = spec["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "other"
    return spec


def node_selector(spec):
    pod = spec["replicatedJobs"][1]["template"]["spec"]["template"]
    pod["spec"]["nodeSelector"] = {"a": "b"}
    pod["metadata"] = {"labels": {"c": "d"}}
    return spec


@pytest.mark.parametrize(
    ("patch", "suspended", "message"),
    [
        (
            lambda _: {"failurePolicy": {"maxRestarts": 9}},
            False,
            "spec.failurePolicy: Invalid value: Value is immutable",
        ),
        (
            lambda _: {"failurePolicy": {"maxRestarts": 9}},
            True,
            "spec.failurePolicy: Invalid value: Value is immutable",
        ),
        (lambda _: {"network": {"subdomain": "x"}}, False, "spec.network: Invalid value: Value is immutable"),
        (replicas, False, "spec.replicatedJobs: Invalid value: "),
        (replicas, True, "field is immutable"),
        (image, True, "field is immutable"),
        (node_selector, False, "field is immutable"),
        (lambda _: {"managedBy": "a.b/c"}, False, "spec.managedBy: Invalid value: "),
    ],
)
def test_what_may_not_change(patch, suspended, message):
    with pytest.raises(StatusError) as caught:
        change(reference_jobset(suspend=suspended), patch)
    assert caught.value.code == 422
    assert message in caught.value.message
    assert caught.value.details["causes"][0]["reason"] == "FieldValueInvalid"


@pytest.mark.parametrize(
    ("patch", "suspended"),
    [
        (lambda _: {"suspend": True}, False),
        (lambda _: {"ttlSecondsAfterFinished": 1}, False),
        (lambda _: {"coordinator": {"replicatedJob": "worker", "jobIndex": 2, "podIndex": 1}}, False),
        (node_selector, True),
        (lambda spec: {**node_selector(spec), "suspend": False}, True),
        (lambda spec: {**node_selector(spec), "suspend": True}, False),
    ],
)
def test_what_may_change(patch, suspended):
    jobset = reference_jobset(suspend=suspended)
    before = create(copy.deepcopy(jobset))["metadata"]["generation"]
    assert change(jobset, patch)["metadata"]["generation"] == before + 1


@pytest.mark.parametrize(
    ("where", "field"),
    [
        ((), "volumeClaimPolicies"),
        (("replicatedJobs", 0, "template", "spec"), "successPolicy"),
        (("replicatedJobs", 0, "template", "spec", "template", "spec"), "topologySpreadConstraints"),
    ],
)
def test_what_is_not_emulated_is_refused_by_name(where, field):
    jobset = minimal()
    value = {"volumeClaimPolicies": [{"templates": []}], "successPolicy": {"rules": [{"succeededCount": 1}]}}
    constraint = {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}
    place = jobset["spec"]
    for step in where:
        place = place[step]
    place[field] = value.get(field, [constraint])
    error = refused(jobset)
    assert (error.code, error.reason) == (501, "NotImplemented")
    assert field in error.message
