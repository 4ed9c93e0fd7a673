"""The HTTP layer, through a real socket in the same process."""

import asyncio
import json

import pytest
from aiohttp import ClientOSError, ClientPayloadError
from aiohttp.test_utils import TestClient, TestServer

from xlaunch.local.apiserver.discovery import VERSION
from xlaunch.local.apiserver.http import make_app
from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.kube import APPLY, JSON_PATCH, STRATEGIC, StatusError
from xlaunch.local.logs import LogOptions

TestClient.__test__ = TestServer.__test__ = False
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
HOME = "/api/v1/namespaces/default"
BODY = {"metadata": {"name": "c"}, "data": {"a": "1"}}


class Logs:
    """Yields prepared chunks, or refuses; remembers what was asked for."""

    def __init__(self):
        self.chunks, self.error, self.asked, self.closed = [b""], None, None, asyncio.Event()

    async def open(self, namespace, pod, container, options):
        self.asked = (namespace, pod, container, options)
        if self.error:
            raise self.error
        try:
            for chunk in self.chunks:
                yield chunk
            if options.follow:
                await asyncio.Event().wait()
        finally:
            self.closed.set()


class Api:
    def __init__(self, client, kube, logs):
        self.client, self.kube, self.logs = client, kube, logs

    async def __call__(self, method, path, body=None, kind="application/json", headers=None, **query):
        data = None if body is None else json.dumps(body)
        headers = {**({"Content-Type": kind} if body is not None else {}), **(headers or {})}
        async with self.client.request(method, f"/s{path}", data=data, headers=headers, params=query) as response:
            text = await response.text()
            is_json = response.content_type == "application/json"
            return response.status, json.loads(text) if is_json and text.count("\n") < 2 else text, response.headers


@pytest.fixture
def serve(clock):
    """Runs an async test with a served cluster."""

    def run(test):
        async def go():
            kube, logs = EmbeddedKube(clock), Logs()
            app = make_app(kube, secret="s", logs=logs)
            async with TestClient(TestServer(app, handler_cancellation=True)) as client:
                await test(Api(client, kube, logs))

        asyncio.run(go())

    return run


def test_without_the_secret_everything_is_401(serve):
    async def test(api):
        for path in ("/", "/api/v1/pods", "/x/api/v1/pods", "/version", "/ss/version"):
            async with api.client.get(path) as response:
                status = await response.json()
                assert (response.status, status["kind"], status["reason"]) == (401, "Status", "Unauthorized")

    serve(test)


def test_what_the_server_says_about_itself(serve):
    async def test(api):
        for path in ("/version", "/version/"):
            assert (await api("GET", path))[:2] == (200, VERSION)
        for path in ("/readyz", "/healthz", "/livez", "/readyz/ping"):
            assert (await api("GET", path))[:2] == (200, "ok")
        assert (await api("GET", "/api"))[1]["versions"] == ["v1"]
        assert "batch" in {each["name"] for each in (await api("GET", "/apis"))[1]["groups"]}
        assert (await api("GET", "/apis/batch"))[1]["preferredVersion"]["groupVersion"] == "batch/v1"
        for path, code in (
            ("/apis/apps", 501),
            ("/apis/apps/v1", 501),
            ("/apis/nobody.test", 404),
            ("/apis/a.b/v1", 404),
            ("/apis/nobody.test/v1/x", 404),
            ("/nowhere", 404),
            ("/openapi/v3/apis/apps/v1", 501),
        ):
            status, body, _ = await api("GET", path)
            assert (path, status, body["kind"], body["code"]) == (path, code, "Status", code)

    serve(test)


def test_discovery_plain_and_aggregated_name_the_same_resources(serve):
    async def test(api):
        accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}
        groups = [
            *(await api("GET", "/api", headers=accept))[1]["items"],
            *(await api("GET", "/apis", headers=accept))[1]["items"],
        ]
        assert len(groups) > 5
        for group in groups:
            name, version = group["metadata"].get("name"), group["versions"][0]
            path = f"/apis/{name}/{version['version']}" if name else "/api/v1"
            plain = {each["name"] for each in (await api("GET", path))[1]["resources"]}
            found = {each["resource"] for each in version["resources"]}
            found |= {f"{each['resource']}/{sub['subresource']}" for each in version["resources"]
                      for sub in each.get("subresources", ())}  # fmt: skip
            assert found == plain

    serve(test)


def test_openapi_has_what_kubectl_apply_looks_for(serve):
    async def test(api):
        paths = (await api("GET", "/openapi/v3"))[1]
        urls = json.loads(paths)["paths"] if isinstance(paths, str) else paths["paths"]
        for path in urls:
            document = (await api("GET", f"/openapi/v3/{path}"))[1]
            patch = next(each["patch"] for each in document["paths"].values())
            assert patch["x-kubernetes-group-version-kind"]["kind"]
            assert "fieldValidation" in {each["name"] for each in patch["parameters"]}
            schemas = document["components"]["schemas"]
            assert {name.split("/")[-1] for name in _references(schemas)} <= schemas.keys()

    serve(test)


def _references(node):
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [each for value in node.values() for each in _references(value)]
    return [each for value in node for each in _references(value)] if isinstance(node, list) else []


def test_the_life_of_an_object(serve):
    async def test(api):
        path = f"{HOME}/configmaps"
        assert (await api("POST", path, BODY))[0] == 201
        assert (await api("POST", path, BODY))[1]["reason"] == "AlreadyExists"
        assert (await api("GET", f"{path}/c"))[1]["data"] == {"a": "1"}
        assert (await api("PUT", f"{path}/c", {**BODY, "data": {"b": "2"}}))[1]["data"] == {"b": "2"}
        patch = [{"op": "add", "path": "/data/c", "value": "3"}]
        assert (await api("PATCH", f"{path}/c", patch, JSON_PATCH))[1]["data"] == {"b": "2", "c": "3"}
        applied = {"apiVersion": "v1", "kind": "ConfigMap", **BODY}
        status, body, _ = await api("PATCH", f"{path}/c", applied, APPLY, fieldManager="m", force="true")
        assert (status, body["data"]["a"]) == (200, "1")
        status, _, _ = await api(
            "PATCH", f"{path}/new", {**applied, "metadata": {"name": "new"}}, APPLY, fieldManager="m"
        )
        assert status == 201
        assert (await api("DELETE", f"{path}/c"))[1]["status"] == "Success"
        assert (await api("GET", f"{path}/c"))[0] == 404

    serve(test)


def test_a_dry_run_persists_nothing(serve):
    async def test(api):
        path = f"{HOME}/configmaps"
        status, body, _ = await api("POST", path, BODY, dryRun="All")
        assert (status, body["data"]) == (201, {"a": "1"})
        assert (await api("GET", f"{path}/c"))[0] == 404
        await api("POST", path, BODY)
        assert (await api("PATCH", f"{path}/c", {"data": {"a": "2"}}, STRATEGIC, dryRun="All"))[1]["data"] == {"a": "2"}
        assert (await api("DELETE", f"{path}/c", dryRun="All"))[0] == 200
        assert (await api("GET", f"{path}/c"))[1]["data"] == {"a": "1"}
        assert (await api("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}, dryRun="All"))[0] == 201
        assert (await api("GET", "/api/v1/namespaces/n"))[0] == 404

    serve(test)


def test_unknown_fields_warn_or_refuse(serve):
    async def test(api):
        body = {**BODY, "bogus": {"a": 1}}
        status, made, headers = await api("POST", f"{HOME}/configmaps", body)
        assert (status, "bogus" in made, headers["Warning"]) == (201, False, '299 - "unknown field \\"bogus\\""')
        _, _, headers = await api("PATCH", f"{HOME}/configmaps/c", {"ü\r\n": 1}, STRATEGIC)
        assert headers["Warning"] == '299 - "unknown field \\"\\u00fc\\r\\n\\""'
        _, _, headers = await api("PATCH", f"{HOME}/configmaps/c", {"bogus": 2}, STRATEGIC, fieldValidation="Ignore")
        assert "Warning" not in headers
        status, error, _ = await api("PATCH", f"{HOME}/configmaps/c", {"bogus": 2}, STRATEGIC, fieldValidation="Strict")
        assert (status, 'unknown field "bogus"' in error["message"]) == (400, True)

    serve(test)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", f"{HOME}/configmaps/kube-root-ca.crt", 405),
        ("PUT", f"{HOME}/configmaps", 405),
        ("PATCH", f"{HOME}/configmaps", 405),
        ("POST", f"{HOME}/resourcequotas", 501),
        ("POST", f"{HOME}/pods/p/exec", 501),
        ("GET", "/apis/apps/v1/deployments", 501),
        ("PUT", f"{HOME}/pods/p/log", 405),
        ("DELETE", f"{HOME}/pods/p/status", 405),
        ("POST", "/version", 404),
    ],
)
def test_methods_that_are_not_there(serve, method, path, code):
    async def test(api):
        status, body, _ = await api(method, path, {} if method != "GET" else None)
        assert (status, body["code"]) == (code, code)

    serve(test)


def test_an_error_of_our_own_is_a_status_and_not_the_end(serve, clock):
    async def test(api):
        async def broken(_, new, old):
            raise KeyError("hook")

        api.kube.writer._hooks = {"configmaps": [broken]}
        status, body, _ = await api("POST", f"{HOME}/configmaps", BODY)
        assert (status, body["reason"]) == (500, "InternalError")
        assert (await api("GET", "/readyz"))[0] == 200

    serve(test)


def test_lists_in_three_forms(serve):
    async def test(api):
        await api("POST", f"{HOME}/configmaps", BODY)
        _, plain, _ = await api("GET", f"{HOME}/configmaps", limit="1")
        assert (plain["kind"], len(plain["items"]), "kind" in plain["items"][0]) == ("ConfigMapList", 1, False)
        assert plain["metadata"]["remainingItemCount"] == 1
        _, rest, _ = await api("GET", f"{HOME}/configmaps", limit="1", **{"continue": plain["metadata"]["continue"]})
        assert (rest["items"][0]["metadata"]["name"], "continue" in rest["metadata"]) == ("kube-root-ca.crt", False)
        _, table, _ = await api("GET", f"{HOME}/configmaps", headers=TABLE, includeObject="None")
        assert [row["cells"][:2] for row in table["rows"]] == [["c", "1"], ["kube-root-ca.crt", "1"]]
        accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
        _, partial, _ = await api("GET", f"{HOME}/configmaps", headers=accept)
        assert {each["kind"] for each in partial["items"]} == {"PartialObjectMetadata"}
        _, one, _ = await api("GET", f"{HOME}/configmaps/c", headers=TABLE)
        assert one["rows"][0]["cells"][0] == "c"
        assert (await api("GET", f"{HOME}/configmaps", resourceVersion="1", resourceVersionMatch="Exact"))[1][
            "items"
        ] == []
        assert (await api("GET", f"{HOME}/configmaps", resourceVersion="x"))[0] == 400
        assert (await api("GET", f"{HOME}/configmaps", resourceVersion="3", **{"continue": "x"}))[0] == 400

    serve(test)


def test_a_collection_is_deleted_by_selector(serve):
    async def test(api):
        for name, drop in (("a", "yes"), ("b", "no")):
            await api("POST", f"{HOME}/configmaps", {"metadata": {"name": name, "labels": {"drop": drop}}})
        _, deleted, _ = await api("DELETE", f"{HOME}/configmaps", labelSelector="drop=yes")
        assert [each["metadata"]["name"] for each in deleted["items"]] == ["a"]
        names = [each["metadata"]["name"] for each in (await api("GET", f"{HOME}/configmaps"))[1]["items"]]
        assert names == ["b", "kube-root-ca.crt"]

    serve(test)


def test_a_watch_streams_and_ends(serve):
    async def test(api):
        since = (await api("GET", f"{HOME}/configmaps"))[1]["metadata"]["resourceVersion"]
        url = f"/s{HOME}/configmaps"
        query = {"watch": "True", "resourceVersion": since, "timeoutSeconds": "60"}
        async with api.client.get(url, params=query, headers=TABLE) as response:  # begins without an event
            await api("POST", f"{HOME}/configmaps", BODY)
            await api("DELETE", f"{HOME}/configmaps/c")
            events = [json.loads(await response.content.readline()) for _ in range(2)]
        assert [each["type"] for each in events] == ["ADDED", "DELETED"]
        assert [bool(each["object"]["columnDefinitions"]) for each in events] == [True, False]

    serve(test)


def test_an_event_is_the_same_in_both_groups(serve):
    async def test(api):
        about = {"kind": "Pod", "name": "p", "namespace": "default"}
        new = {"metadata": {"name": "e"}, "regarding": about, "note": "hello", "reason": "R", "deprecatedCount": 2,
               "reportingController": "c", "deprecatedSource": {"component": "c"}}  # fmt: skip
        path = "/apis/events.k8s.io/v1/namespaces/default/events"
        status, made, headers = await api("POST", path, {**new, "involvedObject": about})
        assert (status, made["note"], made["apiVersion"]) == (201, "hello", "events.k8s.io/v1")
        assert "involvedObject" in headers["Warning"]
        core = (await api("GET", f"{HOME}/events/e"))[1]
        assert (core["message"], core["involvedObject"], core["count"], core["source"]) == (
            "hello",
            about,
            2,
            {"component": "c"},
        )
        for where, selector in (
            (path, "regarding.name=p,reportingController=c"),
            (f"{HOME}/events", "involvedObject.name=p"),
        ):
            assert len((await api("GET", where, fieldSelector=selector))[1]["items"]) == 1
        assert (await api("PATCH", f"{path}/e", {}, STRATEGIC))[0] == 501
        assert (await api("DELETE", f"{path}/e"))[0] == 200

    serve(test)


def test_binding_and_eviction(serve, pod):
    async def test(api):
        await api("POST", f"{HOME}/pods", pod())
        assert (await api("POST", f"{HOME}/pods/p/binding", {"target": {"name": "n"}}))[0] == 201
        eviction = {"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 0}}
        assert (await api("POST", f"{HOME}/pods/p/eviction", eviction))[0] == 201
        assert (await api("GET", f"{HOME}/pods/p"))[0] == 404

    serve(test)


def test_deleting_a_job_warns_about_its_pods(serve, job):
    async def test(api):
        await api("POST", "/apis/batch/v1/namespaces/default/jobs", job())
        _, _, headers = await api("DELETE", "/apis/batch/v1/namespaces/default/jobs/j")
        assert "child pods are preserved by default" in headers["Warning"]

    serve(test)


def test_logs(serve, pod):
    async def test(api):
        await api("POST", f"{HOME}/pods", pod())
        status, text, headers = await api("GET", f"{HOME}/pods/p/log")
        assert (status, text) == (204, "")  # no node yet
        await api("POST", f"{HOME}/pods/p/binding", {"target": {"name": "n"}})
        api.logs.chunks = [b"", b"caf\xc3\xa9 \r", b"half \xc3", b"\xa9\n"]
        status, text, headers = await api("GET", f"{HOME}/pods/p/log", tailLines="5")
        assert (status, text, headers["Content-Type"]) == (200, "café \rhalf é\n", "text/plain")
        assert api.logs.asked == ("default", "p", "main", LogOptions(tail_lines=5))
        api.logs.error = StatusError(
            400, "BadRequest", 'container "main" in pod "p" is waiting to start: PodInitializing'
        )
        status, body, _ = await api("GET", f"{HOME}/pods/p/log")
        assert (status, body["reason"]) == (400, "BadRequest")
        assert (await api("GET", f"{HOME}/pods/p/log", container="x"))[0] == 400
        assert (await api("GET", f"{HOME}/pods/none/log"))[0] == 404

    serve(test)


def test_a_stream_that_breaks_is_a_cut_and_not_an_end(serve, pod):
    async def test(api):
        async def breaking(*_):
            yield b"one\n"
            raise StatusError(500, "InternalError", "the disk has gone")

        api.logs.open = breaking
        await api("POST", f"{HOME}/pods", pod(nodeName="n"))
        async with api.client.get(f"/s{HOME}/pods/p/log") as response:
            assert response.status == 200
            with pytest.raises((ClientPayloadError, ClientOSError)):
                await response.read()
        assert (await api("GET", "/readyz"))[0] == 200

    serve(test)


def test_a_follower_that_goes_ends_the_stream(serve, pod):
    async def test(api):
        await api("POST", f"{HOME}/pods", pod(nodeName="n"))
        api.logs.chunks = [b"one\n"]
        async with api.client.get(f"/s{HOME}/pods/p/log", params={"follow": "true"}) as response:
            assert await response.content.readline() == b"one\n"
            assert not api.logs.closed.is_set()
        async with asyncio.timeout(10):
            await api.logs.closed.wait()

    serve(test)


def test_a_body_of_more_than_three_megabytes_is_413(serve):
    async def test(api):
        body = {**BODY, "data": {"a": "x" * (3 * 1024 * 1024)}}
        status, answer, _ = await api("POST", f"{HOME}/configmaps", body)
        assert (status, answer["reason"]) == (413, "RequestEntityTooLarge")

    serve(test)
