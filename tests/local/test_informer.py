"""Following a resource through faults: ended watches, missed deletions, names that come back, errors of the API."""

import asyncio

from fakes.cluster import VirtualClock

from xlaunch.local.informer import Informer
from xlaunch.local.kube import Event, StatusError


def thing(name, version, uid=None):
    return {"metadata": {"namespace": "n", "name": name, "uid": uid or name, "resourceVersion": str(version)}}


class Scripted:
    """A Kube whose lists and watches are given: each list is one answer, each watch a list of events, then it ends."""

    def __init__(self, lists, watches):
        self.lists = list(lists)
        self.watches = list(watches)
        self.since = []

    async def list(self, resource, namespace=None, **_):
        answer = self.lists.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer, "7"

    async def watch(self, resource, *, since):
        self.since.append(since)
        for event in self.watches.pop(0) if self.watches else ():
            yield event
        if not self.watches and not self.lists:
            await asyncio.Event().wait()


def changes_of(lists, watches):
    async def go():
        clock = VirtualClock()
        informer = Informer(Scripted(lists, watches), "things", clock)
        seen = []
        informer.subscribe(lambda kind, obj, before: seen.append((kind, obj["metadata"]["name"], before is not None)))
        task = asyncio.ensure_future(informer.run())
        await clock.advance(10)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return seen, sorted(name for _, name in informer.objects)

    return asyncio.run(go())


def test_the_list_first_and_then_its_changes():
    events = [Event("ADDED", thing("b", 2)), Event("MODIFIED", thing("a", 3)), Event("DELETED", thing("b", 4))]
    seen, left = changes_of([[thing("a", 1)]], [events])
    assert seen == [("ADDED", "a", False), ("ADDED", "b", False), ("MODIFIED", "a", True), ("DELETED", "b", True)]
    assert left == ["a"]


def test_what_vanished_between_two_watches_is_deleted():
    seen, left = changes_of([[thing("a", 1), thing("b", 1)], [thing("b", 1)]], [[]])
    assert seen == [("ADDED", "a", False), ("ADDED", "b", False), ("DELETED", "a", True)]
    assert left == ["b"]


def test_an_expired_watch_lists_anew_and_tells_only_what_changed():
    gone = Event("ERROR", {"code": 410, "reason": "Expired"})
    seen, _ = changes_of([[thing("a", 1), thing("b", 1)], [thing("a", 1), thing("b", 2), thing("c", 3)]], [[gone]])
    assert seen[2:] == [("MODIFIED", "b", True), ("ADDED", "c", False)]


def test_a_name_that_came_back_is_a_deletion_and_an_addition():
    seen, _ = changes_of([[thing("a", 1, "one")]], [[Event("MODIFIED", thing("a", 2, "two"))]])
    assert seen == [("ADDED", "a", False), ("DELETED", "a", True), ("ADDED", "a", False)]
    seen, _ = changes_of([[thing("a", 1, "one")], [thing("a", 2, "two")]], [[]])
    assert seen == [("ADDED", "a", False), ("DELETED", "a", True), ("ADDED", "a", False)]


def test_a_refused_list_is_tried_again():
    seen, _ = changes_of([StatusError(500, "InternalError", "x"), [thing("a", 1)]], [[]])
    assert seen == [("ADDED", "a", False)]


def test_bookmarks_and_deletions_of_strangers_say_nothing():
    events = [Event("BOOKMARK", thing("x", 9)), Event("DELETED", thing("never-seen", 9))]
    assert changes_of([[]], [events]) == ([], [])
