import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.core.plan import HASH_ANNOTATION, OWNER_KEY, dump, finished, owned, plan_hash

# What a process argument can hold: any character but NUL, and no lone surrogate
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
AWKWARD = st.sampled_from(
    ["\u2028", "\x85", "\ufeff", "\t", "\r\n", "\n\n", " ", "#", ": ", "- ", "😀", "\x7f", "'", '"']
)
LINES = st.lists(st.one_of(TEXT, AWKWARD, st.text("ab \n\t:#-"))).map("".join)

TREES = st.recursive(
    st.one_of(st.integers(-(2**31), 2**31), st.booleans(), TEXT, LINES),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(LINES, inner, max_size=4)),
    max_leaves=12,
)


def manifest(**metadata):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "w", **metadata}}


@given(TREES)
@settings(max_examples=150, deadline=None)
def test_every_tree_comes_back_as_it_was(tree):
    assert yaml.safe_load(dump({"tree": tree})) == {"tree": tree}
    assert yaml.load(dump({"tree": tree}), Loader=yaml.CSafeLoader) == {"tree": tree}


@pytest.mark.parametrize(
    "text",
    ["y", "N", "yes", "off", "null", "~", "0123", "1e3", "0o17", "0x1F", "1_000", "-_1", "+1", ".5", "1:30", "=", "<<",
     "2001-01-01", "", "-", "1.", ".inf", "12e03", "0b1", "-.5"],
)  # fmt: skip
def test_what_a_reader_may_take_for_something_else_is_quoted(text):
    written = dump({"value": text})
    assert written in (f'value: "{text}"\n', f"value: '{text}'\n")
    assert yaml.safe_load(written) == {"value": text}


def test_lines_are_written_as_lines():
    assert dump({"args": ["cd /app\npython3 train.py"]}) == "args:\n- |-\n  cd /app\n  python3 train.py\n"


def test_plain_values_stay_plain():
    assert dump({"a": "--flag=$(X):29001", "b": {"c": 1, "d": True}}) == "a: --flag=$(X):29001\nb:\n  c: 1\n  d: true\n"


def test_no_aliases():
    shared = {"key": "value"}
    assert "&" not in dump({"a": shared, "b": shared})


def test_the_hash_is_an_annotation_and_does_not_count_itself():
    plan = finished(manifest(annotations={"team": "x"}))
    assert plan.manifest["metadata"]["annotations"] == {"team": "x", HASH_ANNOTATION: plan.hash}
    assert plan_hash(plan.manifest) == plan.hash
    assert finished(plan.manifest).hash == plan.hash
    assert len(plan.hash) == 16


def test_the_hash_does_not_depend_on_the_order_of_keys():
    plain = {"apiVersion": "a", "metadata": {"name": "w", "namespace": "n"}}
    assert plan_hash(plain) == plan_hash(json.loads(json.dumps(plain, sort_keys=True)))
    turned = {"metadata": {"namespace": "n", "name": "w"}, "apiVersion": "a"}
    assert plan_hash(plain) == plan_hash(turned)


def test_another_manifest_has_another_hash():
    assert finished(manifest(labels={"a": "1"})).hash != finished(manifest(labels={"a": "2"})).hash


def test_finishing_leaves_the_given_manifest_alone():
    given_ = manifest()
    finished(given_)
    assert given_ == manifest()


@pytest.mark.parametrize(("owner", "place"), [("alice", "labels"), ("alice@example.com", "annotations")])
def test_an_owner_is_a_label_where_it_can_be_one(owner, place):
    plan = finished(manifest())
    mine = owned(plan, owner)
    assert mine.manifest["metadata"][place][OWNER_KEY] == owner
    assert (mine.hash, plan_hash(mine.manifest)) == (plan.hash, plan.hash)
    assert yaml.safe_load(mine.text) == mine.manifest
    assert owned(plan, "") is plan


def test_an_owner_in_another_encoding_is_written_as_far_as_it_can_be():
    plan = finished({"metadata": {"name": "x"}})
    assert "j?rgen" in owned(plan, "j\udcfcrgen").text
