"""Raw requests and streams over the official client, against a real server on the loopback."""

import gc
import socket
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from fakes.server import CUT, Answer, Server

from xlaunch.cluster import answers, client
from xlaunch.cluster.api import APPLY, MERGE, ApiError
from xlaunch.cluster.client import Login, new_configuration
from xlaunch.cluster.kubeapi import KubeApi
from xlaunch.core.errors import NetworkError, XlaunchError


def api_to(server, token="t", **options):
    """An api whose every login has the next token: t1, t2 ..."""
    logins = []

    def login():
        logins.append(1)
        configuration = new_configuration()
        configuration.host = server.url
        configuration.api_key["BearerToken"] = f"Bearer {token}{len(logins)}"
        return Login(configuration, **options)

    api = KubeApi(login)
    api.logins = logins
    return api


def test_a_request_arrives_as_it_was_meant():
    with Server(lambda request: {"ok": True}) as server:
        reply = KubeApi.from_url(server.url + "/secret/").request(
            "PATCH", "/api/v1/things/x", query=[("a", "1 2"), ("b", "ü&=")], body={"x": [1]}, content_type=MERGE
        )
    asked = server.requests[0]
    assert (asked.method, asked.path) == ("PATCH", "/secret/api/v1/things/x")
    assert asked.query == {"a": "1 2", "b": "ü&="}
    assert asked.json == {"x": [1]}
    assert asked.headers["Content-Type"] == MERGE
    assert asked.headers["Accept"] == "application/json"
    assert asked.headers["User-Agent"].startswith("xlaunch/")
    assert (reply.status, reply.body, reply.warnings) == (200, {"ok": True}, ())


@pytest.mark.parametrize(
    "content_type", [APPLY, "application/json-patch+json", "application/strategic-merge-patch+json"]
)
def test_every_kind_of_patch_keeps_its_content_type(content_type):
    body = [{"op": "add"}] if "json-patch" in content_type else {"a": None}
    with Server(lambda request: {}) as server:
        KubeApi.from_url(server.url).request("PATCH", "/x", body=body, content_type=content_type)
    assert (server.requests[0].headers["Content-Type"], server.requests[0].json) == (content_type, body)


def test_a_query_may_be_a_mapping():
    with Server(lambda request: {}) as server:
        KubeApi.from_url(server.url).request("GET", "/x", query={"a": "1"})
    assert server.requests[0].query == {"a": "1"}


def test_warnings_are_read():
    headers = [("Warning", '299 - "first, \\"quoted\\""'), ("Warning", '299 - "second"')]
    with Server(lambda request: Answer(body={}, headers=headers)) as server:
        reply = KubeApi.from_url(server.url).request("POST", "/x", body={})
    assert reply.warnings == ('first, "quoted"', "second")


def test_a_body_that_is_no_json_comes_as_bytes():
    with Server(lambda request: Answer(body=b"\xff\n", content_type="text/plain")) as server:
        assert KubeApi.from_url(server.url).request("GET", "/x", accept="*/*").body == b"\xff\n"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>log in</html>", "text/html"),
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b"", "application/json"),
        (b"", "text/plain"),
    ],
)
def test_what_answers_is_no_api_server(body, kind):
    with Server(lambda request: Answer(body=body, content_type=kind)) as server, pytest.raises(NetworkError) as caught:
        KubeApi.from_url(f"{server.url}/secret").request("GET", "/version")
    assert caught.value.message == f"{server.url} is no Kubernetes API server"
    assert kind in caught.value.why


def test_an_empty_answer_is_fine():
    with Server(lambda request: Answer(204, b"", content_type="text/plain")) as server:
        assert KubeApi.from_url(server.url).request("DELETE", "/x").body == b""


def test_a_refusal_has_the_servers_words():
    status = {
        "kind": "Status",
        "message": 'jobsets.jobset.x-k8s.io "x" is forbidden',
        "reason": "Forbidden",
        "details": {"name": "x", "retryAfterSeconds": 3},
    }
    with Server(lambda request: Answer(403, status)) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("GET", "/x")
    error = caught.value
    assert (error.status, error.reason, error.code) == (403, "Forbidden", 4)
    assert error.message == status["message"]
    assert error.details["name"] == "x"
    assert error.retry_after == 3


@pytest.mark.parametrize(
    ("status", "body", "reason", "message"),
    [
        (502, b"<html>bad\n gateway</html>", "BadGateway", "The server answered 502: <html>bad gateway</html>"),
        (404, b"404 page not found\n", "NotFound", "The server answered 404: 404 page not found"),
        (302, b"", "HTTP302", "The server answered 302"),
        (500, b'"text"', "InternalError", 'The server answered 500: "text"'),
        (418, b"{}", "HTTP418", "The server answered 418: {}"),
        (422, b'{"message": 5, "reason": 7, "details": "x"}', "7", "5"),
        (500, b'{"details": [1]}', "InternalError", 'The server answered 500: {"details": [1]}'),
    ],
)
def test_an_error_without_a_status_object_is_told_too(status, body, reason, message):
    answer = Answer(status, body, content_type="text/html")
    with Server(lambda request: answer) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("GET", "/x")
    assert (caught.value.reason, caught.value.message) == (reason, message)


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_refusal_says_what_to_do(status):
    with Server(lambda request: Answer(status, {"message": "no"})) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("GET", "/x")
    assert caught.value.next


def test_what_a_server_does_not_have_it_will_not_have_in_a_minute():
    with Server(lambda request: Answer(501, {"message": "no"})) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("GET", "/x")
    assert caught.value.next.startswith("Take a cluster that has it")


def test_a_refusal_has_its_warnings_too():
    answer = Answer(422, {"message": "no"}, headers=[("Warning", '299 - "first"'), ("Warning", '299 - "second"')])
    with Server(lambda request: answer) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("POST", "/x", body={})
    assert caught.value.warnings == ("first", "second")


def test_retry_after_of_a_header():
    answer = Answer(429, b"", headers=[("Retry-After", "7")])
    with Server(lambda request: answer) as server, pytest.raises(ApiError) as caught:
        KubeApi.from_url(server.url).request("GET", "/x")
    assert caught.value.retry_after == 7


def only(token):
    """A server that lets in this token alone."""
    return lambda request: {} if request.headers.get("authorization") == f"Bearer {token}" else Answer(401, {})


def test_after_a_401_it_logs_in_again_and_asks_once_more():
    with Server(only("t2")) as server:
        api = api_to(server)
        assert api.request("POST", "/x", body={"a": 1}).status == 200
    assert [request.json for request in server.requests] == [{"a": 1}] * 2
    assert len(api.logins) == 2


def test_a_401_for_ever_is_raised_after_one_more_login():
    with Server(only("never")) as server:
        api = api_to(server)
        with pytest.raises(ApiError) as caught:
            api.request("GET", "/x")
    assert caught.value.status == 401
    assert len(api.logins) == 2


def test_a_stream_logs_in_again_too():
    with (
        Server(
            lambda request: Answer(chunks=[b"ab"]) if "t2" in request.headers["authorization"] else Answer(401, {})
        ) as server,
        api_to(server).stream("/x") as body,
    ):
        assert body.read() == b"ab"


def test_credentials_are_renewed_before_they_expire():
    with Server(lambda request: {}) as server:
        api = api_to(server, expires=datetime.now(UTC) + timedelta(seconds=10))
        api.request("GET", "/x")
    assert server.requests[0].headers["authorization"] == "Bearer t2"


def test_credentials_that_last_are_kept():
    with Server(lambda request: {}) as server:
        api = api_to(server, expires=datetime.now(UTC) + timedelta(hours=1))
        api.request("GET", "/x")
        api.request("GET", "/x")
    assert len(api.logins) == 1


def test_threads_that_see_the_same_401_log_in_once():
    together = threading.Barrier(4)

    def answer(request):
        if request.headers["authorization"] == "Bearer t1":
            together.wait(5)
            return Answer(401, {})
        return {}

    with Server(answer) as server:
        api = api_to(server)
        threads = [threading.Thread(target=api.request, args=("GET", "/x")) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert len(api.logins) == 2


@contextmanager
def streaming(answer, **options):
    """A server that gives this answer, and the stream of it."""
    with (
        Server(lambda request: answer) as server,
        KubeApi.from_url(server.url).stream("/log", query={"follow": "true"}, **options) as body,
    ):
        yield server, body


def test_a_login_that_fails_later_may_pass():
    """A laptop wakes up before its network: the plugin fails for a while, and what watches goes on."""
    fails = [False, True, True, False]

    def login():
        if fails.pop(0):
            raise XlaunchError("The plugin failed", why="no network", next="log in", reason="CredentialPlugin")
        configuration = new_configuration()
        configuration.host = server.url
        return Login(configuration, expires=datetime.now(UTC) if fails else None)

    with Server(lambda request: {}) as server:
        api = KubeApi(login)
        for _ in range(2):
            with pytest.raises(NetworkError) as caught:
                api.request("GET", "/x")
            assert (caught.value.why, caught.value.next) == ("The plugin failed: no network", "log in")
        assert api.request("GET", "/x").status == 200


def test_a_first_login_that_fails_ends_it():
    def login():
        raise XlaunchError("The plugin failed")

    with pytest.raises(XlaunchError, match="The plugin failed") as caught:
        KubeApi(login)
    assert not isinstance(caught.value, NetworkError)


def read_all(body):
    return b"".join(iter(body.read, b""))


def test_a_stream_gives_bytes_as_they_come():
    go_on = threading.Event()
    with streaming(Answer(chunks=[b"one\n", go_on, b"\xfftwo"])) as (server, body):
        assert body.read() == b"one\n"
        go_on.set()
        assert read_all(body) == b"\xfftwo"
    assert server.requests[0].query == {"follow": "true"}


def test_a_stream_in_one_piece_is_read_whole():
    data = bytes(range(256)) * 1000
    with streaming(Answer(body=data, content_type="text/plain")) as (_, body):
        assert read_all(body) == data


def test_a_cut_is_told_from_the_end():
    with streaming(Answer(chunks=[b"one\n", CUT])) as (_, body):
        assert body.read() == b"one\n"
        with pytest.raises(NetworkError) as caught:
            body.read()
    assert caught.value.reason == "StreamCut"


def test_an_end_short_of_the_content_length_is_a_cut():
    answer = Answer(body=Short(b"abc"), headers=[("Connection", "close")])
    with streaming(answer) as (_, body), pytest.raises(NetworkError) as caught:
        read_all(body)
    assert caught.value.reason == "StreamCut"


class Short(bytes):
    """Claims to be longer than it is."""

    def __len__(self):
        return 10


def test_a_stall_is_told():
    never = threading.Event()
    with streaming(Answer(chunks=[b"one\n", never]), idle_timeout=0.2) as (_, body):
        assert body.read() == b"one\n"
        begun = time.monotonic()
        with pytest.raises(NetworkError) as caught:
            body.read()
        never.set()
    assert caught.value.reason == "StreamStalled"
    assert time.monotonic() - begun < 2


def test_a_refused_stream_is_an_api_error():
    refusal = Answer(400, {"message": "container is waiting", "reason": "BadRequest"})
    with pytest.raises(ApiError, match="container is waiting"), streaming(refusal):
        pytest.fail("a refused stream was opened")


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(NetworkError) as caught:
            KubeApi.from_url(url).request("GET", "/x")
    assert caught.value.message == f"Cannot reach the API server at {url}"
    assert "refused" in caught.value.why
    assert "0x" not in caught.value.why
    assert caught.value.next


def test_an_endpoint_that_swallows_packets_is_given_up_in_time(monkeypatch):
    assert client.CONNECT_TIMEOUT <= 8
    monkeypatch.setattr(client, "CONNECT_TIMEOUT", 0.3)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fill = [socket.socket() for _ in range(3)]
        for each in fill:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        begun = time.monotonic()
        with pytest.raises(NetworkError, match="Cannot reach"):
            KubeApi.from_url(f"http://127.0.0.1:{full.getsockname()[1]}").request("GET", "/x")
        assert time.monotonic() - begun < 2
        for each in fill:
            each.close()


@pytest.mark.parametrize(("addresses", "each"), [(1, 8), (2, 4), (8, 1)])
def test_all_addresses_of_a_name_share_the_time(monkeypatch, addresses, each):
    monkeypatch.setattr(client.socket, "getaddrinfo", lambda *_, **__: [None] * addresses)
    configuration = new_configuration()
    configuration.host = "https://many.example"
    assert client.connect_timeout(configuration) == each


def test_a_server_that_never_answers_is_given_up():
    never = threading.Event()
    with Server(lambda request: never.wait(5) or {}) as server:
        with pytest.raises(NetworkError, match="Cannot reach"):
            KubeApi.from_url(server.url).request("GET", "/x", timeout=0.2)
        never.set()


def test_a_name_that_does_not_exist():
    with pytest.raises(NetworkError) as caught:
        KubeApi.from_url("http://no-such-host.invalid").request("GET", "/x")
    assert "resolve" in caught.value.why.lower() or "name" in caught.value.why.lower()


def test_the_next_step_comes_from_whoever_knows_the_alternatives():
    configuration = new_configuration()
    configuration.host = "http://127.0.0.1:1"
    api = KubeApi(lambda: Login(configuration), alternatives=lambda: "go elsewhere")
    with pytest.raises(NetworkError) as caught:
        api.request("GET", "/x")
    assert caught.value.next == "go elsewhere"


def test_a_request_is_not_repeated_behind_our_back():
    """A POST that got no answer may have worked: whether to send it again is for submit to decide."""
    with Server(lambda request: Answer(chunks=[CUT])) as server, pytest.raises(NetworkError):
        KubeApi.from_url(server.url).request("POST", "/x", body={})
    assert len(server.requests) == 1


def test_big_answers_are_parsed_with_the_collector_off_and_on_again(monkeypatch):
    monkeypatch.setattr(answers, "BIG_BODY", 10)
    with Server(lambda request: {"items": list(range(100))}) as server:
        assert len(KubeApi.from_url(server.url).request("GET", "/x").body["items"]) == 100
    assert gc.isenabled()
