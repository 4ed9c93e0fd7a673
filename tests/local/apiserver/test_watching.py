"""Watches over HTTP, line by line, in an event loop whose time jumps."""

import asyncio
import json

import pytest

from xlaunch.local.apiserver import reads, watching
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import StatusError

CONFIGS = BY_NAME["configmaps"]


class JumpingLoop(asyncio.SelectorEventLoop):
    """Where nothing is ready, time moves to the next timer at once."""

    def __init__(self):
        super().__init__()
        self.moment = 0.0
        wait = self._selector.select

        def select(timeout):
            self.moment += timeout or 0.0
            return wait(0)

        self._selector.select = select

    def time(self):
        return self.moment


def run(coroutine):
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)


def put(store, name):
    return store.put("configmaps", ("n", name), {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}})


def watch(store, query, meanwhile=None, render=lambda each, first: each):
    """All events of a watch as (seconds, type, name, object); `meanwhile` runs beside it."""

    async def go():
        loop, found = asyncio.get_running_loop(), []
        task = asyncio.ensure_future(meanwhile()) if meanwhile else None
        lines = watching.lines(
            store, CONFIGS, reads.predicate(CONFIGS, "n"), watching.options_of(query), render, loop.time
        )
        assert await anext(lines) == b""  # so that the answer begins
        async for line in lines:
            if line:
                event = json.loads(line)
                shown = event["object"]
                found.append((loop.time(), event["type"], shown.get("metadata", {}).get("name"), shown))
        if task:
            await task
        return found, loop.time()

    return run(go())


@pytest.fixture
def store():
    made = Store()
    put(made, "old")
    return made


def brief(found):
    return [each[1:3] for each in found]


def test_it_begins_with_what_exists_and_ends_after_its_time(store):
    found, ended = watch(store, {"timeoutSeconds": "7"})
    assert brief(found) == [("ADDED", "old")]
    assert ended == 7


@pytest.mark.parametrize("version", ["0", ""])
def test_from_version_zero_is_the_state(store, version):
    assert brief(watch(store, {"timeoutSeconds": "1", "resourceVersion": version})[0]) == [("ADDED", "old")]


def test_it_resumes_after_a_version_and_sees_what_comes(store):
    since = str(store.revision)
    put(store, "between")

    async def later():
        await asyncio.sleep(3)
        put(store, "later")

    found, _ = watch(store, {"timeoutSeconds": "5", "resourceVersion": since}, later)
    assert [each[:3] for each in found] == [(0, "ADDED", "between"), (3, "ADDED", "later")]


def test_bookmarks_come_every_minute_and_before_the_end(store):
    async def busy():
        for _ in range(15):
            await asyncio.sleep(10)
            store.put("pods", ("n", "p"), {"metadata": {}})

    query = {"timeoutSeconds": "150", "resourceVersion": str(store.revision), "allowWatchBookmarks": "true"}
    found, ended = watch(store, query, busy)
    assert [(each[0], each[1]) for each in found] == [(60, "BOOKMARK"), (120, "BOOKMARK"), (148, "BOOKMARK")]
    assert ended == 150
    mark = found[-1][3]
    assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")
    assert int(mark["metadata"]["resourceVersion"]) == store.revision - 1  # of the fourteenth write


def test_a_bookmarked_version_leads_on_after_the_past_is_forgotten(store):
    query = {"timeoutSeconds": "100", "resourceVersion": str(store.revision), "allowWatchBookmarks": "true"}
    store.put("pods", ("n", "p"), {"metadata": {}})
    mark = watch(store, query)[0][0][3]["metadata"]["resourceVersion"]
    store.compact("configmaps", int(mark))
    assert store.after("configmaps", int(mark)) == []


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}, True),
        ({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}, False),
        ({"resourceVersion": "0", "allowWatchBookmarks": "true"}, True),
        ({"allowWatchBookmarks": "true"}, False),
    ],
)
def test_the_end_of_the_state_is_marked_where_it_is_asked_for(store, query, marked):
    found, _ = watch(store, {"timeoutSeconds": "1", **query})
    ends = [each[3]["metadata"].get("annotations") for each in found]
    assert found[0][1:3] == ("ADDED", "old")
    assert ends == [None, *([{"k8s.io/initial-events-end": "true"}] if marked else [])]


def test_without_initial_events_only_news_comes(store):
    query = {"timeoutSeconds": "1", "sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    assert watch(store, query)[0] == []


def test_a_version_of_the_future_is_silent(store):
    assert watch(store, {"timeoutSeconds": "5", "resourceVersion": "999999"}) == ([], 5)


def test_a_forgotten_version_is_one_error(store):
    put(store, "new")
    store.compact("configmaps", store.revision)
    ((_, kind, _, status),), ended = watch(store, {"timeoutSeconds": "5", "resourceVersion": "1"})
    assert (kind, status["code"], status["reason"], ended) == ("ERROR", 410, "Expired", 0)


def test_a_watch_that_lags_behind_the_history_expires():
    store = Store(history=5)
    put(store, "a")
    since = str(store.revision)
    for index in range(20):
        put(store, f"n{index}")
    found, _ = watch(store, {"timeoutSeconds": "5", "resourceVersion": since})
    assert [each[1] for each in found] == ["ERROR"]


def test_a_reader_that_stalls_is_told_to_list_again():
    """What it missed is bounded by the history, not kept for it."""

    async def go():
        store = Store(history=5)
        put(store, "a")
        options = watching.options_of({"timeoutSeconds": "60"})
        lines = watching.lines(
            store,
            CONFIGS,
            reads.predicate(CONFIGS, "n"),
            options,
            lambda each, _: each,
            asyncio.get_running_loop().time,
        )
        assert await anext(lines) == b""
        first = json.loads(await anext(lines))
        for index in range(50):
            put(store, f"n{index}")
        return first["type"], [json.loads(line)["type"] async for line in lines]

    assert run(go()) == ("ADDED", ["ERROR"])


def test_only_the_first_event_is_rendered_as_first(store):
    put(store, "new")
    found, _ = watch(store, {"timeoutSeconds": "1"}, render=lambda each, first: {**each, "first": first})
    assert [each[3]["first"] for each in found] == [True, False]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"resourceVersion": "x"}, 500),
        ({"sendInitialEvents": "true"}, 422),
        ({"timeoutSeconds": "soon"}, 400),
    ],
)
def test_refused(query, code):
    with pytest.raises(StatusError) as caught:
        watching.options_of(query)
    assert caught.value.code == code
