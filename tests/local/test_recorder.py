"""Events in both forms, and what makes two of them one."""

import asyncio

import pytest
from fakes.cluster import VirtualClock

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.kube import StatusError
from xlaunch.local.recorder import Note, Recorder

NOTE = Note("Warning", "FailedCreate", "Error creating: no")


def thing(version="5", namespace="default"):
    metadata = {"name": "j", "namespace": namespace, "uid": "u", "resourceVersion": version}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}


def written(action, *occurrences):
    """The events after these (object, note) occurrences, a second apart."""

    async def go():
        clock = VirtualClock()
        kube = EmbeddedKube(clock)
        recorder = Recorder(kube, clock, "job-controller", raising, action=action)
        for obj, note in occurrences:
            await recorder.record(obj, note)
            await clock.advance(1)
        return (await kube.list("events", "default"))[0]

    return asyncio.run(go())


def raising(doing, error):
    raise AssertionError(f"{doing}: {error}")


def test_the_older_form():
    (event,) = written("", (thing(), NOTE))
    assert event["involvedObject"] == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "j",
        "namespace": "default",
        "uid": "u",
        "resourceVersion": "5",
    }
    assert (event["type"], event["reason"], event["message"], event["count"]) == (
        "Warning",
        "FailedCreate",
        "Error creating: no",
        1,
    )
    assert event["source"] == {"component": "job-controller"}
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-11-29T12:00:00Z"
    assert event["metadata"]["name"].startswith("j.")


def test_a_repetition_is_counted_whatever_the_objects_version():
    (event,) = written("", (thing("5"), NOTE), (thing("6"), NOTE), (thing("7"), NOTE))
    assert (event["count"], event["firstTimestamp"], event["lastTimestamp"]) == (
        3,
        "2026-11-29T12:00:00Z",
        "2026-11-29T12:00:02Z",
    )


def test_another_message_is_another_event():
    assert len(written("", (thing(), NOTE), (thing(), Note("Warning", "FailedCreate", "other")))) == 2


def test_the_newer_form_has_microseconds_and_an_action():
    (event,) = written("Reconciling", (thing(), NOTE))
    assert event["eventTime"] == "2026-11-29T12:00:00.000000Z"
    assert event["action"] == "Reconciling"
    assert "count" not in event


def test_the_newer_form_makes_a_series_only_at_one_resource_version():
    same = written("Reconciling", (thing("5"), NOTE), (thing("5"), NOTE))
    assert [event["series"]["count"] for event in same] == [2]
    assert len(written("Reconciling", (thing("5"), NOTE), (thing("6"), NOTE))) == 2


@pytest.mark.parametrize("action", ["", "Reconciling"])
def test_a_refused_event_is_reported_and_no_failure(action):
    async def go():
        clock = VirtualClock()
        told = []
        recorder = Recorder(
            EmbeddedKube(clock), clock, "c", lambda doing, error: told.append((doing, error.code)), action=action
        )
        await recorder.record(thing(namespace="missing"), NOTE)
        assert told == [("event FailedCreate of Job j", 404)]

    asyncio.run(go())


def test_an_event_that_expired_is_written_anew():
    async def go():
        clock = VirtualClock()
        kube = EmbeddedKube(clock)
        recorder = Recorder(kube, clock, "c", raising)
        await recorder.record(thing(), NOTE)
        (event,) = (await kube.list("events", "default"))[0]
        await kube.delete("events", event["metadata"]["name"], "default")
        await recorder.record(thing(), NOTE)
        (event,) = (await kube.list("events", "default"))[0]
        assert event["count"] == 1
        with pytest.raises(StatusError):
            await kube.get("events", "other", "default")

    asyncio.run(go())
