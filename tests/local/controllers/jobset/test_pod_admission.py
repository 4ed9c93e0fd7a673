"""Leaders and followers of exclusively placed Jobs."""

import asyncio

import pytest
from fakes.cluster import VirtualClock, node

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import StatusError

PREFIX = "jobset.sigs.k8s.io/"
TOPOLOGY = "cloud.google.com/gke-nodepool"
INDEX = "batch.kubernetes.io/job-completion-index"


def pod(index, name, *, owner="job-uid", exclusive=True, strategy=False, **spec):
    labels = {
        PREFIX + "jobset-name": "js",
        PREFIX + "replicatedjob-name": "worker",
        PREFIX + "job-index": "0",
        PREFIX + "job-key": "key",
        INDEX: str(index),
    }
    annotations = dict(labels)
    if exclusive:
        annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = TOPOLOGY
    if strategy:
        annotations["alpha.jobset.sigs.k8s.io/node-selector"] = "true"
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "js-worker-0", "uid": owner, "controller": True}
    return {
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [reference] if owner else [],
        },
        "spec": {"containers": [{"name": "main", "image": "x"}], **spec},
    }


def admitted(new, *before, bind=(), deleting=()):
    """The pod as stored, after those before it; `bind` are names that have the node tpu-0-0."""

    async def go():
        kube = EmbeddedKube(VirtualClock(), hooks())
        await kube.create("nodes", node("tpu-0-0", "tpu-0"))
        bare = node("bare", "x")
        del bare["metadata"]["labels"][TOPOLOGY]
        await kube.create("nodes", bare)
        for each in before:
            name = each["metadata"]["name"]
            await kube.create("pods", each, "default")
            if name in bind:
                await kube.patch("pods", name, {"target": {"name": "tpu-0-0"}}, "default", subresource="binding")
            if name in deleting:
                await kube.delete("pods", name, "default")
        return await kube.create("pods", new, "default")

    return asyncio.run(go())


def refusal(new, *before, **options):
    with pytest.raises(StatusError) as caught:
        admitted(new, *before, **options)
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    return caught.value.message.removeprefix('admission webhook "vpod.kb.io" denied the request: ')


LEADER = "js-worker-0-0-abcde"


def test_a_leader_keeps_other_jobs_of_its_priority_away():
    affinity = admitted(pod(0, LEADER))["spec"]["affinity"]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    (near,), (far,) = affinity["podAffinity"][required], affinity["podAntiAffinity"][required]
    key = PREFIX + "job-key"
    assert near == {
        "labelSelector": {"matchExpressions": [{"key": key, "operator": "In", "values": ["key"]}]},
        "topologyKey": TOPOLOGY,
        "namespaceSelector": {},
    }
    assert far["labelSelector"]["matchExpressions"] == [
        {"key": key, "operator": "Exists"},
        {"key": key, "operator": "NotIn", "values": ["key"]},
        {"key": PREFIX + "priority", "operator": "In", "values": ["0"]},
    ]


def test_a_follower_gets_its_leaders_domain():
    follower = admitted(pod(1, "js-worker-0-1-x"), pod(0, LEADER), bind=[LEADER])
    assert follower["spec"]["nodeSelector"] == {TOPOLOGY: "tpu-0"}
    assert follower["metadata"]["labels"][PREFIX + "priority"] == "0"


def test_a_leader_that_is_being_deleted_does_not_count():
    second = "js-worker-0-0-fghij"
    leaders = [pod(0, LEADER), pod(0, second)]
    follower = admitted(pod(1, "f"), *leaders, bind=[LEADER, second], deleting=[LEADER])
    assert follower["spec"]["nodeSelector"] == {TOPOLOGY: "tpu-0"}


NO_SELECTOR = "follower pod node selector not set"
SELECTED = {"nodeSelector": {TOPOLOGY: "tpu-0"}}


@pytest.mark.parametrize(
    ("new", "before", "bind", "message"),
    [
        (pod(1, "f"), [], [], NO_SELECTOR),
        (
            pod(1, "f", nodeSelector={"a": "b"}),
            [pod(0, LEADER)],
            [],
            f"follower pod node selector for topology domain not found. missing selector: {TOPOLOGY}",
        ),
        (
            pod(1, "f", **SELECTED),
            [pod(0, LEADER)],
            [],
            "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error",
        ),
        (
            pod(1, "f", **SELECTED),
            [],
            [],
            "expected 1 leader pod (js-worker-0-0), but got 0. this is an expected, transient error",
        ),
        (
            pod(1, "f", **SELECTED),
            [pod(0, LEADER), pod(0, "js-worker-0-0-fghij")],
            [LEADER],
            "expected 1 leader pod (js-worker-0-0), but got 2. this is an expected, transient error",
        ),
        (
            pod(1, "f", owner="new-uid", **SELECTED),
            [pod(0, LEADER)],
            [LEADER],
            "follower pod owner UID (new-uid) != leader pod owner UID (job-uid)",
        ),
        (pod(1, "f", owner="", **SELECTED), [pod(0, LEADER)], [LEADER], "follower pod has no owner reference"),
        (
            pod(1, "f", **SELECTED),
            [pod(0, LEADER, owner="")],
            [LEADER],
            f'leader pod "{LEADER}" has no owner reference',
        ),
    ],
)
def test_why_a_follower_is_refused(new, before, bind, message):
    assert refusal(new, *before, bind=bind) == message


@pytest.mark.parametrize(
    ("leader_node", "message"),
    [("bare", f"node does not have topology label: {TOPOLOGY}"), ("gone", 'nodes "gone" not found')],
)
def test_a_leader_whose_domain_is_unknown(leader_node, message):
    leader = pod(0, LEADER, nodeName=leader_node)
    with pytest.raises(StatusError) as caught:
        admitted(pod(1, "f"), leader)
    assert caught.value.message == f'admission webhook "mpod.kb.io" denied the request: {message}'


@pytest.mark.parametrize("options", [{"exclusive": False}, {"strategy": True}])
def test_other_pods_pass(options):
    follower = admitted(pod(1, "f", **options))
    assert "nodeSelector" not in follower["spec"]
    assert "affinity" not in follower["spec"]


def test_a_pod_of_no_jobset_is_left_alone():
    plain = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    assert PREFIX + "priority" not in (admitted(plain)["metadata"].get("labels") or {})
