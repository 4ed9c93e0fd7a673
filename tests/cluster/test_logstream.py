"""What is asked of the kubelet: one pod, an explicit beginning, and `sinceTime` where a log is opened again."""

import pytest
from fakes.api import ScriptedApi

from xlaunch.cluster.logstream import Request, Start, log_query, read_log
from xlaunch.core.errors import NetworkError
from xlaunch.core.follow import Cursor, Target

TARGET = Target("pod-a", "uid-a", "main", 0)
FRESH = Cursor(target=TARGET)
KEY = b"2026-11-29T12:00:05.900000000"
READ = Cursor(target=TARGET, last=KEY, seen=1, high=KEY)
PART = Cursor(target=TARGET, high=KEY, part=3, part_key=KEY)

AGAIN = "2026-11-29T12:00:03Z"

QUERIES = [
    ("stern#165: no hidden window, all there is", FRESH, Request(), {}),
    ("kubectl#812: a tail only where one was asked for", FRESH, Request(start=Start(tail=10)), {"tailLines": "10"}),
    ("since", FRESH, Request(start=Start(since=60)), {"sinceSeconds": "60"}),
    ("follow", FRESH, Request(follow=True), {"follow": "true"}),
    ("the instance before", FRESH, Request(previous=True), {"previous": "true"}),
    ("python#1351: again from a time, not from so many seconds ago", READ, Request(), {"sinceTime": AGAIN}),
    ("what was asked at the beginning is not asked again", READ, Request(start=Start(5, 9)), {"sinceTime": AGAIN}),
    ("again in the middle of the first line", PART, Request(), {"sinceTime": AGAIN}),
]


@pytest.mark.parametrize(
    ("cursor", "request_", "more"), [case[1:] for case in QUERIES], ids=[case[0] for case in QUERIES]
)
def test_the_query(cursor, request_, more):
    assert dict(log_query(cursor, request_)) == {"container": "main", "timestamps": "true", **more}


def read(*pieces, cursor=FRESH, expired=lambda: False):
    """The text, the outcome and the readers' gaps of one stream."""
    api = ScriptedApi(list(pieces))
    reading = read_log(api, cursor, Request(), idle_timeout=60.0, expired=expired, tell=lambda _: None)
    text = b""
    while True:
        try:
            text += next(reading)
        except StopIteration as end:
            return text, end.value, api.calls


LINE = b"2026-11-29T12:00:01.000000000Z hello\n"
CUT = NetworkError("The stream was cut")


def test_one_pod_by_name():
    _, _, calls = read(LINE)
    assert calls[0].path == "/api/v1/namespaces/default/pods/pod-a/log"


@pytest.mark.parametrize(
    ("pieces", "text", "progressed", "failure"),
    [
        ([LINE], b"hello\n", True, None),
        ([], b"", False, None),
        ([LINE[:34], CUT], b"hel", True, CUT),
        ([LINE[:20], CUT], b"", False, CUT),
        ([LINE[:20], LINE[20:], CUT], b"hello\n", True, CUT),
        ([CUT], b"", False, CUT),
    ],
)
def test_the_outcome(pieces, text, progressed, failure):
    out, outcome, _ = read(*pieces)
    assert (out, outcome.progressed, outcome.failure) == (text, progressed, failure)


def test_a_stream_goes_on_from_the_outcome_of_the_one_before():
    first, outcome, _ = read(LINE[:34], CUT)
    rest, _, _ = read(LINE, cursor=outcome.cursor)
    assert first + rest == b"hello\n"


def test_time_that_is_over_ends_a_stream_that_never_pauses():
    times = iter([False, False, True])
    out, _, _ = read(LINE, LINE.replace(b"01.0", b"02.0"), LINE, expired=lambda: next(times))
    assert out == b"hello\nhello\n"
