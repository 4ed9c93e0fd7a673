import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.merge_patch import difference, merge_patch

# RFC 7386, Appendix A
RFC_CASES = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]
TREES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.text(max_size=2)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(("target", "patch", "result"), RFC_CASES)
def test_the_cases_of_the_rfc(target, patch, result):
    before = copy.deepcopy(target)
    assert merge_patch(target, patch) == result
    assert target == before


@given(TREES, TREES)
def test_a_patch_twice_is_a_patch_once(target, patch):
    once = merge_patch(target, patch)
    assert merge_patch(once, patch) == once


JSON = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=2), JSON, max_size=4)


@given(OBJECTS, OBJECTS)
def test_the_difference_makes_the_one_of_the_other(before, after):
    kept = copy.deepcopy(before)
    assert merge_patch(before, difference(before, after)) == after
    assert before == kept


@given(OBJECTS)
def test_nothing_changed_is_an_empty_patch(obj):
    assert difference(obj, obj) == {}
