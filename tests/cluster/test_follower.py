"""The log follower against a kubelet that cuts, stalls, rotates, restarts and replaces."""

import pytest
from fakes.api import status_error
from fakes.kubelet import FakeKubelet, Faults
from fakes.objects import condition, jobset, pod, status, waiting
from hypothesis import given, settings
from hypothesis import strategies as st

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.follower import Follower, Wanted
from xlaunch.cluster.logstream import Start
from xlaunch.core.errors import NetworkError, UsageError
from xlaunch.core.lognews import CloudLogs
from xlaunch.core.narration import Narration
from xlaunch.core.workload import Phase, describe

POD = "train-pathways-head-0-0-aaaaa"


class Run:
    """One follower over a fake kubelet, with what it printed and said."""

    def __init__(self, kubelet, *, interactive=True, cloud=True, timeout=None, **wanted):
        self.said = []
        self.follower = Follower(
            kubelet,
            describe(kubelet.jobset),
            Wanted(**wanted),
            clock=kubelet.clock,
            narration=Narration(self.said.append, kubelet.clock.monotonic, interactive=interactive),
            cloud=CloudLogs("default", available=cloud),
            timeout=timeout,
        )

    def all(self):
        return b"".join(self.follower)

    @property
    def end(self):
        return self.follower.end

    def losses(self):
        """What was said about lost lines."""
        return [line for line in self.said if line.startswith("Gap") or "cannot be read here" in line]


def written(kubelet):
    return b"".join(line + b"\n" for line in kubelet.everything)


def life(kubelet, *moments, end=None):
    """The head pod starts, writes a line at each moment, and completes."""
    kubelet.start_pod("aaaaa")
    for moment in moments:
        kubelet.at(moment, kubelet.write, b"line at %g" % moment)
    last = end or (max(moments, default=0) + 1)
    kubelet.at(last, kubelet.end)
    kubelet.at(last + 1, kubelet.finish)
    return kubelet


def test_a_quiet_life_is_printed_whole_and_ends_with_the_jobset():
    kubelet = life(FakeKubelet(), 1, 2, 3)
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert (run.end.phase, run.end.reason, run.end.timed_out) == (Phase.COMPLETED, "AllJobsCompleted", False)
    assert run.follower.exit_code == 0
    assert run.said == [f"Following main in pod {POD}"]


def test_lines_come_as_they_are_written():
    kubelet = life(FakeKubelet(), 1, 50, 400)
    seen = [(round(kubelet.clock.seconds), data) for data in Run(kubelet).follower]
    assert seen == [(1, b"line at 1\n"), (50, b"line at 50\n"), (400, b"line at 400\n")]


def test_a_silent_log_is_opened_again_and_again_quietly():
    kubelet = life(FakeKubelet(), 1, 1000)
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert run.said == [f"Following main in pod {POD}"]
    assert 10 < len(kubelet.opened) < 40


def write(kubelet, lines):
    kubelet.write(*lines, gap=kubelet.random.choice([0, 0.001]))


FAULTS = Faults(cut=0.15, clean_end=0.05, stall=0.02, refuse=0.1, piece=1500)


@pytest.mark.parametrize("seed", range(12))
def test_every_byte_once_in_order_through_cuts_stalls_and_container_restarts(seed):
    kubelet = FakeKubelet(seed, FAULTS)
    kubelet.start_pod("aaaaa")
    moment = 1.0
    for burst in range(20):
        moment += kubelet.random.choice([0, 0.0005, 0.4, 3, 50])
        count = kubelet.random.randint(1, 6)
        kubelet.at(
            moment,
            write,
            kubelet,
            [b"%d.%d %s" % (burst, n, b"x" * kubelet.random.randint(0, 90)) for n in range(count)],
        )
        if burst in (7, 13):
            kubelet.at(moment + 0.01, kubelet.crash, 137)
            moment += 2000  # time to read the instance before the next one ends
    kubelet.at(moment + 1, kubelet.end)
    kubelet.at(moment + 2000, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert [line for line in run.losses() if not line.startswith("The log begins")] == []
    assert run.end.phase is Phase.COMPLETED
    assert [line.partition("(")[2] for line in run.said if "has restarted in pod" in line] == [
        "restart 1, after exit 137 (SIGKILL))",
        "restart 2, after exit 137 (SIGKILL))",
    ]


LINE = st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"\r"))
HAPPENING = st.one_of(
    st.tuples(st.just("write"), st.lists(LINE, min_size=1, max_size=5)),
    st.tuples(st.sampled_from(["crash", "replace", "rotate"]), st.just(None)),
)


@settings(max_examples=40, deadline=None)
@given(
    script=st.lists(st.tuples(st.sampled_from([0, 0.002, 1, 90]), HAPPENING), max_size=25),
    seed=st.integers(0, 2**32),
    faulty=st.booleans(),
)
def test_what_comes_out_is_what_was_written_or_the_loss_is_said(script, seed, faulty):
    """Whatever happens in whatever order: nothing twice, nothing out of order, nothing lost in silence."""
    kubelet = FakeKubelet(seed, FAULTS if faulty else Faults())
    kubelet.start_pod("pod0")
    moment, numbers = 1.0, iter(range(10_000))
    for pause, (kind, lines) in script:
        moment += pause
        if kind == "write":
            kubelet.at(moment, write, kubelet, [b"%04d " % next(numbers) + line for line in lines])
        elif kind == "replace":
            kubelet.at(moment, kubelet.remove_pod)
            kubelet.at(moment + 0.5, kubelet.start_pod, f"pod{next(numbers)}")
            moment += 0.6
        elif kind == "rotate":
            moment += 40  # a file of 10 MiB is not filled in a moment
            kubelet.at(moment, kubelet.write, b"%04d first of the new file" % next(numbers))
            kubelet.at(moment, kubelet.rotate, 1)
        else:
            kubelet.at(moment, kubelet.crash)
    kubelet.at(moment + 1, kubelet.end)
    kubelet.at(moment + 900, kubelet.finish)
    run = Run(kubelet)
    out = run.all()
    assert run.end.phase is Phase.COMPLETED
    if not run.losses() and not any("--previous" in line for line in run.said):
        assert out == written(kubelet)
        return
    printed = [line for line in out.split(b"\n")[:-1] if line]
    known = {line: number for number, line in enumerate(kubelet.everything)}
    whole = [known[line] for line in printed if line in known]
    assert whole == sorted(set(whole))
    torn = [line for line in printed if line not in known]
    assert all(any(line.startswith(part) for line in known) for part in torn)


def test_a_rotated_log_says_so_and_goes_on():
    kubelet = life(FakeKubelet(), 1, 2, end=400)
    kubelet.at(3, setattr, kubelet, "down", True)
    kubelet.at(10, kubelet.write, b"lost")
    kubelet.at(10, kubelet.rotate)
    kubelet.at(11, kubelet.write, b"kept")
    kubelet.at(12, setattr, kubelet, "down", False)
    run = Run(kubelet)
    assert run.all() == b"line at 1\nline at 2\nkept\n"
    [gap] = run.losses()
    assert gap.startswith("Gap: lines of main may be missing here; they were not in what the kubelet still serves")
    assert 'resource.labels.pod_name="train-pathways-head-0-0-aaaaa"' in gap


def test_a_restart_whose_status_comes_late_is_no_gap():
    """The kubelet serves the new instance's log before the pod's status names it: seen on a real control plane."""
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(0.5, kubelet.write, b"old")
    kubelet.at(1.0, kubelet.crash_unseen)
    kubelet.at(1.0, kubelet.write, b"new")
    kubelet.at(1.8, kubelet.show)
    kubelet.at(3.0, kubelet.write, b"newer")
    kubelet.at(200.0, kubelet.end)
    kubelet.at(201.0, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"old\nnew\nnewer\n"
    assert run.losses() == []
    assert any(line.startswith("main has restarted in pod") for line in run.said)


def test_the_kubelets_own_words_are_told_not_printed():
    kubelet = life(FakeKubelet(), 1, end=5)
    kubelet.at(2, setattr, kubelet, "words", b"unable to retrieve container logs for containerd://abc")
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert run.said[1:] == ["The kubelet says: unable to retrieve container logs for containerd://abc"]


def restart(kubelet, at, *, attempt=1, suffix="bbbbb", code=1):
    """JobSet restarts: the old head pod goes, nothing for a while, then a new one."""
    kubelet.at(at, kubelet.end, code)
    kubelet.at(
        at + 1,
        lambda: setattr(
            kubelet,
            "jobset",
            jobset(ready=(0, 0), restarts=attempt, conditions=[condition("RestartingJobSet", message="applying")]),
        ),
    )
    kubelet.at(at + 2, kubelet.remove_pod)
    kubelet.at(at + 30, kubelet.start_pod, suffix, attempt)
    kubelet.at(at + 31, lambda: setattr(kubelet, "jobset", jobset(restarts=attempt)))


def test_a_restart_of_the_jobset_is_followed_into_the_new_pod():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"before")
    restart(kubelet, 2)
    kubelet.at(40, kubelet.write, b"after")
    kubelet.at(41, kubelet.end)
    kubelet.at(42, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"before\nafter\n"
    assert run.losses() == []
    assert run.said == [
        f"Following main in pod {POD}",
        "Waiting: JobSet restarts it (1 of 3): applying",
        f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 1): main ended with exit code 1; applying",
    ]


def test_who_ended_the_pod_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"before")
    kubelet.at(2, kubelet.evict)
    restart(kubelet, 2.5, code=143)
    kubelet.at(40, kubelet.end)
    kubelet.at(41, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"before\n"
    evicted = "main ended with exit code 143 (SIGTERM); EvictionByEvictionAPI: Eviction API: evicting"
    assert run.said[-1] == f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 1): {evicted}; applying"


def test_a_pod_that_vanished_unread_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.remove_pod)
    kubelet.at(2, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses() == [f"Pod {POD} is gone; if last lines of main are missing, they cannot be read here"]


def test_of_restarts_that_nobody_saw_the_last_dead_instance_is_read():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    for line in (b"lost", b"last"):
        kubelet.at(2, kubelet.crash, 1)
        kubelet.at(2, kubelet.write, line)
    kubelet.at(2, kubelet.crash, 137)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nlast\nb\n"
    assert run.said[1:] == [
        "Gap: main has ended several times meanwhile, and kubelets keep the last dead instance only",
        f"main has restarted in pod {POD} (restart 2)",
        f"main has restarted in pod {POD} (restart 3, after exit 137 (SIGKILL))",
    ]


def test_a_pod_that_restarted_before_it_was_seen_is_read_from_its_beginning():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.end, 1)
    kubelet.at(10, kubelet.remove_pod)
    kubelet.at(10, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(10, kubelet.write, b"b")
    kubelet.at(10, kubelet.crash, 3)
    kubelet.at(11, kubelet.write, b"c")
    kubelet.at(12, kubelet.end)
    kubelet.at(13, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == written(kubelet) == b"a\nb\nc\n"
    assert run.losses() == []
    assert run.said[-2:] == [
        f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 0): main ended with exit code 1",
        f"main has restarted in pod {POD[:-5]}bbbbb (restart 1, after exit 3)",
    ]


def test_an_instance_that_may_have_run_unseen_before_its_pod_went_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.back_off, 1)
    kubelet.at(30, kubelet.remove_pod)
    kubelet.at(40, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(41, kubelet.end)
    kubelet.at(42, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert run.losses() == [f"Pod {POD} is gone; if main was started once more there, its log cannot be read here"]


def test_the_log_of_the_instance_before_may_be_refused():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.forgets = True
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.crash, 1)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses() == [
        "Gap: the end of the log before the restart cannot be read: previous terminated container not found"
    ]


ENDS = [
    ("failed, the pod is kept", "Failed", False, Phase.FAILED, []),
    ("failed, the pods were deleted", "Failed", True, Phase.FAILED, [f"Pod {POD} is gone"]),
    ("completed", "Completed", False, Phase.COMPLETED, []),
]


@pytest.mark.parametrize(
    ("word", "deleted", "phase", "losses"), [case[1:] for case in ENDS], ids=[case[0] for case in ENDS]
)
def test_the_end(word, deleted, phase, losses):
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.remove_pod if deleted else kubelet.end)
    kubelet.at(2, kubelet.finish, word, "Because")
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert (run.end.phase, run.end.reason) == (phase, "Because")
    assert [line.partition(";")[0] for line in run.losses()] == losses


def test_a_failed_workload_without_pods_says_where_its_log_may_be():
    kubelet = FakeKubelet()
    kubelet.finish("Failed", "ReachedMaxRestarts")
    run = Run(kubelet)
    assert run.all() == b""
    assert run.end.phase is Phase.FAILED
    [line] = run.said
    assert line.startswith("No pod is left that has the log. On GKE, ask Cloud Logging: gcloud logging read ")
    assert 'resource.labels.pod_name:"train-pathways-head-"' in line


def test_a_deleted_workload_is_read_while_its_pod_lives():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, setattr, kubelet, "jobset", None)
    kubelet.at(2, kubelet.write, b"dying")
    kubelet.at(3, kubelet.remove_pod)
    run = Run(kubelet)
    assert run.all() == b"dying\n"
    assert (run.end.phase, run.end.reason) == (None, "Deleted")


def test_another_jobset_of_the_same_name_is_not_the_one():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    other = jobset()
    other["metadata"]["uid"] = "uid-of-another"
    kubelet.at(2, kubelet.remove_pod)
    kubelet.at(2, setattr, kubelet, "jobset", other)
    run = Run(kubelet)
    assert run.all() == b"a\n"
    assert run.end.phase is None


def test_an_unreadable_log_at_the_end_is_given_up():
    """The node died with the workload: no attempt will ever work."""
    kubelet = FakeKubelet(0, Faults())
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, setattr, kubelet.faults, "refuse", 1.0)
    kubelet.at(2, setattr, kubelet.faults, "cut", 1.0)
    kubelet.at(3, kubelet.end, 1)
    kubelet.at(3, kubelet.finish, "Failed")
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert run.end.phase is Phase.FAILED
    assert f"The log of pod {POD} cannot be read: No agent available; trying again" in run.said
    assert run.losses()[-1].startswith(f"Pod {POD} is gone")


PENDING = pod("pathways-head", phase="Pending", statuses=[status(state=waiting("ContainerCreating"))])


def test_a_pending_pod_is_waited_for_with_its_reasons():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    kubelet.at(
        20,
        lambda: kubelet.events.append(
            {
                "type": "Warning",
                "reason": "FailedMount",
                "message": "no such volume",
                "lastTimestamp": "2026-11-29T12:00:20Z",
            }
        ),
    )
    kubelet.at(70, kubelet.pods.clear)
    kubelet.at(70, kubelet.start_pod, "bbbbb")
    kubelet.at(71, kubelet.write, b"at last")
    kubelet.at(72, kubelet.end)
    kubelet.at(73, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"at last\n"
    assert run.said == [
        f"Waiting: pod {POD}, container main: ContainerCreating",
        f"Waiting: pod {POD}, container main: ContainerCreating; FailedMount: no such volume",
        "Following main in pod train-pathways-head-0-0-bbbbb",
    ]
    assert max(kubelet.clock.slept) <= 5.0


def test_the_deadline_ends_a_wait_and_a_silent_stream():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    run = Run(kubelet, timeout=30.0)
    assert run.all() == b""
    assert run.end.timed_out
    assert kubelet.clock.seconds == pytest.approx(30, abs=1)
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    run = Run(kubelet, timeout=30.0)
    assert run.all() == b""
    assert (run.end.timed_out, run.end.phase) == (True, Phase.RUNNING)
    assert kubelet.clock.seconds == pytest.approx(30, abs=1)


def test_the_api_server_may_be_away_for_a_while():
    kubelet = life(FakeKubelet(), 1, 100, end=200)
    kubelet.at(50, setattr, kubelet, "down", True)
    kubelet.at(80, setattr, kubelet, "down", False)
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert "Cannot reach it; trying again" in run.said


def test_an_api_server_that_stays_away_is_an_error():
    kubelet = life(FakeKubelet(), 1, end=5000)
    kubelet.at(50, setattr, kubelet, "down", True)
    with pytest.raises(NetworkError, match="Cannot reach it"):
        Run(kubelet).all()
    assert kubelet.clock.seconds > 900


def test_who_may_not_read_logs_is_told_at_once(monkeypatch):
    kubelet = life(FakeKubelet(), 1)
    refusal = status_error(403, "Forbidden", 'pods "x" is forbidden: cannot get resource "pods/log"')
    monkeypatch.setattr(kubelet, "stream", lambda *_, **__: (_ for _ in ()).throw(refusal))
    with pytest.raises(ApiError, match="pods/log"):
        Run(kubelet).all()


# ---- what was asked for


def test_tail_begins_with_the_last_lines():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.write(b"a", b"b", b"c")
    kubelet.at(5, kubelet.write, b"d")
    kubelet.at(6, kubelet.end)
    kubelet.at(7, kubelet.finish)
    assert Run(kubelet, start=Start(tail=2)).all() == b"b\nc\nd\n"


@pytest.mark.parametrize("seed", range(5))
def test_tail_0_begins_with_what_comes_next_and_loses_none_of_it(seed):
    kubelet = FakeKubelet(seed, FAULTS)
    kubelet.start_pod("aaaaa")
    kubelet.write(b"a", b"b")
    for moment in range(5, 300, 20):
        kubelet.at(moment, kubelet.write, b"%d" % moment)
    kubelet.at(400, kubelet.end)
    kubelet.at(600, kubelet.finish)
    expected = b"".join(b"%d\n" % moment for moment in range(5, 300, 20))
    assert Run(kubelet, start=Start(tail=0)).all() == expected


def test_since_is_asked_of_the_kubelet_once():
    kubelet = life(FakeKubelet(), 1, 2)
    Run(kubelet, start=Start(since=60)).all()
    assert [query.get("sinceSeconds") for query in kubelet.opened][:2] == ["60", None]


def test_timestamps_lead_the_lines():
    kubelet = life(FakeKubelet(3, FAULTS), 1, 2)
    lines = Run(kubelet, stamps=True).all().splitlines()
    assert lines == [b"2026-11-29T12:00:01.000000000Z line at 1", b"2026-11-29T12:00:02.000000000Z line at 2"]


def test_once_prints_what_there_is_and_ends_while_it_runs():
    kubelet = FakeKubelet(2, Faults(cut=0.2, piece=400))
    kubelet.start_pod("aaaaa")
    kubelet.write(*(b"%d" % n for n in range(40)))
    kubelet.at(1000, kubelet.write, b"later")
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b"".join(b"%d\n" % n for n in range(40))
    assert kubelet.clock.seconds < 100


def test_once_gives_up_where_nothing_comes():
    kubelet = FakeKubelet(0, Faults(refuse=1.0))
    kubelet.start_pod("aaaaa")
    with pytest.raises(ApiError, match="No agent available"):
        list(Run(kubelet).follower.once())
    assert 20 < kubelet.clock.seconds < 120


def test_once_previous_prints_the_instance_before():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.write(b"first")
    kubelet.crash(137)
    kubelet.write(b"second")
    run = Run(kubelet)
    assert b"".join(run.follower.once(previous=True)) == b"first\n"
    assert run.said == []


def test_once_without_anything_to_print_says_why():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b""
    assert run.said == [f"There is no log: pod {POD}, container main: ContainerCreating"]
    kubelet = life(FakeKubelet(), 1)
    run = Run(kubelet)
    assert b"".join(run.follower.once(previous=True)) == b""
    assert run.said == [f"There is no log: main has not been restarted in pod {POD}"]


def test_once_without_any_pod_left_says_where_the_log_may_be():
    kubelet = FakeKubelet()
    kubelet.finish("Failed", "ReachedMaxRestarts")
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b""
    [line] = run.said
    assert line.startswith("No pod is left that has the log. On GKE, ask Cloud Logging: gcloud logging read ")


def test_a_container_that_nobody_has_is_refused_before_waiting():
    with pytest.raises(UsageError) as error:
        Run(FakeKubelet(), container="nobody")
    assert error.value.message == "train has no container nobody"
    assert error.value.why == "It has main, pathways-rm, pathways-proxy"


def test_a_sidecar_can_be_followed():
    kubelet = life(FakeKubelet(), 1)
    uid = kubelet.newest()
    kubelet.pods[uid]["status"]["initContainerStatuses"] = [status("pathways-proxy")]
    run = Run(kubelet, container="pathways-proxy", timeout=20.0)
    assert run.all().startswith(b"line at 1\n")
    assert {query["container"] for query in kubelet.opened} == {"pathways-proxy"}


def test_a_log_that_lacks_its_beginning_says_so():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.clock.sleep(3600)
    kubelet.write(b"late")
    kubelet.clock.sleep(60)
    kubelet.end()
    kubelet.finish()
    run = Run(kubelet, cloud=False)
    assert run.all() == b"late\n"
    assert run.said[1].startswith(
        "The log begins at 2026-11-29T13:00:00.000000000Z, 60m after main started; a kubelet keeps"
    )


def test_a_later_instance_that_lacks_its_beginning_says_so_too():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, setattr, kubelet, "down", True)
    kubelet.at(3, kubelet.crash)
    kubelet.at(60, kubelet.write, b"lost", b"b")
    kubelet.at(61, kubelet.rotate, 1)
    kubelet.at(62, setattr, kubelet, "down", False)
    kubelet.at(70, kubelet.end)
    kubelet.at(71, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses()[0].startswith("The log begins at 2026-11-29T12:01:00.001000000Z, 57s after main started")


def test_a_log_that_is_followed_from_its_start_does_not_claim_that():
    kubelet = life(FakeKubelet(), 500, end=600)
    run = Run(kubelet)
    run.all()
    assert run.said == [f"Following main in pod {POD}"]


@pytest.mark.parametrize("once", [False, True])
def test_the_logs_of_pods_before_a_restart_of_the_jobset_are_said_to_be_gone(once):
    kubelet = FakeKubelet()
    kubelet.start_pod("bbbbb", attempt=2)
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.end)
    kubelet.at(3, kubelet.finish)
    if once:
        kubelet.clock.sleep(5)
    run = Run(kubelet)
    assert b"".join(run.follower.once() if once else run.follower) == b"a\n"
    [line] = run.losses()
    assert line.startswith(
        "This is the workload's 2nd restart: the logs of the pods before cannot be read here. On GKE, ask Cloud "
        "Logging: gcloud logging read "
    )
    assert 'pod_name:"train-pathways-head-"' in line
    assert 'container_name="main"' in line


def test_who_asks_for_the_newest_lines_is_not_told_of_older_ones():
    kubelet = FakeKubelet()
    kubelet.start_pod("bbbbb", attempt=2)
    kubelet.write(b"a", b"b")
    kubelet.at(2, kubelet.end)
    kubelet.at(3, kubelet.finish)
    run = Run(kubelet, start=Start(tail=1))
    assert run.all() == b"b\n"
    assert run.losses() == []


def test_an_earlier_restart_is_mentioned():
    kubelet = life(FakeKubelet(), 1)
    kubelet.crash(1)
    run = Run(kubelet)
    run.all()
    assert run.said[1] == "main has restarted in this pod: --previous prints the log before its 1st restart"
