from datetime import UTC, datetime, timedelta

import pytest

from xlaunch.cluster.watch import Change
from xlaunch.demo.losses import Fold, Loss

START = datetime(2026, 7, 6, tzinfo=UTC)


def pod(name, slice_index=2, host=0, *, ready=True, going=False):
    metadata = {
        "name": name,
        "uid": name,
        "labels": {
            "jobset.sigs.k8s.io/replicatedjob-name": "worker",
            "jobset.sigs.k8s.io/job-index": str(slice_index),
            "batch.kubernetes.io/job-completion-index": str(host),
        },
    }
    if going:
        metadata["deletionTimestamp"] = "2026-07-06T00:00:00Z"
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {"metadata": metadata, "status": {"phase": "Running", "conditions": conditions}}


def at(seconds):
    return START + timedelta(seconds=seconds)


def fold(*changes):
    found = Fold()
    for seconds, change in enumerate(changes):
        found.take(change, at(seconds))
    return tuple(found.losses.values())


LISTED = Change("LISTED", items=(pod("a"), pod("other", 1)))


@pytest.mark.parametrize(
    "gone",
    [
        [Change("DELETED", pod("a"))],
        [Change("MODIFIED", pod("a", going=True)), Change("DELETED", pod("a", going=True))],
        [Change("LISTED", items=(pod("other", 1),))],
    ],
)
def test_a_loss_and_its_replacement(gone):
    (loss,) = fold(LISTED, *gone, Change("ADDED", pod("b", ready=False)), Change("MODIFIED", pod("b")))
    after = len(gone)
    assert loss == Loss("a", at(1), replaced=at(1 + after), ready=at(2 + after))


def test_losses_of_other_places_are_apart():
    changes = (Change("DELETED", pod("a")), Change("DELETED", pod("other", 1)), Change("ADDED", pod("b", 1)))
    assert fold(LISTED, *changes) == (Loss("a", at(1)), Loss("other", at(2), replaced=at(3), ready=at(3)))


def test_a_replacement_that_is_lost_too():
    changes = (
        Change("DELETED", pod("a")),
        Change("ADDED", pod("b")),
        Change("DELETED", pod("b")),
        Change("ADDED", pod("c", ready=False)),
    )
    assert fold(LISTED, *changes) == (
        Loss("a", at(1), replaced=at(2), ready=at(2)),
        Loss("b", at(3), replaced=at(4)),
    )


def test_nothing_lost():
    assert fold(LISTED, Change("TICK"), Change("MODIFIED", pod("a", ready=False)), Change("LISTED", items=())) == (
        Loss("a", at(3)),
        Loss("other", at(3)),
    )
    assert fold(LISTED, Change("TICK"), Change("MODIFIED", pod("a", ready=False))) == ()
