"""JSON patch and strategic merge."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.merge_patch import difference, merge_patch
from xlaunch.local.apiserver.patches import json_patch, strategic
from xlaunch.local.apiserver.schema import definition
from xlaunch.local.kube import StatusError

SCALAR = st.one_of(st.booleans(), st.integers(), st.text(max_size=3))
JSON = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
)
DOCUMENT = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({}, [{"op": "add", "path": "/a", "value": 1}], {"a": 1}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
        ({"a": {"b/c~d": 1}}, [{"op": "remove", "path": "/a/b~1c~0d"}], {"a": {}}),
        ({"a": [1, 2]}, [{"op": "replace", "path": "/a/0", "value": 9}], {"a": [9, 2]}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        ({"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}], {}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ],
)
def test_json_patch(document, operations, result):
    before = copy.deepcopy(document)
    assert json_patch(document, operations) == result
    assert document == before


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "remove", "path": "/none"}],
        [{"op": "replace", "path": "/none", "value": 1}],
        [{"op": "test", "path": "/a", "value": 2}],
        [{"op": "add", "path": "/list/7", "value": 1}],
        [{"op": "remove", "path": "/list/-1"}],
        [{"op": "add", "path": "no-slash", "value": 1}],
        [{"op": "bogus", "path": "/a"}],
        [{"op": "add", "path": "/a/b", "value": 1}],
        [{"path": "/a"}],
    ],
)
def test_json_patch_refuses_what_does_not_fit(operations):
    with pytest.raises(StatusError) as caught:
        json_patch({"a": 1, "list": [1]}, operations)
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")


@pytest.mark.parametrize("body", [{"op": "add"}, ["x"], None])
def test_json_patch_that_is_no_list_of_operations(body):
    with pytest.raises(StatusError) as caught:
        json_patch({}, body)
    assert caught.value.code == 400


CONTAINERS = {
    "spec": {"containers": [{"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}]}, {"name": "b"}]}
}


def containers(*items, **more):
    return {"spec": {"containers": list(items), **more}}


A, B = CONTAINERS["spec"]["containers"]
Y = {"name": "Y", "value": "2"}
ORDER = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}
VOLUME = {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}


def spec(**parts):
    return {"spec": parts}


def meta(**parts):
    return {"metadata": parts}


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        (CONTAINERS, containers({"name": "a", "env": [Y]}), containers({**A, "env": [Y, *A["env"]]}, B)),
        (CONTAINERS, containers({"name": "a", "image": "2"}), containers({**A, "image": "2"}, B)),
        (CONTAINERS, containers({"name": "c"}), containers({"name": "c"}, A, B)),
        (CONTAINERS, containers({"name": "a", "$patch": "delete"}), containers(B)),
        (CONTAINERS, containers({"$patch": "replace"}, {"name": "c"}), containers({"name": "c"})),
        (CONTAINERS, {"spec": {"$patch": "replace", "nodeName": "n"}}, spec(nodeName="n")),
        (CONTAINERS, {"spec": {"$patch": "delete"}}, spec()),
        (CONTAINERS, {"spec": None}, {}),
        (CONTAINERS, containers({"name": "b", "image": "3"}, **ORDER), containers({"name": "b", "image": "3"}, A)),
        (CONTAINERS, spec(**ORDER), containers(B, A)),
        (spec(tolerations=[{"key": "a"}]), spec(tolerations=[{"key": "b"}]), spec(tolerations=[{"key": "b"}])),
        (spec(volumes=[{"name": "v", "emptyDir": {}}]), spec(volumes=[VOLUME]),
         spec(volumes=[{"name": "v", "hostPath": {"path": "/x"}}])),
        (meta(finalizers=["a"]), meta(finalizers=["b", "a"]), meta(finalizers=["a", "b"])),
        (meta(finalizers=["a", "b"]), meta(**{"$deleteFromPrimitiveList/finalizers": ["a"]}), meta(finalizers=["b"])),
        (meta(labels={"a": "1"}), meta(labels={"a": None, "b": "2"}), meta(labels={"b": "2"})),
    ],
)  # fmt: skip
def test_strategic_merge_of_a_pod(document, patch, result):
    before = copy.deepcopy(document)
    assert strategic(document, patch, definition("Pod")) == result
    assert document == before


@pytest.mark.parametrize(
    ("patch", "merged"),
    [([81], [81, 80, 82]), ([81, 80], [81, 80, 82]), ([80, 81], [80, 81, 82]), ([82, 81], [80, 82, 81])],
)
def test_the_order_of_a_merged_list_is_that_of_kubernetes_1_37_2(patch, merged):
    def service(ports):
        return {"spec": {"ports": [{"port": each} for each in ports]}}

    assert strategic(service([80, 82]), service(patch), definition("Service")) == service(merged)


@pytest.mark.parametrize(
    "patch",
    [
        containers(None),
        containers("x"),
        spec(**{"$setElementOrder/containers": "x", "containers": []}),
        spec(**{"$setElementOrder/containers": ["x"], "containers": [B]}),
        meta(**{"$deleteFromPrimitiveList/finalizers": 1}),
        spec(volumes=[{"name": "v", "$retainKeys": 1}]),
    ],
)
def test_directives_that_make_no_sense_are_refused(patch):
    document = {**CONTAINERS, **meta(finalizers=["a"])}
    with pytest.raises(StatusError) as caught:
        strategic(document, patch, definition("Pod"))
    assert caught.value.code == 400


def test_an_item_without_its_key_is_refused():
    with pytest.raises(StatusError, match="does not contain declared merge key: name"):
        strategic(CONTAINERS, {"spec": {"containers": [{"image": "x"}]}}, definition("Pod"))


@given(DOCUMENT, DOCUMENT)
def test_without_a_schema_strategic_merge_is_a_merge_patch(old, new):
    def plain(each):
        if isinstance(each, dict):
            return all(not key.startswith("$") and plain(value) for key, value in each.items())
        return all(map(plain, each)) if isinstance(each, list) else True

    if plain(old) and plain(new):
        patch = difference(old, new)
        assert strategic(old, patch) == merge_patch(old, patch)
