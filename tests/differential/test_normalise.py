"""What is compared and what is not."""

import pytest

from differential import normalise
from differential.corpus import GONE, jobset, varied


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("pod set-head-0-0-x7k2p is gone", "pod set-head-0-0-XXXXX is gone"),
        ("set-head-0-0-x7k2p.187ab", "set-head-0-0-XXXXX.187ab"),
        ("set-worker-0", "set-worker-0"),
        ("since 2026-11-30T01:02:03Z", "since TIME"),
        ("since 2026-11-30T01:02:03.123456Z", "since TIME"),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", "UID"),
        ("https://127.0.0.1:4567/x", "https://127.0.0.1:PORT/x"),
        ("follower-pod", "follower-pod"),
        ("restart-attempt", "restart-attempt"),
    ],
)
def test_a_sentence_loses_what_is_random_in_it(said, kept):
    assert normalise.text(said) == kept


def test_empty_values_are_absent_and_volatile_ones_gone():
    body = {"metadata": {"uid": "x", "name": "a", "labels": {}}, "status": {"active": 0, "conditions": None}, "x": [{}]}
    assert normalise.scrubbed(body) == {"metadata": {"name": "a"}, "status": {"active": 0}, "x": [{}]}


def test_the_token_volume_of_a_pod_is_no_difference():
    mounts = [{"name": "kube-api-access-abcde", "mountPath": "/var/run"}, {"name": "data", "mountPath": "/d"}]
    assert normalise.scrubbed({"volumeMounts": mounts}) == {"volumeMounts": mounts[1:]}


def test_a_refusal_keeps_its_causes_in_any_order():
    causes = [{"field": "b", "message": "m", "reason": "r"}, {"field": "a", "message": "m", "reason": "r"}]
    one, other = (
        normalise.answer(422, {"kind": "Status", "reason": "Invalid", "message": "m", "details": {"causes": each}})
        for each in (causes, causes[::-1])
    )
    assert one == other
    assert one["code"] == 422


def test_two_pods_are_compared_in_an_order_that_their_random_names_do_not_choose():
    def pods(*suffixes):
        phases = zip(suffixes, ("Running", "Failed"), strict=True)
        return [{"metadata": {"name": f"a-0-{suffix}"}, "status": {"phase": phase}} for suffix, phase in phases]

    assert normalise.snapshot({"pods": pods("bbbbb", "ccccc")}) == normalise.snapshot({"pods": pods("ddddd", "bbbbb")})


def test_where_a_pod_was_placed_is_no_difference():
    def pod(node, pool):
        spec = {"nodeName": node, "nodeSelector": {normalise.POOL: pool, "a": "b"}}
        return {"pods": [{"metadata": {"name": "x"}, "spec": spec}]}

    assert normalise.snapshot(pod("tpu-0-1", "tpu-0")) == normalise.snapshot(pod("tpu-1-0", "tpu-1"))


def test_an_event_counts_once_and_a_nodes_event_without_its_words():
    def event(component, message, **more):
        about = {"kind": "Pod", "name": "a-0-bbbbb"}
        return {"involvedObject": about, "type": "Normal", "reason": "R", "message": message, **more} | {
            "reportingComponent": component
        }

    found = [
        event("kubelet", "process 1"),
        event("kubelet", "process 2"),
        event("jobset", "said"),
        event("jobset", "said"),
    ]
    assert normalise.events(found) == ["Pod a-0-XXXXX Normal R by jobset: said", "Pod a-0-XXXXX Normal R by kubelet"]


def test_a_variation_sets_adds_and_removes():
    made = varied(jobset(), {"spec.suspend": GONE, "spec.replicatedJobs.1.name": "w", "metadata.labels.a~b/c": "d"})
    assert "suspend" not in made["spec"]
    assert made["spec"]["replicatedJobs"][1]["name"] == "w"
    assert made["metadata"]["labels"] == {"a.b/c": "d"}
    assert jobset()["spec"]["suspend"] is True


def started(completed, failed):
    """A JobSet that started once, and what it says of that since."""
    told = {"StartupPolicyCompleted": completed, "Failed": failed}
    conditions = [{"type": kind, "status": str(status)} for kind, status in told.items()]
    return normalise.snapshot({"jobsets": [{"metadata": {"name": "set"}, "status": {"conditions": conditions}}]})


def test_whether_a_jobset_saw_the_outage_before_it_failed_is_no_difference():
    assert started(completed=True, failed=True) == started(completed=False, failed=True)
    assert started(completed=True, failed=False) != started(completed=False, failed=False)
    assert started(completed=True, failed=True) != started(completed=True, failed=False)
