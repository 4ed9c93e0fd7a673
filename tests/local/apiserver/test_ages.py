"""Ages as kubectl prints them."""

from datetime import UTC, datetime

import pytest

from xlaunch.local.apiserver.ages import since


# The signs of k8s.io/apimachinery, pkg/util/duration/duration_test.go; how long ages are worded is tested in core
@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        ("2026-11-29T11:59:30Z", "30s"),
        ("2026-11-29T11:58:59.250000Z", "60s"),
        ("2026-11-29T12:00:01Z", "0s"),
        ("2026-11-29T12:00:02Z", "<invalid>"),
        (None, "<unknown>"),
    ],
)
def test_since_a_timestamp(stamp, text):
    assert since(stamp, datetime(2026, 11, 29, 12, 0, tzinfo=UTC)) == text
