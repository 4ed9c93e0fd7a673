"""What people see of a ledger: only what is true and still matters."""

from dataclasses import replace

import pytest
from fakes.clock import START
from fakes.objects import condition, ended, job, jobset, on_silent_node, pod, status, terminated, waiting

from xlaunch.cli.output import text_of
from xlaunch.cli.status_view import change_line, headline, parts
from xlaunch.core.ledger import ledger

UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/5 nodes are available")
RUNNING = jobset(conditions=[condition("StartupPolicyCompleted")])
WORKERS = [pod("worker", s, h) for s in range(3) for h in range(4)]


def jobs(**of_slice_2):
    return [job("pathways-head"), job("worker", 0), job("worker", 1), job("worker", 2, **of_slice_2)]


def seen(body=RUNNING, job_list=None, pods=WORKERS):
    return ledger(body, jobs() if job_list is None else job_list, pods, START)


def shown(*given):
    return "".join(map(text_of, parts(seen(*given)))).splitlines()


def sized(slices, hosts):
    body = jobset()
    worker = body["spec"]["replicatedJobs"][1]
    worker["replicas"] = slices
    worker["template"]["spec"]["completions"] = hosts
    return body


@pytest.mark.parametrize(
    ("slices", "hosts", "size"), [(2, 1, "2 slices x 1 host"), (1, 4, "1 slice x 4 hosts"), (1, 1, "1 slice x 1 host")]
)
def test_one_is_singular(slices, hosts, size):
    assert f"   {size}   " in headline(seen(sized(slices, hosts)))


def test_the_reasons_of_head_and_slices_stand_below():
    head = pod("pathways-head", statuses=[status(state=waiting("CreateContainerError", "no such image"))])
    held = [pod("worker", s, 1, phase="Pending", conditions=[UNSCHEDULABLE]) for s in range(3)]
    lines = shown(RUNNING, None, [head, *held])
    assert lines[-4:] == [
        "Waiting: pod train-pathways-head-0-0-aaaaa, container main: CreateContainerError: no such image",
        *(
            f"Waiting: pod train-worker-{s}-1-aaaaa is not scheduled: Unschedulable: 0/5 nodes are available"
            for s in range(3)
        ),
    ]
    assert lines[-5] == ""
    assert "; waiting: pod train-pathways-head-0-0-aaaaa, container main: Create" in change_line(
        seen(RUNNING, None, [head, *held])
    )


def test_why_pods_are_not_created_is_said_once():
    """Below the slices or, where it is the head that lacks its pod, in the head's place."""
    refusal = "Job train-worker-1 lacks pods: FailedCreate: no"
    starting = jobset(ready=(1, 1))
    found = replace(seen(starting, None, [pod("pathways-head"), *WORKERS[:4]]), waiting=refusal)
    assert "".join(map(text_of, parts(found))).splitlines()[-2:] == ["", f"Waiting: {refusal}"]
    headless = replace(seen(jobset(ready=(0, 0)), None, []), waiting=f"its pod has not been created yet: {refusal}")
    lines = "".join(map(text_of, parts(headless))).splitlines()
    assert [line for line in lines if refusal in line] == [f"Head: its pod has not been created yet: {refusal}"]


EVICTED = condition("DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")


def lost(host, **more):
    return pod("worker", 2, host, deleted="2026-11-29T12:00:00Z", **more)


def test_lost_hosts_since_when_and_why():
    others = [each for each in WORKERS if "worker-2-1-" not in each["metadata"]["name"]]
    pods = [*others, lost(1, conditions=[EVICTED]), lost(3, suffix="zzzzz")]
    why = "pod train-worker-2-1-aaaaa: EvictionByEvictionAPI: Eviction API: evicting"
    assert shown(RUNNING, None, pods)[-2:] == [
        f"Lost at 2026-11-29T12:00:00Z from slice 2: {why}",
        "Lost at 2026-11-29T12:00:00Z from slice 2: pod train-worker-2-3-zzzzz: deleted (replaced, and still going)",
    ]
    assert f"next wait 20s (1 missing), {why}" in change_line(seen(RUNNING, None, pods))


def test_lost_hosts_of_whom_nothing_is_known_and_many_of_them():
    lines = [f"Lost from slice 2: host {h}, whose pod is gone" for h in range(4)]
    assert shown(RUNNING, jobs(failed=4), WORKERS[:8])[-5:] == ["", *lines]
    assert shown(RUNNING, None, WORKERS[:4])[-2:] == [
        "Lost from slice 1: host 3, whose pod is gone",
        "and 4 hosts more",
    ]


def test_hosts_that_are_done_are_never_replaced():
    done = jobs(succeeded=4, completedIndexes="0-3", conditions=[condition("Complete")])
    assert shown(RUNNING, done, WORKERS[:8])[-4].split("   ")[-1].strip() == "never replaced"


def test_many_reasons_are_counted():
    held = [pod("worker", s, 1, phase="Pending", conditions=[UNSCHEDULABLE]) for s in range(6)]
    lines = shown(sized(6, 4), [job("worker", 0)], held)
    assert [line[:8] for line in lines].count("Waiting:") == 4
    assert lines[-1] == "and 2 slices more"


def test_a_message_stands_under_the_containers():
    ending = terminated(128, "StartError", message="not found")
    lines = shown(
        RUNNING, None, [pod("pathways-head", statuses=[status(state=waiting("CrashLoopBackOff"), last=ending)])]
    )
    assert "main ended with exit code 128 (StartError): not found" in lines


def test_sidecars_of_a_completed_workload_are_stopped():
    sidecars = [status(name, state=terminated(143)) for name in ("pathways-rm", "pathways-proxy")]
    head = pod("pathways-head", phase="Succeeded", statuses=[status(state=terminated(0))], init_statuses=sidecars)
    states = {
        line.split()[0]: line.split()[1:3] for line in shown(ended("Completed"), [], [head]) if "pathways-" in line
    }
    assert (states["pathways-rm"], states["pathways-proxy"]) == (["stopped", "0"], ["stopped", "0"])
    failed = shown(ended("Failed"), [], [head])
    assert any(line.split()[:3] == ["pathways-rm", "Error", "143"] for line in failed)


def test_slices_of_an_ended_workload_have_no_more_numbers():
    rows = [line.split() for line in shown(ended("Failed"), jobs(failed=3), []) if line[:1] in "012" and line]
    assert rows == [["0", *"-----"], ["1", *"-----"], ["2", "-", "3", "0", "-", "-"]]


def test_a_node_that_does_not_answer():
    """The host is missing, named once as lost and once with what becomes of its pod; a change line has both."""
    forever = [on_silent_node(pod("worker", 2, 1), "tpu-2-1", seconds=None)]
    pods = [each for each in WORKERS if each["metadata"]["name"] != "train-worker-2-1-aaaaa"] + forever
    lines = shown(RUNNING, jobs(), pods)
    assert next(line for line in lines if line.startswith("2 ")).endswith("   40            ? (1 missing)")
    pod_name, since = "pod train-worker-2-1-aaaaa", "2026-11-29T12:00:00Z"
    lost = f"Lost at {since} from slice 2: {pod_name}: node tpu-2-1 does not answer"
    waits = f"{pod_name} is on node tpu-2-1, which has not answered since {since}; Kubernetes never evicts it"
    assert lines[-3:] == [lost, "", f"Waiting: {waits}"]
    told = change_line(seen(RUNNING, jobs(), pods))
    assert f"next wait ? (1 missing), {pod_name}: node tpu-2-1 does not answer; waiting: {waits}" in told


def test_a_spent_budget_has_no_next_wait():
    row = next(line for line in shown(RUNNING, jobs(failed=40)) if line.startswith("2 "))
    assert row.endswith("   0             the Job fails")


def test_slices_that_were_restarted_alone_are_shown_with_the_budget_that_they_share():
    body = jobset(conditions=[condition("StartupPolicyCompleted")])
    body["spec"]["failurePolicy"] |= {"maxRestarts": 9, "rules": [{"name": "s", "action": "RestartJob"}]}
    counts = {"jobRestarts": [0, 5, 1], "jobRestartsCountTowardsMax": [0, 5, 1]}
    body["status"]["replicatedJobsStatus"][1] |= counts
    lines = shown(body)
    assert lines[0].endswith("JobSet restarts 0, slices 6 (6 of 9)")
    head = lines.index("SLICE   READY   LOST   IN PLACE   RESTARTS   BUDGET LEFT   NEXT WAIT, AT MOST")
    assert [line.split()[:6] for line in lines[head + 1 : head + 4]] == [
        ["0", "4/4", "0", "0", "0", "3"],
        ["1", "4/4", "0", "0", "5", "3"],
        ["2", "4/4", "0", "0", "1", "3"],
    ]
    assert change_line(seen(body)).startswith("Running; restarts: JobSet 0, slices 6 (6 of 9)")


def test_many_slices_fit_a_terminal_of_80_columns_and_a_line_of_changes():
    """512 slices of 12 hosts, each with another number of restarts, and hosts missing for long."""
    body = sized(512, 12)
    body["status"]["conditions"] = [condition("StartupPolicyCompleted")]
    counts = [100 + index for index in range(512)]
    body["status"]["replicatedJobsStatus"][1] |= {"ready": 512, "jobRestarts": counts}
    body["spec"]["failurePolicy"] |= {"maxRestarts": 99999, "rules": [{"name": "s", "action": "RestartJob"}]}
    given = (body, [job("pathways-head"), job("worker", 0)], [pod("worker", 0, 0)])
    rows = [line for line in shown(*given) if line[:1].isdigit() or line.startswith("SLICE")]
    assert len(rows) == 513
    assert max(map(len, rows)) <= 80
    told = change_line(seen(*given))
    assert told.count(" lost") == 16
    assert "; and 496 slices more" in told
