"""The rehearsal over a scripted log: what it kills and when, when it has seen enough, and what it makes of the end."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from tests.fakes.clock import FakeClock
from xlaunch.cluster.api import ApiError
from xlaunch.cluster.connect import Connection
from xlaunch.cluster.follower import End
from xlaunch.core.loglines import Kind
from xlaunch.core.pods import Container
from xlaunch.core.workload import Phase
from xlaunch.demo import rehearsal
from xlaunch.demo.losses import Loss
from xlaunch.demo.proof import checks, holds
from xlaunch.demo.rehearsal import Rehearsal, lines

AT = datetime(2026, 7, 6, tzinfo=UTC)
PREFIX = "2026-07-06T00:00:{:02d}.000000000Z I0706 16:50:26.230209 140 x.py:1] {}\n"


def log(*messages):
    return "".join(PREFIX.format(second % 60, message) for second, message in enumerate(messages)).encode()


def steps(first, last):
    return [f"completed step: {step}, seconds: 0.160, simulated: true" for step in range(first, last + 1)]


def commit(step):
    return f"[process=0][thread=async_save] Finished saving checkpoint (finalized tmp dir) to `gs://b/o/checkpoints/{step}`."


def survivor(length, pid=17):
    return f"Rehearsal: pid={pid} list=0x7f length={length}"


TRAINED = [survivor(1), *steps(0, 100), commit(100), *steps(101, 131)]
RECOVERED = [
    "Slice down event detected. Retrying.",
    "Found commit_success file. Keeping gs://b/o/checkpoints/100/.",
    "Waiting for 3 slices. Poll interval: 10, Timeout: 300",
    "Sufficient slices active: 3 >= 3. Active indices: {0, 1, 2}",
    survivor(2),
    "Restoring checkpoint from gs://b/o/checkpoints/100.",
    "[process=0] [sync] Finished load in 3.00 seconds @ gs://b/o/checkpoints/100",
    *steps(101, 400),
]


class Stage:
    def __init__(self):
        self.said, self.shown, self.ledgers = [], 0, 0

    def say(self, text):
        self.said.append(text)

    def show(self, line, event):
        self.shown += 1

    def tell_ledger(self, found):
        self.ledgers += 1


class FakeFollower:
    """Yields the script in uneven chunks and ends as it says."""

    def __init__(self, script, end):
        self.script, self.end_of_run, self.end, self.closed = script, end, None, False

    def __iter__(self):
        try:
            for start in range(0, len(self.script), 97):
                yield self.script[start : start + 97]
            self.end = self.end_of_run
        finally:
            self.closed = True


class Api:
    namespace = "default"

    def __init__(self):
        self.requests = []

    def request(self, method, path, **options):
        self.requests.append((method, path, dict(options.get("query") or ())))


def worker(host, phase="Running"):
    labels = {"batch.kubernetes.io/job-completion-index": str(host)}
    return {
        "metadata": {"name": f"pw-worker-2-{host}-x", "uid": f"u{host}", "labels": labels},
        "status": {"phase": phase},
    }


@pytest.fixture
def play(monkeypatch):
    """Plays a script and returns outcome, stage, API and follower."""

    def run(messages, *, interactive=False, end=None, gone=False, pods=None, losses=None):
        api, stage = Api(), Stage()
        follower = FakeFollower(log(*messages), end or End(Phase.COMPLETED, "Completed"))
        container = Container("main", False, "running", "", "", True, 0, "", None, None)
        head = SimpleNamespace(pod="pw-head-x", uid="h", containers=(container,))
        ledger = SimpleNamespace(
            head=head, workload=SimpleNamespace(main_container="main", restarts=0), slices=(), alarms=()
        )

        def observe(connection, name):
            if gone:
                raise ApiError(404, "NotFound", "gone")
            return SimpleNamespace(jobset={}, jobs=(), pods=())

        monkeypatch.setattr(rehearsal.jobsets, "get", lambda api, name: {})
        monkeypatch.setattr(rehearsal, "describe", lambda jobset: None)
        monkeypatch.setattr(rehearsal, "observe", observe)
        monkeypatch.setattr(rehearsal, "ledger", lambda *_: ledger)
        there = ((worker(1), worker(0), worker(0, "Failed")), "1")
        monkeypatch.setattr(rehearsal, "list_all", pods or (lambda *_, **__: there))
        monkeypatch.setattr(rehearsal, "Follower", lambda *_, **__: follower)
        watcher = SimpleNamespace(so_far=lambda: losses(stage) if losses else (Loss("pw-worker-2-0-x", AT),))
        monkeypatch.setattr(rehearsal, "Losses", lambda *_: watcher)
        outcome = Rehearsal(
            Connection(api, "there"),
            "pw",
            clock=FakeClock(),
            stage=stage,
            time_scale=1.0,
            interactive=interactive,
            kubectl="kubectl --kubeconfig k",
        ).run()
        return SimpleNamespace(outcome=outcome, stage=stage, api=api, follower=follower)

    return run


KILL = ("DELETE", "/api/v1/namespaces/default/pods/pw-worker-2-0-x", {"gracePeriodSeconds": "0"})


def test_it_kills_once_and_sees_the_recovery(play):
    seen = play([*TRAINED, *RECOVERED])
    assert seen.api.requests == [KILL]
    assert seen.outcome.killed is not None
    assert (seen.outcome.recovery.steps_lost, seen.outcome.recovery.first_step) == (31, 101)
    assert (seen.outcome.before.list_length, seen.outcome.after.list_length) == (1, 2)
    assert seen.stage.ledgers == 1
    assert seen.stage.said == ["kubectl delete pod pw-worker-2-0-x --grace-period=0 --force"]


def test_it_stops_when_it_has_seen_enough(play):
    seen = play([*TRAINED, *RECOVERED])
    assert seen.follower.closed
    assert seen.follower.end is None
    assert seen.stage.shown == len(TRAINED) + RECOVERED.index(steps(106, 106)[0]) + 1


@pytest.mark.parametrize("script", [steps(0, 200), [*steps(0, 100), commit(100), *steps(101, 129)]])
def test_it_does_not_kill_before_there_is_something_to_go_back_to_and_to_lose(play, script):
    seen = play(script)
    assert seen.api.requests == []
    assert seen.outcome.recovery is None


def test_interactive_leaves_the_kill_to_the_viewer(play):
    seen = play([*TRAINED, *RECOVERED], interactive=True)
    assert seen.api.requests == []
    assert seen.outcome.killed is None
    assert "kubectl --kubeconfig k delete pod pw-worker-2-0-x --grace-period=0 --force" in seen.stage.said
    assert seen.outcome.recovery.first_step == 101
    assert seen.outcome.losses == (Loss("pw-worker-2-0-x", AT),)


OTHER, RIGHT = Loss("pw-worker-1-0-x", AT), Loss("pw-worker-2-3-x", AT)


def asked(stage):
    return [text for text in stage.said if text.startswith("kubectl")]


def test_the_loss_of_another_slice_is_said_and_the_demo_waits_on(play):
    seen = play(
        [*TRAINED, *RECOVERED, *RECOVERED],
        interactive=True,
        losses=lambda stage: (OTHER, RIGHT)[: len(asked(stage))],
    )
    told = "pw-worker-1-0-x is not of slice 2: after this recovery the demo waits for that one"
    assert (seen.stage.said.count(told), len(asked(seen.stage))) == (1, 2)
    assert seen.outcome.recovery.last_step == 400
    assert seen.outcome.losses == (RIGHT,)


def test_a_viewer_who_is_early_still_gets_a_snapshot_before(play):
    seen = play([survivor(1), *steps(0, 10), *RECOVERED], interactive=True)
    assert seen.outcome.before.list_length == 1
    assert seen.outcome.recovery.last_step == 10


@pytest.mark.parametrize("trained", [TRAINED, [survivor(1), *steps(0, 10)]], ids=["after", "before it was asked to"])
def test_a_viewer_who_kills_the_head_ends_the_run(play, trained):
    seen = play([*trained, survivor(1, pid=18), *steps(101, 400)], interactive=True)
    assert (seen.outcome.before.pid, seen.outcome.after.pid) == (17, 18)
    assert seen.outcome.ended == "the trainer was started anew, in another process"
    assert seen.follower.closed
    assert seen.stage.shown == len(trained) + 1


def test_a_run_that_ends_without_recovering(play):
    seen = play([*TRAINED, "Slice down event detected. Retrying."], end=End(Phase.FAILED, "ReachedMaxRestarts"))
    assert (seen.outcome.ended, seen.outcome.timed_out) == ("ReachedMaxRestarts", False)
    assert not seen.outcome.recovery.done


def test_a_run_that_takes_too_long(play):
    seen = play(steps(0, 3), end=End(Phase.RUNNING, "Timeout", timed_out=True))
    assert seen.outcome.timed_out


def test_a_cluster_that_vanishes_is_not_a_crash(play):
    seen = play(steps(0, 3), gone=True)
    assert (seen.outcome.before, seen.outcome.after, seen.outcome.ledger) == (None, None, None)


def test_a_second_loss_before_the_first_step_is_part_of_the_recovery(play):
    seen = play([*TRAINED, *RECOVERED[:7], *RECOVERED])
    assert (seen.outcome.recovery.last_step, seen.outcome.recovery.steps_lost) == (131, 31)
    assert seen.stage.ledgers == 2


def test_a_worker_that_is_just_being_replaced_is_killed_later(play, monkeypatch):
    answers = iter([((worker(0, "Failed"),), "1")])
    found = ((worker(0),), "2")
    seen = play([*TRAINED, *steps(132, 133), *RECOVERED], pods=lambda *_, **__: next(answers, found))
    assert seen.api.requests == [KILL]
    assert seen.outcome.recovery.last_step == 133


def test_a_scale_up_proves_nothing(play):
    seen = play([*TRAINED, "Scale up requested. Retrying.", *steps(101, 140)])
    assert seen.outcome.recovery.cause is Kind.SCALE_UP
    assert not holds(checks(seen.outcome.before, seen.outcome.after, seen.outcome.recovery))


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [([b"a\nb", b"c\n", b"d"], [b"a", b"bc", b"d"]), ([b"\n"], [b""]), ([], []), ([b"a\n"], [b"a"])],
)
def test_lines_are_made_whole(chunks, whole):
    assert list(lines(iter(chunks))) == whole
