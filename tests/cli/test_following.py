"""`logs`, `status` and `wait` as a user runs them, over one fake workload."""

import io
import json

import pytest
from fakes.objects import CREATED, condition, ended, job, jobset, on_silent_node, pod, status, terminated

from xlaunch.cli.boundary import Terminated
from xlaunch.cli.boundary import run as main
from xlaunch.cli.session import Session

ONCE = condition("StartupPolicyCompleted", "False")
STARTING = jobset(ready=(1, 0), conditions=[condition("StartupPolicyInProgress")])
RUNNING = jobset(conditions=[condition("StartupPolicyCompleted")])
FAILED = ended("Failed", "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
ANOTHER = {**RUNNING, "metadata": {**RUNNING["metadata"], "uid": "uid-of-another"}}
POD = "train-pathways-head-0-0-aaaaa"


def lives(train, *moments, word="Completed", code=0):
    """Its head writes a line at each moment, ends with the code, and the JobSet follows."""
    train.start_pod("aaaaa")
    for moment in moments:
        train.at(moment, train.write, b"completed step: %d, loss: 1" % moment)
    last = max(moments, default=0) + 1
    train.at(last, train.end, code)
    train.at(last + 1, train.finish, word, "AllJobsCompleted" if word == "Completed" else "ReachedMaxRestarts")


# ---- logs


def test_logs_prints_bytes_and_counters_and_ends_with_0(train):
    train.start_pod("aaaaa")
    train.at(1, train.write, b"[/] \xff 1%\r2%", b"[bold]x[/bold]")
    train.at(2, train.end)
    train.at(3, train.finish)
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    assert main(["logs", "train"], Session(stdout=out, stderr=err, clock=train.clock)) == 0
    assert out.buffer.getvalue() == b"[/] \xff 1%\r2%\n[bold]x[/bold]\n"
    assert err.getvalue().splitlines() == [
        f"Following main in pod {POD}",
        "Restarts: JobSet 0 of 3; main 0; pathways-rm 0; pathways-proxy 0",
        "train has completed.",
    ]


class ClosedPipe(io.BytesIO):
    def write(self, data):
        raise BrokenPipeError


def test_a_reader_that_has_gone_is_a_quiet_end(train):
    lives(train, 1)
    out, err = io.TextIOWrapper(ClosedPipe()), io.StringIO()
    assert main(["logs", "train"], Session(stdout=out, stderr=err, clock=train.clock)) == 0
    assert err.getvalue() == f"Following main in pod {POD}\n"


@pytest.mark.parametrize(("flags", "code"), [([], 10), (["--exit-zero"], 0), (["--no-follow"], 0)])
def test_logs_of_a_failed_workload(run, train, flags, code):
    train.start_pod("aaaaa")
    train.write(b"Traceback")
    train.end(1)
    train.jobset = FAILED
    outcome = run("logs", "train", *flags)
    assert (outcome.code, outcome.stdout) == (code, "Traceback\n")
    if "--no-follow" not in flags:
        assert "train has failed (ReachedMaxRestarts). jobset failed due to" in outcome.stderr
        assert outcome.stderr.endswith("Next: xlaunch status train --context=dev\n")


def test_logs_stops_at_its_timeout(run, train):
    train.start_pod("aaaaa")
    train.write(b"a")
    outcome = run("logs", "train", "--timeout", "1m30s")
    assert (outcome.code, outcome.stdout) == (124, "a\n")
    assert outcome.stderr.splitlines()[-2:] == [
        "The time given with --timeout is over; train is Running.",
        "Next: xlaunch logs train --context=dev",
    ]
    assert train.clock.seconds == pytest.approx(90, abs=1)


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_ctrl_c_says_how_to_go_on(run, train, stop, code):
    train.start_pod("aaaaa")
    train.write(b"a")
    train.at(5, lambda: (_ for _ in ()).throw(stop()))
    outcome = run("logs", "train")
    assert (outcome.code, outcome.stdout) == (code, "a\n")
    assert outcome.stderr.endswith("train keeps running. Go on with: xlaunch logs train --context=dev\n")


AGAIN = [
    (["logs", "train", "-c", "pathways-rm", "--timestamps"], "logs train --container=pathways-rm --timestamps"),
    (["status", "train", "--watch", "--exit-code"], "status train --watch --exit-code"),
    (["wait", "train", "--log-pattern", "a b"], "wait train --log-pattern 'a b'"),
]


@pytest.mark.parametrize(("line", "words"), AGAIN)
def test_the_command_to_go_on_does_the_same(run, train, line, words):
    train.start_pod("aaaaa")
    train.jobset = RUNNING
    train.at(5, lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    assert run(*line).stderr.splitlines()[-1].endswith(f"Go on with: xlaunch {words} --context=dev")


def test_the_command_after_a_timeout_follows_the_same_container(run, train):
    train.start_pod("aaaaa")
    outcome = run("logs", "train", "--timeout", "9", "-c", "pathways-rm")
    assert outcome.stderr.endswith("Next: xlaunch logs train --container=pathways-rm --context=dev\n")


def test_a_workload_that_is_not_there(run, train):
    train.jobset = None
    for command in ("logs", "status", "wait"):
        outcome = run(command, "train")
        assert (outcome.code, outcome.stdout) == (3, "")
        assert outcome.stderr == (
            "Error: There is no workload train in namespace default.\nNext: xlaunch workload list --context=dev\n"
        )


@pytest.mark.parametrize(
    ("flags", "query"),
    [
        (["--tail", "7"], {"tailLines": "7"}),
        (["--since", "1h"], {"sinceSeconds": "3600"}),
        (["--since", "0.2s"], {"sinceSeconds": "1"}),
        (["-c", "pathways-proxy"], {"container": "pathways-proxy"}),
        (["--no-follow"], {"follow": None}),
        (["-f"], {"follow": "true"}),
    ],
)
def test_flags_of_logs_reach_the_kubelet(run, train, flags, query):
    lives(train, 1)
    train.pods[train.newest()]["status"]["initContainerStatuses"] = [status("pathways-proxy", state=terminated(0))]
    assert run("logs", "train", *flags).code == 0
    assert {key: train.opened[0].get(key) for key in query} == query


@pytest.mark.parametrize("flags", [["--since", "yesterday"], ["--since", "0"], ["--timeout", "x"], ["--tail", "-2"]])
def test_flags_of_logs_that_mean_nothing(run, flags):
    assert run("logs", "train", *flags).code == 2


# ---- status


def test_status_for_people(run, train, golden):
    train.jobset = jobset(conditions=[ONCE], restarts=1, restartsCountTowardsMax=1)
    proxy = status("pathways-proxy", restarts=1, last=terminated(137, "OOMKilled"))
    head = pod("pathways-head", statuses=[status()], init_statuses=[status("pathways-rm"), proxy])
    train.pods = {"p": head}
    train.workers = [each for each in train.workers if not each["metadata"]["name"].startswith("train-worker-2-0")]
    train.workers.append(pod("worker", 2, 0, deleted="2026-11-29T12:00:00Z"))
    train.jobs[2] = job("worker", 1, failed=3, succeeded=1)
    train.clock.seconds = 2.0
    outcome = run("status", "train")
    assert outcome.code == 0
    golden("status.txt", outcome.stdout)
    assert max(len(line) for line in outcome.stdout.splitlines() if not line.startswith(("!", "  Next"))) <= 80


def test_status_for_programs(run, train):
    train.start_pod("aaaaa")
    found = json.loads(run("status", "train", "-o", "json").stdout)
    assert (found["kind"], found["metadata"]) == ("Status", {"name": "train", "namespace": "default"})
    assert (found["phase"], found["jobset"]["restarts"], found["jobset"]["maxRestarts"]) == ("Running", 0, 3)
    assert [each["name"] for each in found["head"]["containers"]] == ["main", "pathways-rm", "pathways-proxy"]
    assert [(each["index"], each["hosts"], each["ready"]) for each in found["slices"]] == [
        (0, 4, 4),
        (1, 4, 4),
        (2, 4, 4),
    ]
    assert found["forbidden"] == []


@pytest.mark.parametrize(
    ("forbidden", "sentence"),
    [("pods", "Pods may not be listed: counts come from the Jobs"), ("jobs", "Jobs may not be listed")],
)
def test_who_may_see_less_gets_the_rest_and_is_told(run, train, forbidden, sentence):
    train.forbidden = {forbidden}
    outcome = run("status", "train")
    assert outcome.code == 0
    assert sentence in outcome.stdout
    assert "SLICE" in outcome.stdout
    assert json.loads(run("status", "train", "-o", "json").stdout)["forbidden"] == [forbidden]


@pytest.mark.parametrize(
    ("body", "flags", "code"), [(FAILED, ["--exit-code"], 10), (FAILED, [], 0), (RUNNING, ["--exit-code"], 0)]
)
def test_status_exit_code(run, train, body, flags, code):
    train.jobset = body
    assert run("status", "train", *flags).code == code


def big(train, slices, hosts=2):
    """The workload with many slices."""
    body = jobset(conditions=[ONCE])
    body["spec"]["replicatedJobs"][1]["replicas"] = slices
    spec = body["spec"]["replicatedJobs"][1]["template"]["spec"]
    spec["completions"] = spec["parallelism"] = hosts
    train.jobset = body
    train.jobs = [job("pathways-head"), *(job("worker", index) for index in range(slices))]
    train.workers = [pod("worker", s, h) for s in range(slices) for h in range(hosts)]


def test_many_like_slices_share_a_row(run, train):
    big(train, 40)
    train.workers.pop(2 * 20)
    rows = [line.split() for line in run("status", "train").stdout.splitlines() if "/2 " in line]
    assert [row[:2] for row in rows] == [["0-19", "2/2"], ["20", "1/2"], ["21-39", "2/2"]]


def test_status_watch_off_a_terminal_is_a_line_for_each_change(run, train):
    train.start_pod("aaaaa")
    train.jobset = RUNNING
    lost = train.workers[8]
    train.at(11, train.workers.remove, lost)
    train.at(31, train.workers.append, pod("worker", 2, 0, suffix="bbbbb"))
    train.at(50, train.end)
    train.at(51, train.finish)
    outcome = run("status", "train", "--watch")
    lines = [line.partition(" ")[2] for line in outcome.stdout.splitlines()]
    restarts = "restarts: JobSet 0/3, main 0, pathways-rm 0, pathways-proxy 0"
    assert lines == [
        f"Running; {restarts}; 3 of 3 slices ready",
        f"Running; {restarts}; 2 of 3 slices ready; slice 2: 3/4, 0 lost, next wait 0s (1 missing)",
        f"Running; {restarts}; 3 of 3 slices ready",
        f"Completed; {restarts}",
    ]


def test_status_watch_off_a_terminal_tells_of_restarts_in_place(run, train):
    lives(train, 5)
    restarted = pod("worker", 2, 0, statuses=[status("pathways-worker", restarts=2)])
    train.at(2, train.workers.__setitem__, 8, restarted)
    lines = run("status", "train", "--watch").stdout.splitlines()
    assert lines[1].endswith("3 of 3 slices ready; slice 2: 4/4, 0 lost, 2 in place, next wait 10s")


@pytest.mark.parametrize("flags", [[], ["-o", "json"]])
def test_status_watch_off_a_terminal_tells_an_alarm_once_though_it_says_for_how_long(run, train, flags):
    lives(train, 30)
    stuck = pod("worker", 2, 0, deleted=CREATED)
    train.workers[8] = on_silent_node(stuck, "tpu-2-0")
    train.jobs[3] = job("worker", 2, conditions=[condition("FailureTarget")])
    told = run("status", "train", "--watch", *flags).stdout
    assert told.count("node tpu-2-0 has not answered for ") == 1


def test_status_watch_off_a_terminal_tells_the_next_alarm(run, train):
    lives(train, 30)
    train.workers[8] = on_silent_node(pod("worker", 2, 0, deleted=CREATED), "tpu-2-0")
    train.workers[9] = pod("worker", 2, 1)
    train.jobs[3] = job("worker", 2, conditions=[condition("FailureTarget")])
    train.at(15, train.workers.__setitem__, 8, pod("worker", 2, 0))
    train.at(15, train.workers.__setitem__, 9, on_silent_node(pod("worker", 2, 1, deleted=CREATED), "tpu-2-1"))
    told = run("status", "train", "--watch").stdout
    assert [told.count(f"node tpu-2-{host} has not answered for ") for host in range(2)] == [1, 1]


def test_status_watch_on_a_terminal_draws_one_screen_and_leaves_the_last(run, train):
    lives(train, 5)
    outcome = run("status", "train", "--watch", tty=True)
    assert outcome.stdout.startswith("\x1b[?1049h\x1b[H\x1b[Jtrain   Running")
    final = outcome.stdout.partition("\x1b[?1049l")[2]
    assert final.startswith("train   Completed")


def test_ctrl_c_leaves_the_last_screen(run, train):
    train.start_pod("aaaaa")
    train.jobset = RUNNING
    train.at(5, lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    outcome = run("status", "train", "--watch", tty=True)
    assert outcome.code == 130
    assert outcome.stdout.partition("\x1b[?1049l")[2].startswith("train   Running")


def test_status_watch_for_programs_is_a_document_for_each_change(run, train):
    lives(train, 5)
    text = run("status", "train", "--watch", "-o", "json", "--exit-code").stdout
    decoder, found = json.JSONDecoder(), []
    while text.strip():
        body, end = decoder.raw_decode(text.lstrip())
        found.append(body["phase"])
        text = text.lstrip()[end:]
    assert (found[0], found[-1]) == ("Running", "Completed")


@pytest.mark.parametrize("then", [None, ANOTHER], ids=["gone", "made anew under its name"])
@pytest.mark.parametrize("flags", [["--exit-code"], []])
def test_status_watch_ends_when_its_workload_is_deleted(run, train, then, flags):
    train.start_pod("aaaaa")
    train.jobset = RUNNING
    train.at(5, setattr, train, "jobset", then)
    outcome = run("status", "train", "--watch", *flags)
    assert outcome.stdout.count("Running") == 1
    assert (outcome.stderr, outcome.code) == ("train was deleted.\n", 10 if flags else 0)


def test_status_watch_of_nothing_is_not_found(run, train):
    train.jobset = None
    assert run("status", "train", "--watch").code == 3


def test_status_watch_survives_an_api_server_that_is_away(run, train):
    lives(train, 30)
    train.at(10, setattr, train, "down", True)
    train.at(20, setattr, train, "down", False)
    outcome = run("status", "train", "--watch")
    assert outcome.code == 0
    assert "Not yet: Cannot reach it" in outcome.stderr


# ---- wait

WAITS = [
    ("done, completed", [], [(5, ended("Completed", "AllJobsCompleted"))], 0, "Completed", "AllJobsCompleted"),
    ("done, failed", [], [(5, FAILED)], 10, "Failed", "ReachedMaxRestarts"),
    ("done, deleted", [], [(5, None)], 10, "Deleted", "Deleted"),
    ("done, being deleted", [], [(5, jobset(deleting=True))], 10, "Deleting", "Deleting"),
    ("running", ["--for=running"], [(5, RUNNING)], 0, "Running", "Running"),
    ("running, failed before", ["--for=running"], [(5, FAILED)], 10, "Failed", "ReachedMaxRestarts"),
    ("running, completed unseen", ["--for", "running"], [(5, ended("Completed"))], 10, "Completed", "Completed"),
    ("deleted", ["--for=deleted"], [(5, RUNNING), (9, None)], 0, "Deleted", "Deleted"),
    ("the time is over", ["--timeout", "20"], [(5, RUNNING)], 124, "Timeout", "Running"),
    ("in time", ["--timeout", "20s"], [(19, FAILED)], 10, "Failed", "ReachedMaxRestarts"),
    ("replaced by another", [], [(5, ANOTHER)], 10, "Deleted", "Deleted"),
]


@pytest.mark.parametrize(
    ("flags", "states", "code", "result", "reason"), [case[1:] for case in WAITS], ids=[case[0] for case in WAITS]
)
def test_wait(run, train, flags, states, code, result, reason):
    train.jobset = STARTING
    for seconds, body in states:
        train.becomes(seconds, body)
    outcome = run("wait", "train", "-o", "json", *flags)
    found = json.loads(outcome.stdout)
    assert (outcome.code, found["kind"], found["result"], found["reason"]) == (code, "Wait", result, reason)


@pytest.mark.parametrize(("word", "exit_code", "code"), [("Completed", 0, 0), ("Failed", 137, 10)])
def test_wait_carries_the_main_containers_exit_code(run, train, word, exit_code, code):
    lives(train, 3, word=word, code=exit_code)
    outcome = run("wait", "train", "-o", "json")
    assert (outcome.code, json.loads(outcome.stdout)["exitCode"]) == (code, exit_code)


def test_wait_for_people_is_a_sentence(run, train):
    train.jobset = FAILED
    outcome = run("wait", "train")
    assert outcome.stdout == (
        "train: Failed (ReachedMaxRestarts). jobset failed due to reaching max number of restarts.\n"
        "Next: xlaunch logs train --context=dev\n"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["wait", "train"], "Next: xlaunch logs train --context=dev"),
        (["wait", "train", "--log-pattern", "never"], "Next: xlaunch logs train --context=dev"),
        (["logs", "train"], "Next: xlaunch status train --context=dev"),
    ],
)
def test_the_end_of_a_failed_run_says_how_main_ended_and_where_to_look(run, train, line, told):
    train.start_pod("aaaaa")
    train.at(1, train.end, 3)
    train.at(2, train.finish, "Failed", "ReachedMaxRestarts")
    outcome = run(*line)
    assert (outcome.stderr + outcome.stdout).splitlines()[-2:] == ["main ended with exit code 3.", told]


NOT_STARTED = terminated(128, "StartError", message='exec: "a b": executable file not found in $PATH')
NOT_FOUND = 'main ended with exit code 128 (StartError): exec: "a b": executable file not found in $PATH'


@pytest.mark.parametrize("line", [["wait", "train"], ["logs", "train"], ["status", "train"]])
def test_a_command_that_cannot_start_is_told_by_all(run, train, line):
    train.jobset = FAILED
    head = train.pods[train.start_pod("aaaaa")]
    train.end(128)
    head["status"]["containerStatuses"] = [status(state=NOT_STARTED)]
    outcome = run(*line)
    assert NOT_FOUND in outcome.stdout + outcome.stderr


def test_wait_deleted_for_what_is_not_there(run, train):
    train.jobset = None
    outcome = run("wait", "train", "--for=deleted")
    assert (outcome.code, outcome.stdout) == (0, "There is no workload train in namespace default.\n")
    found = json.loads(run("wait", "train", "--for=deleted", "-o", "json").stdout)
    assert (found["result"], found["reason"]) == ("Deleted", "NotFound")


UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/5 nodes are available")
WHY = "train is Starting: pod train-worker-0-0-aaaaa is not scheduled: Unschedulable: 0/5 nodes are available"


def test_wait_says_what_keeps_it_from_running(run, train):
    train.jobset = STARTING
    train.workers = [pod("worker", 0, 0, phase="Pending", conditions=[UNSCHEDULABLE])]
    outcome = run("wait", "train", "--timeout", "30s")
    assert (outcome.code, outcome.stderr) == (124, f"Waiting: {WHY}\n")
    assert outcome.stdout == f"The time given with --timeout is over: {WHY}.\n"


def test_wait_looks_at_costly_pods_sparingly(run, train, monkeypatch):
    """A large JobSet changes all the time while it starts, and a look at its pods takes seconds."""
    train.jobset = STARTING
    for second in range(1, 240):
        train.becomes(second, {**STARTING})
    train.becomes(240, RUNNING)
    answer = train.request

    def request(method, path, **rest):
        if path.endswith("/pods"):
            train.clock.sleep(4)
        return answer(method, path, **rest)

    monkeypatch.setattr(train, "request", request)
    outcome = run("wait", "train", "--for=running", "-o", "json")
    assert json.loads(outcome.stdout)["result"] == "Running"
    assert 8 <= train.asked.count("pods") <= 12


def test_wait_says_nothing_of_a_workload_that_it_has_no_contact_to(run, train):
    train.start_pod("aaaaa")
    train.jobset = RUNNING
    train.at(30, setattr, train, "down", True)
    outcome = run("wait", "train", "--timeout", "10m")
    assert outcome.stderr.splitlines() == ["Waiting: train is Running"]


def test_wait_tells_why_once_a_minute_off_a_terminal(run, train):
    train.jobset = STARTING
    outcome = run("wait", "train", "--timeout", "200s")
    lines = outcome.stderr.splitlines()
    assert lines == ["Waiting: train is Starting"] * len(lines)
    assert 3 <= len(lines) <= 5


def test_wait_for_a_line(run, train):
    lives(train, *range(1, 10))
    outcome = run("wait", "train", "--log-pattern", r"step: [5-9],", "-o", "json")
    found = json.loads(outcome.stdout)
    assert (outcome.code, found["result"], found["line"]) == (0, "Matched", "completed step: 5, loss: 1")
    assert train.clock.seconds < 6


def test_wait_for_a_line_that_never_comes(run, train):
    lives(train, 1, 2, word="Failed", code=3)
    outcome = run("wait", "train", "--log-pattern", "step: 99", "-o", "json")
    found = json.loads(outcome.stdout)
    assert (outcome.code, found["result"], found["exitCode"]) == (10, "Failed", 3)


def test_wait_for_a_line_has_a_timeout(run, train):
    train.start_pod("aaaaa")
    outcome = run("wait", "train", "--log-pattern", "x", "--timeout", "10", "-o", "json")
    assert (outcome.code, json.loads(outcome.stdout)["result"]) == (124, "Timeout")


@pytest.mark.parametrize(
    "flags", [["--for=soon"], ["--log-pattern", "("], ["--for=done", "--log-pattern", "x"], ["--timeout", "-1"]]
)
def test_flags_of_wait_that_mean_nothing(run, flags):
    assert run("wait", "train", *flags).code == 2


def test_ctrl_c_while_waiting(run, train):
    train.at(5, lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    outcome = run("wait", "train", "--for=deleted")
    assert outcome.code == 130
    assert outcome.stderr.endswith("Go on with: xlaunch wait train --for=deleted --context=dev\n")
