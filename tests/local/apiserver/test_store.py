"""The store: revisions, the past, forgetting, and waking those who wait."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.apiserver.store import Store
from xlaunch.local.kube import StatusError


def thing(name, **more):
    return {"metadata": {"name": name}, **more}


def test_every_write_has_its_own_revision_and_leaves_old_objects_alone():
    store = Store()
    first = store.put("pods", ("a", "x"), thing("x"))
    second = store.put("pods", ("a", "x"), {**first, "n": 1})
    assert int(second["metadata"]["resourceVersion"]) == int(first["metadata"]["resourceVersion"]) + 1
    assert "n" not in first
    assert store.get("pods", ("a", "x")) is second


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_the_past_is_what_was_there(writes):
    store, seen = Store(), {}
    for name, remove in writes:
        key = ("", name)
        if remove and store.get("pods", key):
            store.remove("pods", key, store.get("pods", key))
        elif not remove:
            store.put("pods", key, thing(name))
        seen[store.revision] = dict(store.items("pods"))
    for revision, objects in seen.items():
        assert store.at("pods", revision) == objects


def test_changes_after_a_revision_are_of_one_resource_and_in_order():
    store = Store()
    store.put("pods", ("", "x"), thing("x"))
    since = store.revision
    store.put("jobs", ("", "j"), thing("j"))
    store.put("pods", ("", "y"), thing("y"))
    store.remove("pods", ("", "x"), thing("x"))
    assert [(each.key[1], each.deleted) for each in store.after("pods", since)] == [("y", False), ("x", True)]


def test_a_forgotten_past_is_expired_for_watches_and_lists():
    store = Store()
    for name in "abc":
        store.put("pods", ("", name), thing(name))
    store.compact("pods", store.revision - 1)
    assert len(store.after("pods", store.revision - 1)) == 1
    for read in (store.after, store.at):
        with pytest.raises(StatusError, match="too old resource version") as caught:
            read("pods", 1)
        assert (caught.value.code, caught.value.reason) == (410, "Expired")
    assert store.after("jobs", 1) == []


def test_history_is_bounded():
    store = Store(history=10)
    for index in range(100):
        store.put("pods", ("", "x"), thing("x", n=index))
    assert len(store.after("pods", store.revision - 10)) >= 10
    with pytest.raises(StatusError):
        store.after("pods", 1)


def test_waiters_wake_on_a_change_of_their_resource_only():
    async def go():
        store = Store()
        pods, jobs = (asyncio.ensure_future(store.wait(each, store.revision)) for each in ("pods", "jobs"))
        await asyncio.sleep(0)
        store.put("pods", ("", "x"), thing("x"))
        await pods
        assert not jobs.done()
        jobs.cancel()
        await store.wait("pods", store.revision - 1)  # there is already something newer

    asyncio.run(go())
