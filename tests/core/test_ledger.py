"""The ledger counts from pods first, and says what the next loss costs."""

from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, ended, job, jobset, pod, running, status, terminated, waiting

from xlaunch.core.ledger import ledger
from xlaunch.core.ledger_data import as_data, restart_counters
from xlaunch.core.workload import Phase

ONCE = condition("StartupPolicyCompleted", "False")
DELETED = "2026-11-29T12:00:00Z"


def workers(*, but=()):
    """All twelve hosts, but those of (slice, host)."""
    return [pod("worker", s, h) for s in range(3) for h in range(4) if (s, h) not in but]


def head_pod(**more):
    return pod(
        "pathways-head", statuses=[status()], init_statuses=[status("pathways-rm"), status("pathways-proxy")], **more
    )


def jobs(**of_slice_2):
    return [job("pathways-head"), job("worker", 0), job("worker", 1), job("worker", 2, **of_slice_2)]


def count(body=None, job_list=None, pods=None, after=0.0):
    body = body or jobset(conditions=[ONCE])
    return ledger(
        body,
        jobs() if job_list is None else job_list,
        [head_pod(), *(workers() if pods is None else pods)],
        START + timedelta(seconds=after),
    )


def slice_2(found):
    each = found.slices[2]
    return each.ready, each.missing, each.lost, each.budget_left, each.next_replacement_seconds


def test_a_whole_workload():
    found = count()
    assert [(each.index, each.hosts, each.ready, each.missing, each.lost) for each in found.slices] == [
        (0, 4, 4, 0, 0),
        (1, 4, 4, 0, 0),
        (2, 4, 4, 0, 0),
    ]
    assert slice_2(found) == (4, 0, 0, 40, 10.0)
    assert found.head.pod == "train-pathways-head-0-0-aaaaa"
    assert [each.name for each in found.head.containers] == ["main", "pathways-rm", "pathways-proxy"]
    assert found.alarms == ()


def terminating(host=0, suffix="aaaaa"):
    return pod("worker", 2, host, deleted=DELETED, suffix=suffix)


LOSSES = [
    ("verified 0 A: the Job has not counted the lost pod yet", {"failed": 0}, [terminating()], 2.0, (3, 1, 1, 39, 8.0)),
    ("Kubernetes 1.37: counted, and the pod is gone", {"failed": 1}, [], 2.0, (3, 1, 1, 39, 10.0)),
    (
        "it is being counted: not twice",
        {"uncounted": ["uid-train-worker-2-0-aaaaa"]},
        [terminating()],
        2.0,
        (3, 1, 1, 39, 8.0),
    ),
    ("the wait is over", {"failed": 0}, [terminating()], 30.0, (3, 1, 1, 39, 0.0)),
    (
        "the replacement is there, pending",
        {"failed": 1},
        [pod("worker", 2, 0, phase="Pending", suffix="bbbbb")],
        0.0,
        (3, 0, 1, 39, 20.0),
    ),
    (
        "replaced, the old pod is on a dead node",
        {"failed": 1},
        [pod("worker", 2, 0, suffix="bbbbb"), pod("worker", 2, 0, deleted=DELETED, finalizer=False)],
        0.0,
        (4, 0, 1, 39, 20.0),
    ),
    ("the kubelet gave it up: Failed", {"failed": 0}, [pod("worker", 2, 0, phase="Failed")], 4.0, (3, 1, 1, 39, 6.0)),
    ("fifth loss", {"failed": 4}, [terminating()], 0.0, (3, 1, 5, 35, 160.0)),
    ("the budget is spent", {"failed": 39}, [terminating()], 0.0, (3, 1, 40, 0, 600.0)),
    ("beyond: never negative", {"failed": 60}, [], 0.0, (3, 1, 60, 0, 600.0)),
]


@pytest.mark.parametrize(
    ("state", "there", "after", "expected"), [case[1:] for case in LOSSES], ids=[case[0] for case in LOSSES]
)
def test_one_host_lost(state, there, after, expected):
    found = count(job_list=jobs(**state), pods=[*workers(but=[(2, 0)]), *there], after=after)
    assert slice_2(found) == expected
    assert found.slices[1].lost == 0


def test_a_whole_slice_lost_counts_all_its_hosts_at_once():
    gone = [terminating(host) for host in range(4)]
    found = count(pods=[*workers(but=[(2, host) for host in range(4)]), *gone], after=1.0)
    assert slice_2(found) == (0, 4, 4, 36, 79.0)
    assert found.slices[2].lost_since == START


def test_the_wait_runs_from_the_last_loss():
    gone = [terminating(0), pod("worker", 2, 1, deleted="2026-11-29T12:00:05Z")]
    found = count(pods=[*workers(but=[(2, 0), (2, 1)]), *gone], after=6.0)
    assert slice_2(found) == (2, 2, 2, 38, 19.0)
    assert found.slices[2].lost_since == START


def test_since_when_a_slice_is_short_where_the_lost_pod_is_gone():
    body = jobset(ready=(1, 2), conditions=[ONCE, condition("StartupPolicyInProgress", at="2026-11-29T12:00:03Z")])
    found = count(body, jobs(failed=1), workers(but=[(2, 0)]), after=5.0)
    assert found.slices[2].lost_since == START + timedelta(seconds=3)


def outage(at="2026-11-29T12:00:03Z"):
    return jobset(ready=(1, 2), conditions=[ONCE, condition("StartupPolicyInProgress", at=at)])


def test_the_wait_counts_down_also_where_the_lost_pod_is_gone():
    for after, left in ((5.0, 8.0), (13.0, 0.0), (60.0, 0.0)):
        assert slice_2(count(outage(), jobs(failed=1), workers(but=[(2, 0)]), after)) == (3, 1, 1, 39, left)


def test_the_outage_of_another_slice_shortens_no_wait():
    """Slice 1 is short since a minute, and nobody knows since when slice 2 is: it may have to wait all of its time."""
    short = [*workers(but=[(1, 0), (2, 0)]), pod("worker", 1, 0, phase="Pending", suffix="bbbbb")]
    found = count(outage(), jobs(failed=1), short, after=60.0)
    assert (slice_2(found), found.slices[2].lost_since) == ((3, 1, 1, 39, 10.0), None)
    counted = jobs(failed=1)
    counted[3]["metadata"]["managedFields"] = [{"time": "2026-11-29T12:00:58Z", "subresource": "status"}]
    found = count(outage(), counted, short, after=60.0)
    assert (slice_2(found), found.slices[2].lost_since) == ((3, 1, 1, 39, 8.0), START + timedelta(seconds=58))


def test_the_wait_runs_from_the_last_loss_that_was_counted_also_where_the_outage_began_with_another():
    counted = jobs(failed=2)
    counted[3]["metadata"]["managedFields"] = [{"time": "2026-11-29T12:00:10Z", "subresource": "status"}]
    found = count(outage(), counted, workers(but=[(2, 0), (2, 1)]), after=12.0)
    assert (slice_2(found), found.slices[2].lost_since) == ((2, 2, 2, 38, 18.0), START + timedelta(seconds=3))


def test_what_is_missing_was_lost_after_the_youngest_living_pod_was_made():
    young = pod("worker", 2, 1, suffix="bbbbb", created="2026-11-29T12:00:13Z")
    found = count(outage(), jobs(failed=2), [*workers(but=[(2, 0), (2, 1)]), young], after=20.0)
    assert found.slices[2].next_replacement_seconds == 13.0


def test_where_the_budget_is_spent_there_is_no_replacement_after_the_next_loss():
    assert slice_2(count(job_list=jobs(failed=40))) == (4, 0, 40, 0, None)
    assert slice_2(count(job_list=jobs(failed=39))) == (4, 0, 39, 1, 600.0)


def test_restarts_in_place_leave_the_replacement_of_lost_pods_as_it_is():
    spent = pod("worker", 2, 0, statuses=[status("pathways-worker", restarts=39)])
    assert slice_2(count(pods=[*workers(but=[(2, 0)]), spent])) == (4, 0, 0, 0, 10.0)


UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/5 nodes are available")


def test_what_keeps_head_and_slices_from_running():
    held = pod("worker", 1, 2, phase="Pending", conditions=[UNSCHEDULABLE])
    pull = pod("worker", 1, 0, phase="Pending", statuses=[status("pathways-worker", state=waiting("ImagePullBackOff"))])
    found = count(pods=[*workers(but=[(1, 0), (1, 2)]), held, pull])
    assert [each.waiting for each in found.slices] == [
        "",
        "pod train-worker-1-0-aaaaa, container pathways-worker: ImagePullBackOff",
        "",
    ]
    assert (found.head.waiting, found.waiting) == ("", found.slices[1].waiting)
    head = pod("pathways-head", phase="Pending", conditions=[UNSCHEDULABLE])
    found = ledger(jobset(), jobs(), [head, held], START)
    assert found.waiting == found.head.waiting
    assert found.waiting == "pod train-pathways-head-0-0-aaaaa is not scheduled: Unschedulable: 0/5 nodes are available"


def test_what_the_jobset_waits_for_where_there_is_no_head_yet():
    queued = jobset(ready=None, suspend=True, labels={"kueue.x-k8s.io/queue-name": "tpu"})
    assert ledger(queued, [], [], START).waiting == "it waits in queue tpu"
    assert ledger(ended("Failed", "X"), [], [], START).waiting == ""
    assert ledger(jobset(), None, None, START).waiting == ""


def test_at_the_first_start_hosts_are_awaited_not_missing():
    body = jobset(ready=(1, 0), conditions=[condition("StartupPolicyInProgress")])
    found = count(body, pods=[pod("worker", 0, 0, phase="Pending")])
    assert [(each.ready, each.missing, each.lost) for each in found.slices] == [(0, 0, 0)] * 3


@pytest.mark.parametrize(
    ("failed", "head", "phase"),
    [
        pytest.param({"failed": 4}, [], Phase.RUNNING, id="lost"),
        pytest.param({}, [], Phase.STARTING, id="not there yet"),
        pytest.param({"failed": 4}, None, Phase.STARTING, id="no head"),
    ],
)
def test_a_jobset_that_starts_in_any_order_has_run_where_it_has_lost(failed, head, phase):
    """It has no condition that remembers; one that starts in order is not guessed at."""
    pods = [*([head_pod()] if head is not None else []), *workers(but=[(2, host) for host in range(4)])]
    for conditions, expected in (([], phase), ([condition("StartupPolicyInProgress")], Phase.STARTING)):
        found = ledger(jobset(conditions=conditions, ready=(1, 2)), jobs(**failed), pods, START)
        assert found.workload.phase is expected


def test_pods_that_go_with_their_job_are_not_lost():
    for state in ({"deleted": True}, {"conditions": [condition("FailureTarget")]}):
        found = count(job_list=jobs(**state), pods=[*workers(but=[(2, 0)]), terminating()])
        assert (found.slices[2].missing, found.slices[2].lost) == (0, 0)


def test_a_suspended_job_loses_nothing():
    stopped = jobs()
    stopped[3]["spec"]["suspend"] = True
    found = count(jobset(suspend=True), stopped, [*workers(but=[(2, 0)]), terminating()])
    assert (found.slices[2].missing, found.slices[2].lost) == (0, 0)


def restarted(*counts):
    return pod("worker", 2, 0, statuses=[status("pathways-worker", restarts=each) for each in counts])


IN_PLACE = [
    ("restarts of all containers are summed", [restarted(2, 1)], 0, (3, 36)),
    ("losses and restarts are two tests, not one sum", [restarted(3)], 2, (3, 36)),
    ("the nearer one counts", [restarted(1)], 5, (1, 35)),
    ("the limit itself is one loss that is survived", [], 39, (0, 1)),
    ("and one restart that is not", [restarted(39)], 0, (39, 0)),
    ("as many restarts as the limit have failed the Job", [restarted(40)], 0, (40, 0)),
]


@pytest.mark.parametrize(
    ("there", "failed", "expected"), [case[1:] for case in IN_PLACE], ids=[case[0] for case in IN_PLACE]
)
def test_restarts_in_place(there, failed, expected):
    found = count(job_list=jobs(failed=failed), pods=[*workers(but=[(2, 0)]), *there])
    assert (found.slices[2].in_place_restarts, found.slices[2].budget_left) == expected


DONE = [
    ("its pod is there", [pod("worker", 2, 1, phase="Succeeded")], {}),
    ("its pod is gone, the Job has counted it", [], {"succeeded": 1, "completedIndexes": "1"}),
    ("both", [pod("worker", 2, 1, phase="Succeeded")], {"succeeded": 1, "completedIndexes": "1"}),
]


@pytest.mark.parametrize(("there", "told"), [case[1:] for case in DONE], ids=[case[0] for case in DONE])
def test_a_host_that_is_done_is_not_missing(there, told):
    found = count(job_list=jobs(**told), pods=[*workers(but=[(2, 1)]), *there])
    assert slice_2(found) == (3, 0, 0, 40, 10.0)
    assert [alarm.reason for alarm in found.alarms] == ["WorkerSucceeded"]


def test_a_slice_whose_hosts_are_all_done_loses_and_replaces_nothing_any_more():
    complete = jobs(succeeded=4, completedIndexes="0-3", conditions=[condition("Complete")])
    found = count(job_list=complete, pods=workers(but=[(2, host) for host in range(4)])).slices[2]
    assert (found.ready, found.missing, found.succeeded, found.losses) == (0, 0, 4, ())
    assert (found.budget_left, found.next_replacement_seconds) == (None, None)


def test_which_pods_are_lost_and_why():
    evicted = condition("DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")
    gone = pod("worker", 2, 0, deleted=DELETED, conditions=[evicted])
    found = count(outage(), pods=[*workers(but=[(2, 0), (2, 3)]), gone], job_list=jobs(failed=2), after=2.0)
    assert as_data(found)["slices"][2]["losses"] == [
        {
            "host": 0,
            "pod": "train-worker-2-0-aaaaa",
            "since": "2026-11-29T12:00:00Z",
            "why": "EvictionByEvictionAPI: Eviction API: evicting",
            "replaced": False,
        },
        {"host": 3, "pod": None, "since": "2026-11-29T12:00:03Z", "why": None, "replaced": False},
    ]
    assert found.slices[1].losses == ()


def test_a_limit_raised_on_the_job_counts():
    raised = jobs(failed=1)
    raised[3]["spec"]["backoffLimit"] = 99
    assert count(job_list=raised).slices[2].budget_left == 98


def test_slices_restarted_alone_share_the_jobsets_budget():
    body = jobset(conditions=[ONCE], restartsCountTowardsMax=1)
    body["spec"]["failurePolicy"]["rules"] = [
        {"name": "slice_only", "action": "RestartJob", "targetReplicatedJobs": ["worker"]},
        {"name": "rest", "action": "RestartJobSet"},
    ]
    body["status"]["replicatedJobsStatus"][1] |= {"jobRestarts": [0, 0, 1], "jobRestartsCountTowardsMax": [0, 0, 1]}
    found = count(body)
    assert [(each.job_restarts, each.budget_left, each.next_replacement_seconds) for each in found.slices] == [
        (0, 1, 3.0),
        (0, 1, 3.0),
        (1, 1, 3.0),
    ]


def test_a_rule_for_another_role_does_not_count():
    body = jobset(conditions=[ONCE])
    body["spec"]["failurePolicy"]["rules"] = [{"action": "RestartJob", "targetReplicatedJobs": ["pathways-head"]}]
    assert count(body).slices[2].next_replacement_seconds == 10.0


def test_who_may_not_see_pods_gets_the_jobs_word():
    found = ledger(jobset(conditions=[ONCE]), jobs(ready=3, failed=2), None, START)
    assert slice_2(found) == (3, None, 2, 38, 40.0)
    assert found.slices[2].in_place_restarts is None
    assert found.head is None


def test_who_may_not_see_jobs_gets_no_guess():
    found = ledger(jobset(conditions=[ONCE]), None, [head_pod(), *workers(but=[(2, 0)]), terminating()], START)
    assert slice_2(found) == (3, 1, None, None, None)


def test_who_may_see_the_jobset_only():
    found = ledger(jobset(conditions=[ONCE]), None, None, START)
    assert slice_2(found) == (None, None, None, None, None)
    assert found.workload.phase == "Running"


def test_after_the_end_there_is_no_next_wait():
    found = count(ended("Completed", "AllJobsCompleted"), [job("pathways-head")], [])
    assert slice_2(found) == (0, 0, 0, None, None)


def test_the_data_for_programs():
    proxy = status("pathways-proxy", restarts=1, last=terminated(137, "OOMKilled"))
    head = pod("pathways-head", statuses=[status()], init_statuses=[status("pathways-rm"), proxy])
    body = jobset(conditions=[ONCE], restarts=1, restartsCountTowardsMax=1)
    found = as_data(ledger(body, jobs(failed=1), [head, *workers(but=[(2, 0)])], START))
    assert (found["phase"], found["waiting"], found["head"]["waiting"]) == ("Running", None, None)
    assert found["jobset"] == {
        "uid": "uid-train",
        "restarts": 1,
        "restartsTowardMax": 1,
        "maxRestarts": 3,
        "jobRestarts": 0,
    }
    assert found["head"]["containers"][2] == {
        "name": "pathways-proxy",
        "sidecar": True,
        "state": "running",
        "reason": None,
        "message": None,
        "ready": True,
        "restartCount": 1,
        "exit": None,
        "lastExit": {
            "code": 137,
            "signal": "SIGKILL",
            "reason": "OOMKilled",
            "finished": "2026-11-29T12:00:00Z",
            "message": None,
        },
    }
    assert found["slices"][2] == {
        "replicatedJob": "worker",
        "index": 2,
        "hosts": 4,
        "ready": 3,
        "missing": 1,
        "lost": 1,
        "lostSince": None,
        "inPlaceRestarts": 0,
        "jobRestarts": 0,
        "budgetLeft": 39,
        "nextReplacementSeconds": 10.0,
        "waiting": None,
        "succeeded": 0,
        "losses": [{"host": 0, "pod": None, "since": None, "why": None, "replaced": False}],
    }


def test_the_counters_in_one_line():
    proxy = status("pathways-proxy", restarts=1, last=terminated(137, "OOMKilled"))
    head = pod("pathways-head", statuses=[status()], init_statuses=[status("pathways-rm"), proxy])
    line = restart_counters(ledger(jobset(conditions=[ONCE]), jobs(failed=2), [head, *workers()], START))
    assert line == (
        "Restarts: JobSet 0 of 3; main 0; pathways-rm 0; pathways-proxy 1 (last: OOMKilled, exit 137 (SIGKILL)); "
        "slice 2: 2 pods lost, 0 in place"
    )


def test_a_single_lost_pod_is_one_pod():
    line = restart_counters(ledger(jobset(conditions=[ONCE]), jobs(failed=1), [head_pod(), *workers()], START))
    assert line.endswith("; slice 2: 1 pod lost, 0 in place")


def test_pods_that_go_with_their_job_are_no_losses():
    """While JobSet restarts the whole its Jobs are deleted, and each counts its own pods as failed at last."""
    going = [job("pathways-head"), *(job("worker", index, failed=4, deleted=True) for index in range(3))]
    body = jobset(conditions=[condition("RestartingJobSet")], ready=(0, 0))
    pods = [pod("worker", index, host, deleted=DELETED) for index in range(3) for host in range(2)]
    for each in ledger(body, going, pods, START).slices:
        assert (each.lost, each.missing, each.losses, each.next_replacement_seconds) == (0, 0, (), 10.0)


def not_indexed(phases):
    found = [pod("worker", 2, host, phase=phase) for host, phase in enumerate(phases)]
    for each in found:
        del each["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
    return found


@pytest.mark.parametrize(
    ("phases", "ready", "missing", "succeeded"),
    [
        (["Running"] * 4, 4, 0, 0),
        (["Running"] * 3, 3, 1, 0),
        (["Running", "Running", "Succeeded", "Running"], 3, 0, 1),
        (["Succeeded"] * 4, 0, 0, 4),
        ([], 0, 4, 0),
    ],
)
def test_hosts_of_a_job_that_is_not_indexed_are_counted(phases, ready, missing, succeeded):
    found = ledger(jobset(conditions=[ONCE]), jobs(), [head_pod(), *not_indexed(phases)], START).slices[2]
    assert (found.ready, found.missing, found.succeeded) == (ready, missing, succeeded)


def test_the_newest_head_pod_is_shown():
    old = head_pod(deleted=DELETED)
    new = pod("pathways-head", suffix="bbbbb", created="2026-11-29T12:01:00Z", statuses=[status(state=running())])
    assert ledger(jobset(), jobs(), [new, old], START).head.pod == "train-pathways-head-0-0-bbbbb"
