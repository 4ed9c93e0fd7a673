"""Timestamps of Kubernetes, and ages in kubectl's words."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.timestamps import micro_stamp, parse, seconds_since, stamp, words

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-29T12:00:00Z", NOON),
        ("2026-11-29T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2026-11-29T13:00:00+01:00", NOON),
        ("2026-11-29T12:00:00", NOON),
        ("", None),
        (None, None),
        ("yesterday", None),
    ],
)
def test_parse(text, moment):
    assert parse(text) == moment


@pytest.mark.parametrize(
    ("text", "seconds"), [("2026-11-29T11:59:00Z", 60.0), ("2026-11-29T12:01:00Z", 0.0), (None, 0.0)]
)
def test_seconds_since(text, seconds):
    assert seconds_since(text, NOON) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (3 * 3600 + 600, "3h10m"),
        (8 * 3600 + 600, "8h"),
        (48 * 3600, "2d"),
        (52 * 3600, "2d4h"),
        (8 * 86400 + 7200, "8d"),
        (365 * 86400, "365d"),
        (2 * 365 * 86400, "2y"),
        (2 * 365 * 86400 + 5 * 86400, "2y5d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_words(seconds, text):
    assert words(seconds) == text
    assert words(timedelta(seconds=seconds)) == text


@given(st.integers(0, 4 * 10**15))
def test_times_come_back(microseconds):
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    assert parse(micro_stamp(when)) == when
    assert parse(stamp(when)) == when.replace(microsecond=0)


def test_a_time_without_fraction():
    assert stamp(datetime(2026, 11, 30, 1, 2, 3, 999999, UTC)) == "2026-11-30T01:02:03Z"
    assert stamp(None) is None
