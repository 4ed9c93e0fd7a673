"""Ages as kubectl prints them."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.apiserver.ages import human_duration, since

MINUTE, HOUR, DAY = 60, 3600, 86400


# Cases of k8s.io/apimachinery, pkg/util/duration/duration_test.go, and the limits between them
@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"), (-1, "0s"), (0, "0s"), (1, "1s"), (70, "70s"), (119, "119s"), (120, "2m"), (190, "3m10s"),
        (10 * MINUTE, "10m"), (70 * MINUTE, "70m"), (3 * HOUR, "3h"), (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR, "8h"),
        (47 * HOUR + 59 * MINUTE, "47h"), (49 * HOUR, "2d1h"), (3 * DAY, "3d"), (8 * DAY, "8d"), (9 * DAY + HOUR, "9d"),
        (365 * DAY, "365d"), (2 * 365 * DAY, "2y"), (2 * 365 * DAY + 5 * DAY, "2y5d"), (9 * 365 * DAY, "9y"),
    ],
)  # fmt: skip
def test_human_duration(seconds, text):
    assert human_duration(seconds) == text


def test_since_a_timestamp():
    now = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
    assert since("2026-11-29T11:59:30Z", now) == "30s"
    assert since("2026-11-29T11:58:59.250000Z", now) == "60s"
    assert since(None, now) == "<unknown>"
