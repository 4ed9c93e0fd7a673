"""Bodies with something wrong in any place: the answer is an object or a refusal, never an error of our own."""

import asyncio

import pytest
import yaml
from fakes.clock import FakeClock
from fakes.cluster import DATA
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.local.apiserver.kube import EmbeddedKube, clone
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.controllers.webhooks import hooks
from xlaunch.local.kube import APPLY, JSON_PATCH, MERGE, STRATEGIC, StatusError

JOBSET = yaml.safe_load((DATA / "jobset-elastic-v5e16x3.yaml").read_text())
JOB = {**JOBSET["spec"]["replicatedJobs"][0]["template"], "metadata": {"name": "j"}}
POD = {**JOB["spec"]["template"], "metadata": {"name": "p", "labels": {"a": "b"}}}
SERVICE = {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}], "selector": {"a": "b"}}}
EVENT = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "c"}}
NODE = {"metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
SECRET = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}
BODIES = {
    "jobsets": JOBSET,
    "jobs": JOB,
    "pods": POD,
    "services": SERVICE,
    "events": EVENT,
    "nodes": NODE,
    "secrets": SECRET,
}
JUNK = st.sampled_from(
    [None, True, 0, -1, 2**40, 1.5, "", "x", "A_b", "é\n", [], [None], ["x"], {}, {"x": 1}, {"": None}]
)


def places(value, path=()):
    """The paths of everything inside a document."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from places(each, (*path, key))


def with_junk(document, path, junk):
    if not path:
        return junk
    copy = clone(document)
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = junk
    return copy


def attempt(coroutine):
    """The kind of what comes back, or the code of the refusal."""

    async def go():
        try:
            return (await coroutine)["kind"]
        except StatusError as error:
            return error.code

    return asyncio.run(go())


@pytest.mark.parametrize("resource", BODIES)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_create(resource, data):
    body = BODIES[resource]
    path = data.draw(st.sampled_from(sorted(places(body), key=str)))
    namespace = None if resource == "nodes" else "default"
    kube = EmbeddedKube(FakeClock(), hooks())
    found = attempt(kube.create(resource, with_junk(body, path, data.draw(JUNK)), namespace))
    assert found in (kube_kind(resource), 400, 403, 404, 422, 501)


@pytest.mark.parametrize("kind", [MERGE, STRATEGIC, JSON_PATCH, APPLY])
@pytest.mark.parametrize("resource", ["jobsets", "jobs", "pods"])
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_patch(resource, kind, data):
    body = BODIES[resource]
    path = data.draw(st.sampled_from(sorted(places(body), key=str)))
    junk = data.draw(JUNK)
    broken = with_junk(body, path, junk)
    if kind == JSON_PATCH:
        pointer = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path)
        broken = [{"op": "replace", "path": pointer, "value": junk}]
    kube = EmbeddedKube(FakeClock(), hooks())
    name = body["metadata"]["name"]
    asyncio.run(kube.create(resource, body, "default"))
    for subresource in ("", "status"):
        found = attempt(kube.patch(resource, name, broken, "default", kind=kind, subresource=subresource))
        assert found in (kube_kind(resource), 400, 403, 409, 415, 422, 501)


@pytest.mark.parametrize("resource", ["jobsets", "jobs", "pods"])
def test_every_part_may_be_emptied_or_removed_by_a_patch(resource):
    """Also what a template cannot do without: the answer is a refusal, never a failure of the server."""
    body = BODIES[resource]
    name = body["metadata"]["name"]
    for path in places(body):
        kube = EmbeddedKube(FakeClock(), hooks())
        asyncio.run(kube.create(resource, body, "default"))
        pointer = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path)
        for change in ({"op": "remove"}, {"op": "replace", "value": {}}, {"op": "replace", "value": None}):
            broken = [{**change, "path": pointer}]
            found = attempt(kube.patch(resource, name, broken, "default", kind=JSON_PATCH, subresource=""))
            assert found in (kube_kind(resource), 400, 403, 409, 422, 501), broken


def kube_kind(resource):
    return BY_NAME[resource].kind
