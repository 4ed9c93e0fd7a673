"""Workers are lost: one, some, all of a slice, the same slice twice. What is said of it, and when they come back."""

import pytest
from following import counting
from looking import events, uids
from losing import counted, delays, ends, followed, goes_on, hosts, is_about, lose, row, waited, whole
from worlds import until

pytestmark = pytest.mark.e2e


@pytest.mark.verified("2.1", "2.8")
@pytest.mark.long
def test_one_host_waits_10_and_then_20_s(cluster):
    """Told to go the first time and gone at once the second; suspending in between does not reset the record."""
    counting(cluster, "single", slices=2)
    following = followed(cluster, "single")
    others = {pod["metadata"]["uid"] for pod in hosts(cluster, "single", 0).values()}
    began, _ = lose(cluster, "single", 1, 2, grace=None)
    assert is_about(waited(cluster, "single", 1, 2, began), 10, cluster, "single-worker-1")
    back = until(lambda: whole(cluster, "single"), "the slice to be whole")
    assert (back["lost"], back["budgetLeft"], back["nextReplacementSeconds"]) == (1, 7, 20.0)
    assert (back["inPlaceRestarts"], back["missing"], back["succeeded"], back["lostSince"]) == (0, 0, 0, None)
    assert others < uids(cluster, "pods")
    assert len(following.lives()) == 1
    suspend(cluster, "single")
    following.grows(2)
    began, _ = lose(cluster, "single", 1, 2)
    assert is_about(waited(cluster, "single", 1, 2, began), 20, cluster, "single-worker-1")
    back = until(lambda: whole(cluster, "single"), "the slice to be whole again")
    assert (back["lost"], back["budgetLeft"], back["nextReplacementSeconds"]) == (2, 6, 40.0)
    assert row(cluster, "single", 0)["lost"] == 0
    assert cluster.json("status", "single")["jobset"]["restarts"] == 0
    goes_on(cluster, "single")
    ends(cluster, "single", following)


def suspend(cluster, name):
    """Suspends and resumes; both have happened when it returns."""
    cluster.patch("jobset", name, {"spec": {"suspend": True}})
    until(lambda: cluster.look("status", name)["phase"] == "Suspended", "Suspended")
    until(lambda: not cluster.get("pods"), "all pods to go")
    cluster.patch("jobset", name, {"spec": {"suspend": False}})
    until(lambda: whole(cluster, name, 0) and whole(cluster, name, 1), "the slices to be whole")
    until(lambda: cluster.look("status", name)["phase"] == "Running", "Running")


def test_lost_hosts_show_at_once_with_their_wait(cluster):
    counting(cluster, "some", slices=2)
    following = followed(cluster, "some")
    # Three of them, which are missing for 40 s of the cluster: one would be back before a busy machine has looked
    _, names = lose(cluster, "some", 1, 1, 2, 3)
    short = until(lambda: counted(cluster, "some", 3), "the loss to show")
    assert (short["ready"], short["missing"], short["budgetLeft"]) == (1, 3, 5)
    assert 0 <= short["nextReplacementSeconds"] <= 40
    # Where Kubernetes counts a loss at once, its object is gone a moment later: then events tell of it
    assert [(loss["host"], loss["pod"], loss["replaced"]) for loss in short["losses"]] == [
        (host, name, False) for host, name in zip((1, 2, 3), names, strict=True)
    ]
    assert {loss["why"] for loss in short["losses"]} <= {"deleted", None}
    assert (row(cluster, "some", 0)["lost"], row(cluster, "some", 0)["losses"]) == (0, [])
    goes_on(cluster, "some")
    ends(cluster, "some", following)


@pytest.mark.verified("2.2", "2.4", "5.1", "5.4", "5.5")
def test_a_whole_slice_is_lost_and_then_once_more(cluster):
    """80 s the first time, and 600 s at most the second. The record is the controller manager's memory."""
    counting(cluster, "whole", slices=2)
    following = followed(cluster, "whole")
    until(lambda: completed(cluster), "the start to be told")
    brackets = len(started(cluster)), len(completed(cluster))
    before = was_complete(cluster)
    began, _ = lose(cluster, "whole", 1, 0, 1, 2, 3)
    short = until(lambda: counted(cluster, "whole", 4), "the loss to show")
    assert (short["ready"], short["missing"], short["budgetLeft"]) == (0, 4, 4)
    assert 0 <= short["nextReplacementSeconds"] <= 80
    assert short["lostSince"] is not None
    until(lambda: len(started(cluster)) == brackets[0] + 1, "the outage to begin")
    assert len(completed(cluster)) == brackets[1]
    assert was_complete(cluster) == {**before, "status": "False"}
    if cluster.plane:
        until(lambda: 75 < max(delays(cluster, "whole-worker-1"), default=0) <= 80, "the wait in the log")
        cluster.plane.restart("kube-controller-manager")
    passed = waited(cluster, "whole", 1, 3, began)
    # Whoever remembers takes 79 s at the least
    assert passed < 70 if cluster.plane else is_about(passed, 80, cluster, "whole-worker-1")
    back = until(lambda: whole(cluster, "whole"), "the slice to be whole again")
    assert (back["lost"], back["budgetLeft"], back["nextReplacementSeconds"]) == (4, 4, 160.0)
    until(lambda: len(completed(cluster)) == brackets[1] + 1, "the outage to end")
    announced = len(delays(cluster, "whole-worker-1"))
    lose(cluster, "whole", 1, 0, 1, 2, 3)
    short = until(lambda: counted(cluster, "whole", 8), "the second loss to show")
    assert (short["ready"], short["missing"], short["budgetLeft"]) == (0, 4, 0)
    assert 500 < short["nextReplacementSeconds"] <= 600
    until(lambda: len(started(cluster)) == brackets[0] + 2, "the second outage to begin")
    shortest, longest = (75, 80) if cluster.plane else (600, 600)  # the real one has forgotten the first loss
    until(
        lambda: shortest <= max(delays(cluster, "whole-worker-1")[announced:], default=0) <= longest,
        "the wait in the log",
    )
    goes_on(cluster, "whole")
    assert len(following.lives()) == 1
    ends(cluster, "whole", following)


def was_complete(cluster):
    """The condition that tells when all slices were there last."""
    told = cluster.get("jobset", "whole")["status"]["conditions"]
    return next(each for each in told if each["type"] == "StartupPolicyCompleted")


def started(cluster):
    return bracket(cluster, "InOrderStartupPolicyInProgress")


def completed(cluster):
    return bracket(cluster, "InOrderStartupPolicyCompleted")


def bracket(cluster, reason):
    return [event for event in events(cluster, "whole") if event[1] == reason]
