import pytest

from xlaunch.core import durations
from xlaunch.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("1.5m", 90), ("500ms", 0.5), ("2d", 172800), ("0", 0)],
)
def test_durations(text, seconds):
    assert durations.parse_duration("--timeout", text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1", "5 m", "m", "1y", "1h-2m", "inf", "1..5s", "999999999d"])
def test_what_is_no_duration(text):
    with pytest.raises(UsageError, match="--timeout"):
        durations.parse_duration("--timeout", text)
