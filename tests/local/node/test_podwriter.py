"""Writing a pod's status to an API server that takes its time."""

import asyncio

from fakes.cluster import VirtualClock

from xlaunch.local.kube import StatusError
from xlaunch.local.node.podwriter import PodWriter

POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1"}}


class SlowKube:
    """Answers a patch when the test lets it: with the pod, or with what is in `refusals`."""

    def __init__(self, *refusals):
        self.refusals = list(refusals)
        self.written = []
        self.gate = asyncio.Event()

    async def patch(self, resource, name, body, namespace, *, kind, subresource):
        await self.gate.wait()
        if self.refusals:
            raise self.refusals.pop(0)
        self.written.append(body["status"]["phase"])
        return {"metadata": {**POD["metadata"], "resourceVersion": str(1 + len(self.written))}, **body}


def written(*refusals, seconds=5.0):
    """A pod runs and ends while its first write is on its way: the phases written, and what was reported."""
    reports = []

    async def go():
        kube, clock = SlowKube(*refusals), VirtualClock()
        status = {"phase": "Running"}
        writer = PodWriter(kube, clock, POD, lambda *told: reports.append(told))
        task = asyncio.ensure_future(writer.run(lambda: dict(status)))
        writer.changed()
        await clock.advance(0.1)
        status["phase"] = "Failed"
        writer.finish()
        kube.gate.set()
        await clock.advance(seconds)
        assert task.done()
        return kube.written

    return asyncio.run(go()), [(what, str(error)) for what, error in reports]


def test_the_last_status_is_written_also_after_a_slow_one():
    assert written() == (["Running", "Failed"], [])


def test_a_write_that_is_refused_for_a_while_is_made_anew():
    phases, _ = written(StatusError(503, "ServiceUnavailable", "away"))
    assert phases[-1] == "Failed"


def test_each_refusal_is_reported_once():
    refusals = [StatusError(422, "Invalid", words) for words in ("odd", "odd", "even", "odd")]
    _, reports = written(*refusals)
    assert reports == [("pod p", "odd"), ("pod p", "even"), ("pod p", "odd")]


def test_a_pod_that_is_gone_needs_no_status():
    assert written(StatusError(404, "NotFound", "gone"), StatusError(409, "Conflict", "another")) == ([], [])
