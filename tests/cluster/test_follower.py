"""The log follower against a kubelet that cuts, stalls, rotates and talks: no byte is lost, none comes twice."""

import pytest
from fakes.kubelet import FakeKubelet, Faults
from hypothesis import given, settings
from hypothesis import strategies as st
from support.followed import FAULTS, POD, Run, life, written

from xlaunch.core.workload import Phase


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
