"""A watch goes on through everything that happens to it, and tells nothing twice."""

import json

import pytest
from fakes.api import ScriptedApi, event, object_list, status_error, thing
from fakes.clock import FakeClock
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.watch import list_all, watch
from xlaunch.core.errors import NetworkError

CUT = NetworkError("The stream was cut", why="Connection reset", reason="StreamCut")
STALL = NetworkError("The stream stalled", why="Read timed out", reason="StreamStalled")
EXPIRED = event("ERROR", {"code": 410, "reason": "Expired", "message": "too old resource version"})


class EndError(Exception):
    """The script is at its end."""


def told(api, clock=None, **options):
    """What the watch tells until the script ends, without ticks: ("LISTED", names) and (type, name, version)."""
    api.answers.append(EndError())
    out = []
    try:
        for change in watch(api, "/things", clock=clock or FakeClock(), **options):
            if change.type == "LISTED":
                out.append(("LISTED", *(item["metadata"]["name"] for item in change.items)))
            elif change.type != "TICK":
                metadata = change.object["metadata"]
                out.append((change.type, metadata["name"], metadata["resourceVersion"]))
    except EndError:
        pass
    return out


def test_lists_first_and_then_tells_changes():
    api = ScriptedApi(
        object_list(thing("a"), version="5"),
        [event("MODIFIED", thing("a", "6")) + event("ADDED", thing("b", "7")), event("DELETED", thing("a", "8"))],
    )
    assert told(api) == [("LISTED", "a"), ("MODIFIED", "a", "6"), ("ADDED", "b", "7"), ("DELETED", "a", "8")]
    assert api.calls[0].query == {"limit": "500"}
    asked = api.calls[1].query
    assert (asked["watch"], asked["resourceVersion"], asked["allowWatchBookmarks"]) == ("true", "5", "true")
    assert int(asked["timeoutSeconds"]) == 60


def test_the_query_goes_with_list_and_watch():
    api = ScriptedApi(object_list(), [])
    told(api, query={"labelSelector": "x=y"})
    assert [call.query["labelSelector"] for call in api.calls[:2]] == ["x=y", "x=y"]


@pytest.mark.parametrize("fault", [CUT, STALL], ids=["cut", "stall"])
def test_after_a_fault_it_goes_on_from_the_last_version(fault):
    api = ScriptedApi(
        object_list(thing("a"), version="5"),
        [event("MODIFIED", thing("a", "6")), fault],
        [event("MODIFIED", thing("a", "9"))],
    )
    assert told(api) == [("LISTED", "a"), ("MODIFIED", "a", "6"), ("MODIFIED", "a", "9")]
    assert api.calls[2].query["resourceVersion"] == "6"


def test_an_event_that_was_cut_in_the_middle_comes_from_the_next_stream():
    whole = event("MODIFIED", thing("a", "6"))
    api = ScriptedApi(object_list(thing("a"), version="5"), [whole[:20], CUT], [whole])
    assert told(api) == [("LISTED", "a"), ("MODIFIED", "a", "6")]


def test_an_event_may_come_in_pieces():
    whole = event("MODIFIED", thing("a", "6"))
    api = ScriptedApi(object_list(version="5"), [whole[i : i + 7] for i in range(0, len(whole), 7)])
    assert told(api) == [("LISTED",), ("MODIFIED", "a", "6")]


@pytest.mark.parametrize(
    "gone", [[EXPIRED], status_error(410, "Expired"), status_error(410, "Gone")], ids=["event", "status", "gone"]
)
def test_410_makes_a_fresh_list(gone):
    api = ScriptedApi(object_list(thing("a"), version="5"), gone, object_list(thing("b"), version="9"), [])
    assert told(api) == [("LISTED", "a"), ("LISTED", "b")]
    assert api.calls[3].query["resourceVersion"] == "9"


def test_410_for_ever_is_not_a_busy_loop():
    clock = FakeClock()
    api = ScriptedApi(*[object_list(version="5"), [EXPIRED]] * 6)
    told(api, clock)
    assert clock.slept[:6] == [1, 2, 4, 8, 16, 16]


def test_duplicates_and_older_events_are_dropped():
    news = event("MODIFIED", thing("a", "6"))
    gone = event("DELETED", thing("a", "8"))
    api = ScriptedApi(
        object_list(thing("a", "5"), version="5"),
        [event("ADDED", thing("a", "5")), news, news, event("MODIFIED", thing("a", "3")), gone, gone],
    )
    assert told(api) == [("LISTED", "a"), ("MODIFIED", "a", "6"), ("DELETED", "a", "8")]


def test_a_new_object_of_the_same_name_is_news():
    api = ScriptedApi(
        object_list(thing("a", "5"), version="5"),
        [event("DELETED", thing("a", "6")), event("ADDED", thing("a", "7", uid="other"))],
    )
    assert told(api)[1:] == [("DELETED", "a", "6"), ("ADDED", "a", "7")]


def test_bookmarks_move_the_version_and_are_not_told():
    api = ScriptedApi(object_list(version="5"), [event("BOOKMARK", thing("", "50"))], [])
    assert told(api) == [("LISTED",)]
    assert api.calls[2].query["resourceVersion"] == "50"


def test_streams_that_end_after_a_bookmark_are_no_busy_loop():
    clock = FakeClock()
    told(ScriptedApi(object_list(version="5"), *[[event("BOOKMARK", thing("", "6"))]] * 3), clock)
    assert clock.slept == [1, 2, 4]


def test_streams_that_end_at_once_are_reopened_with_growing_pauses():
    clock = FakeClock()
    told(ScriptedApi(object_list(version="5"), [], [], []), clock)
    assert clock.slept == [1, 2, 4]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(status):
    api = ScriptedApi(object_list(version="5"), status_error(status, "Busy"), [event("ADDED", thing("a", "6"))])
    assert told(api) == [("LISTED",), ("ADDED", "a", "6")]


def test_retry_after_is_honoured():
    clock = FakeClock()
    told(ScriptedApi(object_list(version="5"), ApiError(429, "TooManyRequests", "slow", retry_after=7.0)), clock)
    assert clock.slept[0] == 7


@pytest.mark.parametrize("status", [401, 403, 404, 501])
def test_a_refusal_ends_it(status):
    with pytest.raises(ApiError):
        told(ScriptedApi(object_list(version="5"), status_error(status, "No")))


def test_a_server_that_never_answered_is_not_waited_for():
    clock = FakeClock()
    with pytest.raises(NetworkError):
        told(ScriptedApi(NetworkError("no")), clock)
    assert clock.slept == []


def test_a_server_that_takes_long_to_refuse_is_asked_with_pauses():
    """Connecting that fails after 8 seconds each time is no sign of life."""
    clock = FakeClock()
    api = ScriptedApi(object_list(version="5"), *[CUT] * 4)
    opened = api.stream

    def slow(*line, **options):
        clock.seconds += 8
        return opened(*line, **options)

    api.stream = slow
    notices = []
    told(api, clock, notice=notices.append)
    assert clock.slept == [1, 2, 4, 8]
    assert len(notices) == 2


def test_retry_after_is_honoured_after_a_slow_answer():
    clock = FakeClock()
    busy = ApiError(429, "TooManyRequests", "slow", retry_after=7.0)
    api = ScriptedApi(object_list(version="5"), busy)
    answer = api.stream

    def slow(*line, **options):
        clock.seconds += 3
        return answer(*line, **options)

    api.stream = slow
    told(api, clock)
    assert clock.slept == [7]


def test_streams_that_hold_for_a_while_are_reopened_at_once():
    """A load balancer that cuts what is silent for 20 seconds must not make us late."""
    clock = FakeClock()

    def silent():
        clock.seconds += 20
        raise CUT

    told(ScriptedApi(object_list(version="5"), *[[silent]] * 5), clock)
    assert clock.slept == []


def test_short_requests_that_end_as_asked_are_reopened_at_once():
    """A request of one second is seen to last a little less where its first byte comes late."""
    clock = FakeClock()

    def brief():
        clock.seconds += 0.98
        return b""

    api = ScriptedApi(object_list(version="5"), *[[brief]] * 5, EndError())
    changes = watch(api, "/things", clock=clock, period=1.0)
    with pytest.raises(EndError):
        list(changes)
    assert clock.slept == []


def test_no_tick_claims_contact_that_there_was_not():
    clock = FakeClock()
    busy = status_error(503, "ServiceUnavailable")
    api = ScriptedApi(object_list(version="5"), CUT, busy, [], CUT, EndError())
    changes = watch(api, "/things", clock=clock)
    assert [next(changes).type, next(changes).type] == ["LISTED", "TICK"]
    with pytest.raises(EndError):
        next(changes)


def test_patience_has_an_end():
    clock = FakeClock()
    notices = []
    with pytest.raises(NetworkError):
        told(ScriptedApi(object_list(version="5"), *[CUT] * 99), clock, patience=60, notice=notices.append)
    assert 60 < clock.seconds < 100
    assert notices[0] == "The stream was cut (Connection reset); trying again"


def test_the_timeout_ends_it_quietly():
    clock = FakeClock()

    def passing():
        clock.sleep(40)
        return b""

    api = ScriptedApi(object_list(version="5"), [passing], [passing], [passing])
    kinds = [change.type for change in watch(api, "/things", clock=clock, timeout=100)]
    assert kinds == ["LISTED", "TICK", "TICK", "TICK"]
    assert api.calls[3].query["timeoutSeconds"] == "20"


def test_the_timeout_ends_a_stream_that_never_falls_silent():
    clock = FakeClock()
    version = 5

    def chatter():
        nonlocal version
        version += 1
        clock.sleep(1)
        return event("ADDED", thing(f"t{version}", str(version)))

    api = ScriptedApi(object_list(version="5"), [chatter] * 99)
    assert len(list(watch(api, "/things", clock=clock, timeout=10))) == 11


@pytest.mark.parametrize("rubbish", [b"<html>\n", b"[]\n", b'{"type": "ADDED"}\n', b"null\n"])
def test_what_is_no_event_is_a_broken_stream(rubbish):
    api = ScriptedApi(object_list(version="5"), [rubbish], [event("ADDED", thing("a", "6"))])
    assert told(api) == [("LISTED",), ("ADDED", "a", "6")]


def test_a_list_comes_in_pages():
    api = ScriptedApi(object_list(thing("a"), token="next"), object_list(thing("b"), version="7"))
    items, version = list_all(api, "/things")
    assert ([item["metadata"]["name"] for item in items], version) == (["a", "b"], "7")
    assert api.calls[1].query["continue"] == "next"


def test_a_page_that_expired_makes_the_list_begin_anew():
    api = ScriptedApi(object_list(thing("a"), token="next"), status_error(410, "Expired"), object_list(thing("b")))
    assert [item["metadata"]["name"] for item in list_all(api, "/things")[0]] == ["b"]


class History:
    """A server with a fixed history, of which it keeps a window: the truth that a watch must end up with."""

    def __init__(self, steps, window):
        self.states, self.events = [{}], []
        for version, (name, alive) in enumerate(steps, 1):
            state = dict(self.states[-1])
            item = thing(name, str(version))
            kind = "DELETED" if not alive else "MODIFIED" if name in state else "ADDED"
            if alive or name in state:
                state.pop(name, None) if not alive else state.update({name: item})
                self.events.append((version, kind, item))
            self.states.append(state)
        self.window = window

    def list(self, now):
        return object_list(*self.states[now].values(), version=str(now))

    def lines(self, since, now):
        if since < now - self.window:
            return [EXPIRED]
        lines = [event(kind, item) for version, kind, item in self.events if since < version <= now]
        return [*lines, event("BOOKMARK", thing("", str(now)))]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=20),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 200), st.booleans()), max_size=8),
    st.integers(0, 8),
)
def test_whatever_is_cut_the_caller_ends_with_the_truth(steps, faults, window):
    """Streams are cut at any byte, the server's history expires at any time; the view converges, each step once."""
    history = History(steps, window)
    final = len(history.states) - 1

    class Server(ScriptedApi):
        now = 0

        def request(self, method, path, **_):
            self.answers = [history.list(self.now)]
            return super().request(method, path)

        def stream(self, path, *, query=(), **_):
            since = int(dict(query)["resourceVersion"])
            if not faults and self.now == final and since == final:
                self.answers = [EndError()]
                return super().stream(path)
            ahead, cut, polite = faults.pop() if faults else (final, 10**6, True)
            self.now = min(final, self.now + ahead)
            data = b"".join(history.lines(since, self.now))[:cut]
            self.answers = [[data, *([] if polite else [CUT])]]
            return super().stream(path)

    view, versions = {}, {}
    try:
        for change in watch(Server(), "/things", clock=FakeClock()):
            if change.type == "LISTED":
                view = {item["metadata"]["name"]: item for item in change.items}
            elif change.type == "DELETED":
                del view[change.object["metadata"]["name"]]
            elif change.type != "TICK":
                metadata = change.object["metadata"]
                assert int(metadata["resourceVersion"]) > versions.get(metadata["name"], 0)
                versions[metadata["name"]] = int(metadata["resourceVersion"])
                view[metadata["name"]] = change.object
    except EndError:
        pass
    assert json.dumps(view, sort_keys=True) == json.dumps(history.states[final], sort_keys=True)
