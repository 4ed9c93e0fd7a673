"""The API of a cluster over HTTP against a small server: paths, refusals, and watches that end, break and expire."""

import asyncio
import json
import threading

import aiohttp
import pytest
from fakes.server import CUT, Answer, Server

from xlaunch.local.kube import STRATEGIC, StatusError
from xlaunch.local.remote import kube as remote
from xlaunch.local.remote.access import Access
from xlaunch.local.remote.kube import RemoteKube
from xlaunch.local.time import ScaledClock


def against(answer, act, *, token_file=None):
    """Runs `act(kube)` against a server that answers so; returns its result and what was asked."""

    async def go(url):
        async with aiohttp.ClientSession() as session:
            access = Access(url, token="" if token_file else "secret", token_file=token_file)
            return await act(RemoteKube(session, access, ScaledClock(0.01)))

    with Server(answer) as server:
        return asyncio.run(go(server.url)), server.requests


def event(kind, version, name="p"):
    body = {"kind": "Pod", "metadata": {"name": name, "resourceVersion": str(version)}}
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


def watched(*answers, count=100):
    """The events of one watch over these answers, at most `count`, how it ended, and what was asked."""
    left = list(answers)

    async def act(kube):
        found = []
        try:
            async for each in kube.watch("pods", since="5"):
                found.append((each.type, each.object["metadata"].get("resourceVersion") if "metadata" in each.object
                              else each.object["code"]))  # fmt: skip
                if len(found) == count:
                    break
        except StatusError as error:
            return found, error.code
        return found, None

    (found, code), requests = against(lambda _: left.pop(0), act)
    return found, code, [each.query["resourceVersion"] for each in requests]


def test_watches_go_on_after_their_end_a_cut_and_half_a_line():
    found, _, since = watched(
        Answer(chunks=[event("ADDED", 6), event("MODIFIED", 7)[:20], event("MODIFIED", 7)[20:]]),
        Answer(chunks=[event("MODIFIED", 8), event("MODIFIED", 9)[:30], CUT]),
        Answer(chunks=[event("BOOKMARK", 12), b"upstream timed out\n"]),
        Answer(chunks=[event("DELETED", 13)]),
        count=5,
    )
    expected = [("ADDED", "6"), ("MODIFIED", "7"), ("MODIFIED", "8"), ("BOOKMARK", "12"), ("DELETED", "13")]
    assert found == expected
    assert since == ["5", "7", "8", "12"]


def test_a_large_object_is_one_event():
    large = json.dumps(
        {"type": "ADDED", "object": {"metadata": {"resourceVersion": "6"}, "data": "x" * 900_000}}
    ).encode()
    found, _, _ = watched(Answer(chunks=[large, b"\n"]), count=1)
    assert found == [("ADDED", "6")]


def test_a_version_that_is_too_old_ends_it_as_an_event():
    line = json.dumps({"type": "ERROR", "object": EXPIRED}).encode() + b"\n"
    found, code, _ = watched(Answer(chunks=[event("ADDED", 6), line]))
    assert (found, code) == ([("ADDED", "6"), ("ERROR", 410)], None)


@pytest.mark.parametrize(("status", "body"), [(410, EXPIRED), (401, {"reason": "Unauthorized", "message": "no"})])
def test_a_watch_that_is_refused_at_once_raises(status, body):
    assert watched(Answer(chunks=[event("ADDED", 6)]), Answer(status, body))[:2] == ([("ADDED", "6")], status)


def test_a_silent_watch_is_opened_anew(monkeypatch):
    monkeypatch.setattr(remote, "SILENCE_SECONDS", 0.05)
    never = threading.Event()
    found, _, since = watched(Answer(chunks=[event("ADDED", 6), never]), Answer(chunks=[event("MODIFIED", 7)]), count=2)
    never.set()
    assert (found, since) == ([("ADDED", "6"), ("MODIFIED", "7")], ["5", "6"])


def test_a_server_that_is_not_there_is_unavailable():
    async def act(kube):
        codes = []
        for call in (kube.get("nodes", "a"), anext(aiter(kube.watch("pods", since="1")))):
            with pytest.raises(StatusError) as refused:
                await call
            codes.append((refused.value.code, refused.value.reason))
        return codes

    async def go():
        async with aiohttp.ClientSession() as session:
            return await act(RemoteKube(session, Access("http://127.0.0.1:1"), ScaledClock(0.01)))

    assert asyncio.run(go()) == [(503, "ServiceUnavailable")] * 2


@pytest.mark.parametrize(
    ("answer", "code", "reason", "message"),
    [
        (Answer(409, {"kind": "Status", "reason": "Conflict", "message": "busy"}), 409, "Conflict", "busy"),
        (Answer(502, b"<html>Bad Gateway</html>"), 502, "Unknown", "<html>Bad Gateway</html>"),
        (Answer(429, b"[]"), 429, "Unknown", "[]"),
        (Answer(200, b"<html>Sign in</html>"), 502, "Unknown", "<html>Sign in</html>"),
    ],
)
def test_refusals_keep_their_words(answer, code, reason, message):
    async def act(kube):
        with pytest.raises(StatusError) as refused:
            await kube.create("events", {"metadata": {}}, "n")
        return refused.value

    error, _ = against(lambda _: answer, act)
    assert (error.code, error.reason, error.message) == (code, reason, message)


def test_items_of_a_list_say_what_they_are():
    body = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": [{"metadata": {}}]}
    (items, version), requests = against(lambda _: body, lambda kube: kube.list("pods", labels="a=b"))
    assert (items, version) == ([{"apiVersion": "v1", "kind": "Pod", "metadata": {}}], "9")
    assert (requests[0].path, requests[0].query) == ("/api/v1/pods", {"labelSelector": "a=b"})


def test_a_patch_names_its_kind_and_subresource():
    _, [asked] = against(
        lambda _: {}, lambda kube: kube.patch("pods", "p", {"a": 1}, "n", kind=STRATEGIC, subresource="status")
    )
    assert (asked.method, asked.path) == ("PATCH", "/api/v1/namespaces/n/pods/p/status")
    assert (asked.headers["Content-Type"], asked.json) == (STRATEGIC, {"a": 1})
    assert asked.headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ({}, {}),
        ({"grace": 0, "uid": "u"}, {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}}),
        ({"propagation": "Foreground"}, {"propagationPolicy": "Foreground"}),
    ],
)
def test_a_deletion_has_its_preconditions(options, body):
    _, [asked] = against(lambda _: {}, lambda kube: kube.delete("leases", "l", "kube-node-lease", **options))
    assert asked.path == "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/l"
    assert asked.json == {"apiVersion": "v1", "kind": "DeleteOptions", **body}


def test_a_token_that_was_renewed_is_used_at_once(tmp_path):
    file = tmp_path / "token"
    file.write_text("first\n")

    async def act(kube):
        await kube.get("nodes", "a")
        file.write_text("second\n")
        await kube.get("nodes", "a")

    _, requests = against(lambda _: {}, act, token_file=file)
    assert [each.headers["Authorization"] for each in requests] == ["Bearer first", "Bearer second"]
