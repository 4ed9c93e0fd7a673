"""EmbeddedKube by its protocol: create, change, status, binding, eviction, namespaces, watch."""

import asyncio

import pytest

from xlaunch.local.apiserver.deletion import DeleteOptions
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.kube import APPLY, JSON_PATCH, STRATEGIC, StatusError

LABELLED = {"metadata": {"labels": {"a": "1"}}}


def test_a_new_pod_is_pending_whatever_it_says(do, pod):
    made = do("create", "pods", {**pod(), "status": {"phase": "Failed"}}, "default")
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert made["metadata"]["creationTimestamp"] == "2026-11-29T12:00:00Z"
    assert made["metadata"]["uid"]
    assert made["metadata"]["generation"] == 1
    assert (made["apiVersion"], made["kind"]) == ("v1", "Pod")


def test_objects_are_never_shared(do, pod):
    body = pod()
    made = do("create", "pods", body, "default")
    made["spec"]["containers"].clear()
    body["spec"]["containers"].clear()
    listed, _ = do("list", "pods", "default")
    listed[0]["metadata"].clear()
    assert do("get", "pods", "p", "default")["spec"]["containers"][0]["name"] == "main"


def test_generate_name(do, pod):
    names = {
        do("create", "pods", pod(None, {"generateName": "a-" * 40}), "default")["metadata"]["name"] for _ in range(3)
    }
    assert len(names) == 3
    assert all(name.startswith("a-" * 29) and len(name) == 63 for name in names)


def test_a_job_selects_its_pods_by_its_uid(do, job):
    made = do("create", "jobs", job(), "default")
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert made["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"
    assert made["status"] == {}


@pytest.mark.parametrize(
    ("resource", "body", "namespace", "code", "reason"),
    [
        ("pods", {"metadata": {"name": "p"}, "spec": {}}, "default", 422, "Invalid"),
        ("configmaps", {"metadata": {}}, "default", 422, "Invalid"),
        ("configmaps", {"metadata": {"name": "A_b"}}, "default", 422, "Invalid"),
        ("configmaps", {"metadata": {"name": "a"}}, "none", 404, "NotFound"),
        ("configmaps", {"metadata": {"name": "a", "namespace": "other"}}, "default", 400, "BadRequest"),
        ("configmaps", {"metadata": {"name": "a"}, "kind": "Secret"}, "default", 400, "BadRequest"),
        ("configmaps", {"metadata": {"name": "a"}, "data": []}, "default", 400, "BadRequest"),
        ("configmaps", ["no object"], "default", 400, "BadRequest"),
        ("configmaps", {"metadata": "x"}, "default", 400, "BadRequest"),
        ("jobsets", {"metadata": {"name": "a"}, "spec": []}, "default", 400, "BadRequest"),
        ("namespaces", {"metadata": {"name": "a.b"}}, None, 422, "Invalid"),
        ("services", {"metadata": {"name": "a"}, "spec": {}}, "default", 501, "NotImplemented"),
        ("services", {"metadata": {"name": "a.b"}, "spec": {"clusterIP": "None"}}, "default", 422, "Invalid"),
        ("services", {"metadata": {"name": "a"}, "spec": {"type": "LoadBalancer"}}, "default", 501, "NotImplemented"),
    ],
)
def test_refused_on_create(refused, resource, body, namespace, code, reason):
    error = refused("create", resource, body, namespace)
    assert (error.code, error.reason) == (code, reason)


def test_a_name_is_given_once(do, refused, pod):
    do("create", "pods", pod(), "default")
    error = refused("create", "pods", pod(), "default")
    assert (error.code, error.reason, error.message) == (409, "AlreadyExists", 'pods "p" already exists')


def test_what_is_not_there(refused):
    error = refused("get", "jobsets", "none", "default")
    assert error.message == 'jobsets.jobset.x-k8s.io "none" not found'
    assert error.details == {"name": "none", "group": "jobset.x-k8s.io", "kind": "jobsets"}
    for method, args in (("patch", ({},)), ("delete", ())):
        assert refused(method, "pods", "none", *args, "default").code == 404


def test_a_change_of_the_spec_is_a_new_generation(do, job):
    do("create", "jobs", job(), "default")
    assert do("patch", "jobs", "j", LABELLED, "default")["metadata"]["generation"] == 1
    assert do("patch", "jobs", "j", {"spec": {"parallelism": 0}}, "default")["metadata"]["generation"] == 2
    status = {"status": {"active": 1}}
    assert do("patch", "jobs", "j", status, "default", subresource="status")["metadata"]["generation"] == 2


def test_status_and_the_object_itself_are_written_apart(do, jobset):
    do("create", "jobsets", {**jobset(), "status": {"restarts": 9}}, "default")
    both = {"spec": {"ttlSecondsAfterFinished": 7}, "status": {"restarts": 3}, **LABELLED}
    made = do("patch", "jobsets", "js", both, "default", subresource="status")
    assert made["status"] == {"restarts": 3}
    assert "ttlSecondsAfterFinished" not in made["spec"]
    assert "labels" not in made["metadata"]
    made = do("patch", "jobsets", "js", {**both, "status": {"restarts": 5}}, "default")
    assert (made["status"]["restarts"], made["spec"]["ttlSecondsAfterFinished"]) == (3, 7)


def test_an_empty_change_keeps_the_resource_version(do, pod):
    made = do("create", "pods", pod(), "default")
    assert do("patch", "pods", "p", {}, "default") == made
    assert do("patch", "pods", "p", [], "default", kind=JSON_PATCH) == made


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"resourceVersion": "1"}, 409),
        ({"uid": "other"}, 409),
        ({"name": "other"}, 400),
        ({"labels": {"a": "b c"}}, 422),
    ],
)
def test_refused_on_patch(do, refused, pod, metadata, code):
    do("create", "pods", pod(), "default")
    assert refused("patch", "pods", "p", {"metadata": metadata}, "default").code == code


def test_system_metadata_cannot_be_changed(do, pod):
    made = do("create", "pods", pod(), "default")
    forged = {
        "creationTimestamp": "2000-01-01T00:00:00Z",
        "generation": 77,
        "deletionTimestamp": "2000-01-01T00:00:00Z",
    }
    assert do("patch", "pods", "p", {"metadata": forged}, "default") == made


def test_strategic_merge_is_for_core_kinds(do, refused, jobset, pod):
    do("create", "jobsets", jobset(), "default")
    assert refused("patch", "jobsets", "js", LABELLED, "default", kind=STRATEGIC).code == 415
    do("create", "pods", pod(), "default")
    for kind in ("a", "b"):
        body = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
        made = do("patch", "pods", "p", body, "default", kind=STRATEGIC, subresource="status")
    assert {each["type"] for each in made["status"]["conditions"]} == {"a", "b"}


def test_apply_creates_and_updates(do):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}}
    do("patch", "configmaps", "c", body, "default", kind=APPLY)
    assert do("patch", "configmaps", "c", {**body, "data": {"a": "1"}}, "default", kind=APPLY)["data"] == {"a": "1"}


def test_an_apply_owns_what_it_says_and_no_defaults(do, jobset):
    body = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", **jobset()}
    made = do("patch", "jobsets", "js", body, "default", kind=APPLY)
    (entry,) = made["metadata"]["managedFields"]
    assert made["spec"]["replicatedJobs"][0]["replicas"] == 1
    assert "f:replicas" not in entry["fieldsV1"]["f:spec"]["f:replicatedJobs"]['k:{"name":"w"}']


def test_ownership_cannot_be_claimed(do):
    claimed = {"metadata": {"name": "c", "managedFields": [{"manager": "x"}]}, "data": {"a": "1"}}
    assert "managedFields" not in do("create", "configmaps", claimed, "default")["metadata"]
    assert "managedFields" not in do("patch", "configmaps", "c", claimed, "default")["metadata"]


def test_a_write_in_between_makes_a_patch_start_again(clock, pod):
    """A hook that waits must not overwrite what came meanwhile."""
    kube, seen = None, []

    async def slow(_, new, old):
        if old is not None:
            seen.append(old["metadata"]["resourceVersion"])
            if len(seen) == 1:
                await kube.patch("pods", "p", {"status": {"phase": "Running"}}, "default", subresource="status")
        return new

    async def go():
        await kube.create("pods", pod(), "default")
        return await kube.patch("pods", "p", LABELLED, "default")

    kube = EmbeddedKube(clock, {"pods": [slow]})
    made = asyncio.run(go())
    assert len(seen) == 2
    assert (made["status"]["phase"], made["metadata"]["labels"]) == ("Running", {"a": "1"})


def test_hooks_change_first_and_refuse_last(clock, pod):
    async def default(_, new, old):
        new["spec"].setdefault("nodeSelector", {"set": "by-hook"})
        return new

    async def validate(_, new, old):
        if new["metadata"]["name"] == "bad":
            raise StatusError(403, "Forbidden", "denied")
        return new

    async def go():
        kube = EmbeddedKube(clock, {"pods": [default, validate]})
        with pytest.raises(StatusError, match="denied"):
            await kube.create("pods", pod("bad"), "default")
        return await kube.create("pods", pod(), "default")

    assert asyncio.run(go())["spec"]["nodeSelector"] == {"set": "by-hook"}


def test_binding(do, refused, pod):
    do("create", "pods", pod(), "default")
    assert refused("patch", "pods", "p", {"target": {}}, "default", subresource="binding").code == 422
    wrong = {"metadata": {"uid": "other"}, "target": {"name": "n1"}}
    assert refused("patch", "pods", "p", wrong, "default", subresource="binding").code == 409
    made = do("patch", "pods", "p", {"target": {"name": "n1"}}, "default", subresource="binding")
    assert made["spec"]["nodeName"] == "n1"
    assert [(each["type"], each["status"]) for each in made["status"]["conditions"]] == [("PodScheduled", "True")]
    error = refused("patch", "pods", "p", {"target": {"name": "n2"}}, "default", subresource="binding")
    assert (error.code, 'already assigned to node "n1"' in error.message) == (409, True)
    do("delete", "pods", "p", "default")
    do("create", "pods", pod("q", {"finalizers": ["x/y"]}), "default")
    do("delete", "pods", "q", "default")
    assert refused("patch", "pods", "q", {"target": {"name": "n"}}, "default", subresource="binding").code == 409


def test_eviction_marks_a_pod_and_deletes_it(do, kube, pod):
    do("create", "pods", pod(nodeName="n"), "default")
    asyncio.run(kube.evict(("default", "p"), DeleteOptions()))
    made = do("get", "pods", "p", "default")
    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["reason"], condition["message"]) == (
        "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting")  # fmt: skip
    assert made["metadata"]["deletionGracePeriodSeconds"] == 30


def test_a_namespace_is_furnished_and_ends_by_its_finalizers(do, refused):
    made = do("create", "namespaces", {"metadata": {"name": "team"}})
    assert (made["status"], made["spec"]) == ({"phase": "Active"}, {"finalizers": ["kubernetes"]})
    assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    assert do("get", "configmaps", "kube-root-ca.crt", "team")
    assert do("get", "serviceaccounts", "default", "team")
    assert do("delete", "namespaces", "team")["status"]["phase"] == "Terminating"
    error = refused("create", "configmaps", {"metadata": {"name": "c"}}, "team")
    assert (error.code, error.details["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    do("patch", "namespaces", "team", {"spec": {"finalizers": []}}, subresource="finalize")
    assert refused("get", "namespaces", "team").code == 404


def test_pods_need_the_default_service_account(do, refused, pod):
    do("delete", "serviceaccounts", "default", "default")
    assert refused("create", "pods", pod(), "default").code == 403


def test_events_live_an_hour(do, clock):
    event = {"metadata": {"generateName": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}}
    do("create", "events", event, "default")
    clock.sleep(1800)
    second = do("create", "events", event, "default")["metadata"]["name"]
    clock.sleep(1801)
    third = do("create", "events", event, "default")["metadata"]["name"]
    assert {each["metadata"]["name"] for each in do("list", "events", "default")[0]} == {second, third}


def test_secrets_take_text(do):
    made = do("create", "secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, "default")
    assert (made["data"], made["type"], "stringData" in made) == ({"a": "Yg=="}, "Opaque", False)


async def collected(kube, count, since):
    found = []
    async for event in kube.watch("configmaps", since=since):
        found.append((event.type, event.object["metadata"].get("name"), event.object.get("code")))
        if len(found) == count:
            break
    return found


def test_watch_tells_all_that_follows(kube):
    async def go():
        made = await kube.create("configmaps", {"metadata": {"name": "a"}}, "default")
        await kube.create("configmaps", {"metadata": {"name": "elsewhere"}}, "kube-system")
        task = asyncio.ensure_future(collected(kube, 4, made["metadata"]["resourceVersion"]))
        await asyncio.sleep(0)
        await kube.create("configmaps", {"metadata": {"name": "b"}}, "default")
        await kube.patch("configmaps", "a", LABELLED, "default")
        await kube.delete("configmaps", "b", "default")
        return await task

    assert [each[:2] for each in asyncio.run(go())] == [
        ("ADDED", "elsewhere"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]  # fmt: skip


def test_watch_resumes_and_ends_with_410_when_the_past_is_forgotten(kube):
    async def go():
        _, since = await kube.list("configmaps", "default")
        await kube.create("configmaps", {"metadata": {"name": "a"}}, "default")
        later = await collected(kube, 1, since)
        kube.store.compact("configmaps", kube.store.revision)
        return later, await collected(kube, 2, since)

    later, expired = asyncio.run(go())
    assert later == [("ADDED", "a", None)]
    assert expired == [("ERROR", None, 410)]
