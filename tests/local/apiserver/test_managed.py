"""Server-side apply: ownership, conflicts, removal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.apiserver.managed import apply, encode, fields_of, merged, parse, updated
from xlaunch.local.apiserver.schema import definition
from xlaunch.local.kube import StatusError

CM, POD = definition("ConfigMap"), definition("Pod")
NOW = "2026-11-29T12:00:00Z"


def config(**data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def pod(*containers):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": list(containers)}}


def run(live, applied, manager, *, node=CM, force=False):
    return apply(live, applied, node, manager, force=force, time=NOW)


def owners(each):
    return {entry["manager"]: parse(entry["fieldsV1"]) for entry in each["metadata"]["managedFields"]}


def test_the_first_apply_owns_what_it_names():
    made = run({"metadata": {}}, config(a="1"), "one")
    (entry,) = made["metadata"]["managedFields"]
    assert entry == {"manager": "one", "operation": "Apply", "apiVersion": "v1", "time": NOW, "fieldsType": "FieldsV1",
                     "fieldsV1": {"f:data": {"f:a": {}}}}  # fmt: skip


def test_field_sets_of_keyed_lists_sets_and_atomic_values():
    body = pod({"name": "a", "image": "x", "args": ["1", "2"], "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    body["metadata"]["finalizers"] = ["f"]
    body["spec"]["nodeSelector"] = {"k": "v"}
    tree = encode(fields_of(body, POD))
    container = tree["f:spec"]["f:containers"]['k:{"name":"a"}']
    assert container == {".": {}, "f:name": {}, "f:image": {}, "f:args": {}, "f:ports": {
        'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}, "f:protocol": {}}}}  # fmt: skip
    assert tree["f:spec"]["f:nodeSelector"] == {}
    assert tree["f:metadata"] == {"f:finalizers": {'v:"f"': {}}}


NAME = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"1"'])


@given(st.sets(st.lists(NAME, min_size=1, max_size=3).map(tuple)))
def test_field_sets_survive_their_wire_form(paths):
    leaves = {path for path in paths if not any(other[: len(path)] == path and other != path for other in paths)}
    assert parse(encode(leaves)) == leaves


def test_applying_the_same_again_changes_nothing():
    once = run({"metadata": {}}, config(a="1", b="2"), "one")
    assert run(once, config(a="1", b="2"), "one") == once


def test_a_field_that_is_no_longer_named_goes_unless_another_manager_has_it():
    live = run(run({"metadata": {}}, config(a="1", b="2"), "one"), config(b="2"), "two")
    assert run(live, config(), "one")["data"] == {"b": "2"}
    alone = run({"metadata": {}}, config(a="1", b="2"), "one")
    assert run(alone, config(a="1"), "one")["data"] == {"a": "1"}


def test_a_conflict_names_manager_and_field_and_force_takes_over():
    live = run({"metadata": {}}, config(a="1", b="1"), "one")
    with pytest.raises(StatusError) as caught:
        run(live, config(a="2", b="2"), "two")
    error = caught.value
    assert (error.code, error.reason) == (409, "Conflict")
    assert [each["field"] for each in error.details["causes"]] == [".data.a", ".data.b"]
    assert error.message.startswith('Apply failed with 2 conflicts: conflict with "one": .data.a; ')
    taken = run(live, config(a="2"), "two", force=True)
    assert taken["data"] == {"a": "2", "b": "1"}
    assert owners(taken) == {"one": {("f:data", "f:b")}, "two": {("f:data", "f:a")}}


def test_the_same_value_is_shared_without_conflict():
    live = run(run({"metadata": {}}, config(a="1"), "one"), config(a="1"), "two")
    assert {("f:data", "f:a")} == owners(live)["one"] == owners(live)["two"]


def test_lists_merge_by_key_and_conflicts_name_the_item():
    live = run({"metadata": {}}, pod({"name": "a", "image": "1"}), "one", node=POD)
    both = run(live, pod({"name": "b", "image": "2"}), "two", node=POD)
    assert [each["name"] for each in both["spec"]["containers"]] == ["a", "b"]
    with pytest.raises(StatusError, match=r'\.spec\.containers\[name="a"\]\.image'):
        run(both, pod({"name": "a", "image": "9"}), "two", node=POD)
    dropped = run(both, pod(), "two", node=POD)
    assert [each["name"] for each in dropped["spec"]["containers"]] == ["a"]


def test_an_item_is_the_same_with_and_without_a_defaulted_key():
    port = {"containerPort": 80}
    once = run({"metadata": {}}, pod({"name": "a", "ports": [port]}), "one", node=POD)
    once["spec"]["containers"][0]["ports"][0]["protocol"] = "TCP"
    again = run(once, pod({"name": "a", "ports": [port]}), "one", node=POD)
    assert again["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_an_ordinary_write_takes_the_fields_that_it_changes():
    live = run({"metadata": {}}, config(a="1", b="1"), "one")
    changed = updated(live, {**live, "data": {"a": "2", "b": "1"}}, CM, "editor", time=NOW)
    assert owners(changed) == {"one": {("f:data", "f:b")}, "editor": {("f:data", "f:a")}}
    with pytest.raises(StatusError, match='conflict with "editor"'):
        run(changed, config(a="1", b="1"), "one")


def test_an_object_that_nobody_applied_has_no_managed_fields():
    plain = config(a="1")
    assert updated(plain, {**plain, "data": {}}, CM, "editor", time=NOW) == {**plain, "data": {}}


@pytest.mark.parametrize(
    ("live", "applied", "result"),
    [
        ({"finalizers": ["a"]}, {"finalizers": ["b"]}, {"finalizers": ["a", "b"]}),
        ({"labels": {"a": "1"}}, {"labels": {"b": "2"}}, {"labels": {"a": "1", "b": "2"}}),
    ],
)
def test_merging_metadata(live, applied, result):
    assert merged({"metadata": live}, {"metadata": applied}, POD) == {"metadata": result}
