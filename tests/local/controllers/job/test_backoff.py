"""The wait before replacements."""

from datetime import UTC, datetime, timedelta

import pytest

from xlaunch.local.controllers.job.backoff import Record, ended_at, remaining, update

T0 = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def at(seconds):
    return T0 + timedelta(seconds=seconds)


def text(seconds):
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("record", "succeeded", "failed", "after"),
    [
        (Record(), [], [], Record()),
        (Record(), [], [3], Record(1, at(3))),
        (Record(2, at(1)), [], [5, 3], Record(4, at(5))),
        (Record(2, at(1)), [], [], Record(2, at(1))),
        (Record(2, at(1)), [4], [], Record()),
        (Record(2, at(1)), [4], [3, 6, 7], Record(2, at(7))),
        (Record(2, at(1)), [4, 9], [3, 6], Record()),
    ],
)
def test_the_record_counts_losses_since_the_last_success(record, succeeded, failed, after):
    assert update(record, [at(each) for each in succeeded], [at(each) for each in failed]) == after


@pytest.mark.parametrize(
    ("failures", "elapsed", "scale", "left"),
    [
        (0, 0, 1, 0),
        (1, 0, 1, 10),
        (1, 4, 1, 6),
        (1, 12, 1, 0),
        (4, 0, 1, 80),
        (8, 0, 1, 600),
        (10**9, 0, 1, 600),
        (1, 0.4, 0.1, 6),
    ],
)
def test_what_is_left_of_the_wait(failures, elapsed, scale, left):
    record = Record(failures, T0 if failures else None)
    assert remaining(record, at(elapsed), scale) == pytest.approx(left)


def pod(*, main=None, sidecar=None, init=None, not_ready=None):
    def state(finished):
        return {"terminated": {"finishedAt": finished}} if finished else {"running": {}}

    status = {"containerStatuses": [{"name": "main", "state": state(main)}], "initContainerStatuses": []}
    spec = {"initContainers": []}
    if sidecar is not None:
        spec["initContainers"].append({"name": "rm", "restartPolicy": "Always"})
        status["initContainerStatuses"].append({"name": "rm", "state": state(sidecar)})
    if init is not None:
        spec["initContainers"].append({"name": "init"})
        status["initContainerStatuses"].append({"name": "init", "state": state(init)})
    if not_ready:
        status["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": not_ready}]
    return {"spec": spec, "status": status}


@pytest.mark.parametrize(
    ("lost", "ended"),
    [
        (pod(), 100.4),
        (pod(main=text(40)), 40),
        (pod(main=text(40), sidecar=text(50)), 50),
        (pod(main=text(40), sidecar=""), 100.4),
        (pod(main=text(40), init=text(90)), 40),
        (pod(not_ready=text(20)), 20),
        (pod(main=text(40), sidecar="", not_ready=text(20)), 20),
        # A stamp of this very second says no more than the news of it
        (pod(main=text(100)), 100.4),
        (pod(main=text(99)), 100.4),
    ],
)
def test_when_a_pod_ended(lost, ended):
    assert ended_at(lost, at(100.4)) == at(ended)
