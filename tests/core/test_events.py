"""Events of both APIs, and which of them is the latest."""

import pytest

from xlaunch.core.events import latest, message

OLD = {"lastTimestamp": "2026-11-29T12:00:01Z", "message": "old"}
MICRO = {"eventTime": "2026-11-29T12:00:05.000001Z", "note": "micro"}
AGAIN = {
    "eventTime": "2026-11-29T12:00:00.000001Z",
    "series": {"lastObservedTime": "2026-11-29T12:00:09.000000Z"},
    "note": "again",
}
BARE = {"metadata": {"creationTimestamp": "2026-11-29T12:00:03Z"}}


@pytest.mark.parametrize(
    ("events", "said"),
    [([OLD, MICRO], "micro"), ([AGAIN, MICRO], "again"), ([OLD, BARE], ""), ([OLD], "old")],
)
def test_the_latest(events, said):
    assert message(latest(events)) == said
    assert message(latest(events[::-1])) == said


def test_of_none_there_is_no_latest():
    assert latest([]) is None
