import pytest

from xlaunch.core import exit_codes
from xlaunch.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "own"),
    [("1", {1}), ("1,3-5", {1, 3, 4, 5}), (" 7 , 9 - 10 ", {7, 9, 10}), ("42", set()), ("127-255", set())],
)
def test_exit_codes_are_added_to_xpks(text, own):
    found = exit_codes.parse(text)
    assert set(found) - set(exit_codes.ALWAYS) == own
    assert set(found) >= set(exit_codes.ALWAYS)
    assert list(found) == sorted(set(found))


def test_no_exit_codes_mean_that_all_restart():
    assert exit_codes.parse("") == ()


@pytest.mark.parametrize("text", ["0", "256", "5-3", "a", "1,", ",", "-1", "1-", "1.5", "1;2"])
def test_what_are_no_exit_codes(text):
    with pytest.raises(UsageError, match="exit codes"):
        exit_codes.parse(text)
