"""Pages of a list, and events as a selector sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.apiserver import reads
from xlaunch.local.apiserver.resources import BY_NAME
from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import StatusError

CONFIGS = BY_NAME["configmaps"]


def put(store, name, namespace="n", **labels):
    return store.put(
        "configmaps", (namespace, name), {"metadata": {"name": name, "namespace": namespace, "labels": labels}}
    )


def names(items):
    return [each["metadata"]["name"] for each in items]


@pytest.fixture
def store():
    made = Store()
    for name in "ecadb":
        put(made, name, team="x" if name in "abc" else "y")
    return made


def test_a_list_is_ordered_by_namespace_and_name(store):
    put(store, "a", "a")
    found = reads.page(store, CONFIGS, reads.predicate(CONFIGS, ""))
    assert names(found.items) == ["a", "a", "b", "c", "d", "e"]
    assert (found.token, found.remaining, found.revision) == ("", None, store.revision)


def test_pages_are_of_one_revision_whatever_is_written_between(store):
    everything = reads.predicate(CONFIGS, "n")
    first = reads.page(store, CONFIGS, everything, limit=2)
    assert first.remaining == 3
    put(store, "aa")
    store.remove("configmaps", ("n", "e"), store.get("configmaps", ("n", "e")))
    pages, page = [first], first
    while page.token:
        page = reads.page(store, CONFIGS, everything, limit=2, token=page.token)
        pages.append(page)
    assert [names(each.items) for each in pages] == [["a", "b"], ["c", "d"], ["e"]]
    assert {each.revision for each in pages} == {first.revision}


def test_a_selector_hides_how_many_remain(store):
    matches = reads.predicate(CONFIGS, "n", labels="team=x")
    found = reads.page(store, CONFIGS, matches, limit=1, selected=True)
    assert (names(found.items), found.remaining, bool(found.token)) == (["a"], None, True)


def test_a_token_of_a_forgotten_revision_is_expired(store):
    token = reads.page(store, CONFIGS, reads.predicate(CONFIGS, "n"), limit=2).token
    put(store, "z")
    store.compact("configmaps", store.revision)
    with pytest.raises(StatusError) as caught:
        reads.page(store, CONFIGS, reads.predicate(CONFIGS, "n"), limit=2, token=token)
    assert caught.value.code == 410


@pytest.mark.parametrize("token", ["x", "e30=", "W10=", "!!", "WzFd"])
def test_a_foreign_token_is_refused(store, token):
    with pytest.raises(StatusError, match="continue key is not valid") as caught:
        reads.page(store, CONFIGS, reads.predicate(CONFIGS, "n"), token=token)
    assert caught.value.code == 400


def test_a_watcher_with_a_selector_sees_objects_come_and_go():
    store = Store()
    since = store.revision
    put(store, "a", team="in")
    put(store, "a", team="out")
    put(store, "b", team="out")
    put(store, "b", team="in")
    put(store, "b", team="in", more="1")
    store.remove("configmaps", ("n", "b"), store.get("configmaps", ("n", "b")))
    put(store, "c", "other", team="in")
    found = list(reads.events(store.after("configmaps", since), reads.predicate(CONFIGS, "n", labels="team=in")))
    assert [(each.type, each.object["metadata"]["name"]) for each in found] == [
        ("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b")]  # fmt: skip
    left = found[1].object["metadata"]
    assert left["labels"] == {"team": "in"}  # its last state in the selection, under the revision of the change
    assert [int(each.object["metadata"]["resourceVersion"]) for each in found] == sorted(
        int(each.object["metadata"]["resourceVersion"]) for each in found
    )


WRITE = st.tuples(st.sampled_from("abc"), st.sampled_from(["in", "out", "delete"]))


@given(st.lists(WRITE, max_size=25), st.integers(0, 25))
def test_a_list_and_the_events_after_it_make_the_list_of_now(writes, cut):
    store, matches = Store(), reads.predicate(CONFIGS, "n", labels="team=in")

    def write(name, what):
        if what != "delete":
            put(store, name, team=what)
        elif old := store.get("configmaps", ("n", name)):
            store.remove("configmaps", ("n", name), old)

    def listed():
        return {each["metadata"]["name"]: each for each in reads.page(store, CONFIGS, matches).items}

    for each in writes[:cut]:
        write(*each)
    state, since = listed(), store.revision
    for each in writes[cut:]:
        write(*each)
    for event in reads.events(store.after("configmaps", since), matches):
        name = event.object["metadata"]["name"]
        assert (name in state) == (event.type != "ADDED")
        if event.type == "DELETED":
            del state[name]
        else:
            state[name] = event.object
    assert state == listed()
