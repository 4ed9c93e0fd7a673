"""The ledger of slices some of whose nodes do not answer: missing at once, and for how long at most."""

from datetime import timedelta

from fakes.clock import START
from fakes.objects import condition, job, jobset, on_silent_node, pod

from xlaunch.core.ledger import ledger
from xlaunch.core.ledger_data import as_data

ONCE = condition("StartupPolicyCompleted")
NEXT = "2026-11-29T12:00:40Z"


def data(*silent, pods=(), after=0.0, failed=0, **more):
    """Status of a workload with these hosts of slices (index, host) on silent nodes, and those pods in their place."""
    known = [pod("worker", index, host) for index in range(3) for host in range(4)]
    taken = {each["metadata"]["name"] for each in pods}
    known = [each for each in known if each["metadata"]["name"] not in taken]
    for each in known:
        labels = each["metadata"]["labels"]
        host = (int(labels["jobset.sigs.k8s.io/job-index"]), int(labels["batch.kubernetes.io/job-completion-index"]))
        if host in silent:
            on_silent_node(each, f"tpu-{host[0]}-{host[1]}", **more)
    jobs = [job("worker", 0), job("worker", 1), job("worker", 2, failed=failed)]
    return as_data(ledger(jobset(conditions=[ONCE]), jobs, [*known, *pods], START + timedelta(seconds=after)))


def numbers(row):
    return row["ready"], row["missing"], row["lost"], row["budgetLeft"], row["nextReplacementSeconds"]


def test_a_host_on_a_silent_node_is_missing_and_comes_back_after_its_eviction():
    row = data((2, 1), after=5.0)["slices"][2]
    assert numbers(row) == (3, 1, 0, 40, 25.0)
    assert row["lostSince"] == "2026-11-29T12:00:00Z"
    assert row["waiting"].startswith("pod train-worker-2-1-aaaaa is on node tpu-2-1, which has not answered since ")
    assert row["losses"] == [
        {
            "host": 1,
            "pod": "train-worker-2-1-aaaaa",
            "since": "2026-11-29T12:00:00Z",
            "why": "node tpu-2-1 does not answer",
            "replaced": False,
        }
    ]


def test_an_impatient_pod_still_waits_for_the_back_off():
    assert numbers(data((2, 1), seconds=0)["slices"][2]) == (3, 1, 0, 40, 10.0)


def test_hosts_lost_before_lengthen_the_wait():
    assert numbers(data((2, 1), failed=3)["slices"][2]) == (3, 1, 3, 37, 80.0)


def test_the_last_of_a_silent_pool_is_evicted_30_s_after_the_first():
    row = data((2, 0), (2, 1), (2, 2), (2, 3), seconds=60)["slices"][2]
    assert numbers(row) == (0, 4, 0, 40, 90.0)
    assert "(tpu-2-0, tpu-2-1, tpu-2-2, tpu-2-3)" in row["waiting"]
    assert numbers(data((2, 0), (2, 1), (2, 2), (2, 3))["slices"][2]) == (0, 4, 0, 40, 80.0)  # the back-off


def test_the_nodes_of_all_slices_stand_in_one_queue():
    rows = data((1, 0), (1, 1), (2, 0), seconds=100)["slices"]
    assert [row["nextReplacementSeconds"] for row in rows] == [10.0, 110.0, 120.0]


def test_a_pod_that_would_wait_for_ever_has_no_forecast():
    assert data((2, 1), seconds=None)["slices"][2]["nextReplacementSeconds"] is None


def test_where_nobody_is_evicted_there_is_no_forecast():
    row = data((2, 1), after=60.0)["slices"][2]
    assert (row["missing"], row["nextReplacementSeconds"]) == (1, None)


def test_once_it_is_evicted_the_host_is_missing_no_more():
    """The old pod stays as it is, in phase Running; its replacement waits for a node."""
    old = on_silent_node(pod("worker", 2, 1, deleted=NEXT), "tpu-2-1")
    new = pod("worker", 2, 1, phase="Pending", suffix="bbbbb", created=NEXT)
    row = data(pods=[old, new], after=40.0)["slices"][2]
    assert numbers(row) == (3, 0, 1, 39, 20.0)
    assert [(loss["pod"], loss["replaced"]) for loss in row["losses"]] == [("train-worker-2-1-aaaaa", True)]


def test_since_when_counts_only_who_is_missing_now():
    """A pod that has failed stays, though it was replaced long ago."""
    old = pod("worker", 2, 0, phase="Failed", conditions=[])
    new = pod("worker", 2, 0, suffix="bbbbb")
    gone = pod("worker", 2, 3, deleted=NEXT)
    row = data(pods=[old, new, gone], after=41.0)["slices"][2]
    assert (row["missing"], row["lostSince"]) == (1, NEXT)
