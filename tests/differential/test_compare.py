"""How a difference is told."""

import pytest

from differential.compare import differences, readable


@pytest.mark.parametrize(
    ("left", "right", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["a"]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b[1]"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a"]),
        ({"a": 1, "b": 2}, {"b": 3}, ["a", "b"]),
        ([{"x": 1}], [{"x": 1, "y": 2}], ["[0].y"]),
        (None, {"a": 1}, [""]),
    ],
)
def test_every_path_that_differs_is_named(left, right, paths):
    assert [path for path, _, _ in differences(left, right)] == paths


def test_the_report_shows_both_sides():
    told = readable({"code": 200, "same": 1}, {"code": 422, "same": 1})
    assert told.startswith("--- embedded\n+++ real\n")
    assert '- "code": 200,\n+ "code": 422,' in told
    assert readable({"a": 1}, {"a": 1}) == ""
