"""What a follower does next, and the cursor; the numbers are the public failures of other log followers.

Each case names the issue whose failure it rules out.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.clock import START
from fakes.objects import condition, ended, jobset, on_silent_node, pod, running, status, terminated, waiting
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.core.follow import Cursor, Done, DrainPrevious, Reader, Reopen, Target, WaitPod, choose, next_action
from xlaunch.core.logtext import Piece, sort_key
from xlaunch.core.workload import Phase, describe

NOW = START
A = Target("train-pathways-head-0-0-aaaaa", "uid-train-pathways-head-0-0-aaaaa", "main", 0)
A1 = replace(A, restarts=1)
B = Target("train-pathways-head-0-0-bbbbb", "uid-train-pathways-head-0-0-bbbbb", "main", 0)


def head(*statuses, **more):
    return pod("pathways-head", statuses=statuses, **more)


def at(target=A, **more):
    return Cursor(target=target, last=b"x", seen=1, high=b"x", **more)


RUNNING = head(status())
CRASHED = head(status(restarts=0, state=waiting("CrashLoopBackOff", "back-off 10s"), last=terminated(1)))
RESTARTED = head(status(restarts=1, last=terminated(137)))
RESTARTED_B = head(status(restarts=1, last=terminated(1)), suffix="bbbbb", created="2026-11-29T12:05:00Z")
OVER = head(status(state=terminated(0)), phase="Succeeded")
FAILED = head(status(state=terminated(1)), phase="Failed")
DYING = head(status(), deleted="2026-11-29T12:00:10Z")
NEXT = head(status(), suffix="bbbbb", created="2026-11-29T12:05:00Z")
CREATING = head(status(state=waiting("ContainerCreating"), ready=False), phase="Pending", suffix="bbbbb")
ALIVE, COMPLETED, LOST = (
    describe(jobset()),
    describe(ended("Completed", "AllJobsCompleted")),
    describe(ended("Failed", "ReachedMaxRestarts")),
)
RESTARTING = describe(jobset(ready=(0, 0), restarts=1, conditions=[condition("RestartingJobSet")]))

CASES = [
    ("stern#361, airflow#11324: an end of stream while it runs is no end", [RUNNING], ALIVE, at(), Reopen(A, True)),
    ("first attach", [RUNNING], ALIVE, Cursor(), Reopen(A, True)),
    (
        "kubernetes#115701: follow freezes at rotation; the same answer after a stall",
        [RUNNING],
        ALIVE,
        at(failures=3),
        Reopen(A, True),
    ),
    ("stern#221, dstack#4175: the last lines are read before the end", [OVER], COMPLETED, at(), Reopen(A, False)),
    (
        "kubernetes_asyncio#329: a finished container is read once",
        [OVER],
        COMPLETED,
        at(drained=True),
        Done(Phase.COMPLETED, "AllJobsCompleted"),
    ),
    (
        "ended, JobSet has not said so yet",
        [OVER],
        ALIVE,
        at(drained=True),
        WaitPod("main ended (exit 0); JobSet decides what follows: Running"),
    ),
    (
        "failed, a restart is due",
        [FAILED],
        RESTARTING,
        at(drained=True),
        WaitPod("main ended (exit 1); JobSet decides what follows: Restarting"),
    ),
    ("failed for good", [FAILED], LOST, at(drained=True), Done(Phase.FAILED, "ReachedMaxRestarts")),
    ("failed for good, not read yet", [FAILED], LOST, at(), Reopen(A, False)),
    ("kubernetes#71364: pods deleted with the failure", [], LOST, at(), Done(Phase.FAILED, "ReachedMaxRestarts")),
    (
        "stern#102: the container restarted: first the rest of the instance before",
        [RESTARTED],
        ALIVE,
        at(),
        DrainPrevious(A),
    ),
    ("then the new instance", [RESTARTED], ALIVE, at(drained=True), Reopen(A1, True)),
    (
        "the one after next: of the dead instances the kubelet keeps the last",
        [head(status(restarts=2))],
        ALIVE,
        at(),
        DrainPrevious(A1),
    ),
    ("also where the first was read", [head(status(restarts=2))], ALIVE, at(drained=True), DrainPrevious(A1)),
    ("kapp#359: the new pod has restarted before anybody looked", [RESTARTED_B], ALIVE, at(), DrainPrevious(B)),
    ("then its present instance", [RESTARTED_B], ALIVE, at(B, drained=True), Reopen(replace(B, restarts=1), True)),
    ("first attach after a restart", [RESTARTED], ALIVE, Cursor(), Reopen(A1, True)),
    (
        "in the back-off after one more, the one before is lost: previous is then the same log",
        [head(status(restarts=1, state=waiting("CrashLoopBackOff", "back-off 10s"), last=terminated(1)))],
        ALIVE,
        at(),
        Reopen(A1, False),
    ),
    ("in back-off the ended instance is the current log", [CRASHED], ALIVE, at(), Reopen(A, False)),
    (
        "in back-off and read",
        [CRASHED],
        ALIVE,
        at(drained=True),
        WaitPod("main ended (exit 1); the kubelet restarts it: back-off 10s"),
    ),
    (
        "kubernetes#28746: the pod is being made",
        [CREATING],
        ALIVE,
        Cursor(),
        WaitPod(f"pod {B.pod}, container main: ContainerCreating"),
    ),
    ("kubeflow/trainer#2348: the newest of several", [RUNNING, NEXT], ALIVE, Cursor(), Reopen(B, True)),
    ("one that stays is newer than one that goes", [DYING, NEXT], ALIVE, Cursor(), Reopen(B, True)),
    ("the old pod is read to its end first", [DYING, NEXT], ALIVE, at(), Reopen(A, True)),
    ("the old pod is read, the new one follows", [DYING, NEXT], ALIVE, at(drained=True), Reopen(B, True)),
    ("the old pod is gone", [NEXT], ALIVE, at(), Reopen(B, True)),
    ("the only pod is on its way out: its last lines count", [DYING], ALIVE, at(), Reopen(A, True)),
    ("JobSet restarts, there is no pod", [], RESTARTING, at(), WaitPod("JobSet restarts it (1 of 3)")),
    (
        "srelens#499: sidecars run on, the main container decides",
        [head(status(state=terminated(0)), init_statuses=[status("pathways-rm")])],
        ALIVE,
        at(drained=True),
        WaitPod("main ended (exit 0); JobSet decides what follows: Running"),
    ),
    ("the JobSet was deleted, its pod still writes", [DYING], None, at(), Reopen(A, True)),
    ("the JobSet was deleted", [], None, at(), Done(None, "Deleted")),
    (
        "queued",
        [],
        describe(jobset(ready=None, suspend=True, labels={"kueue.x-k8s.io/queue-name": "q"})),
        Cursor(),
        WaitPod("it waits in queue q"),
    ),
    ("over, and the rest cannot be read", [FAILED], LOST, at(failures=4), Done(Phase.FAILED, "ReachedMaxRestarts")),
    ("not over: it is tried on", [FAILED], ALIVE, at(failures=40), Reopen(A, False)),
    (
        "a pod without status",
        [pod("pathways-head", phase="Pending")],
        ALIVE,
        Cursor(),
        WaitPod(f"pod {A.pod} is Pending, its containers are being started"),
    ),
]


@pytest.mark.parametrize(
    ("pods", "workload", "cursor", "action"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_next_action(pods, workload, cursor, action):
    assert next_action(pods, workload, "main", cursor, NOW + timedelta(seconds=20)) == action


def test_a_pod_that_should_be_gone_long_since_is_left_for_the_new_one():
    """Its node is dead: it stays Running for ever, and its log cannot be read."""
    late = NOW + timedelta(minutes=5)
    assert next_action([DYING, NEXT], ALIVE, "main", at(), late) == Reopen(B, True)
    assert choose([DYING, NEXT], at(), NOW + timedelta(seconds=15)) is DYING
    assert choose([DYING], at(), late) is DYING
    assert choose([], at(), late) is None


def test_a_pod_that_is_to_go_from_a_node_that_does_not_answer_is_left_at_once():
    silent = on_silent_node(head(status()), "cpu-np-0")
    assert choose([silent, NEXT], at(), NOW) is silent  # it may come back
    going = {**silent, "metadata": {**silent["metadata"], "deletionTimestamp": "2026-11-29T12:00:30Z"}}
    assert choose([going, NEXT], at(), NOW) is NEXT
    assert choose([going], at(), NOW) is going


# ---- the cursor


def stamp(seconds, nanos=0):
    return b"2026-11-29T12:00:%02d.%09dZ" % (seconds, nanos)


def lines(*moments):
    return [
        Piece(stamp(*moment) if isinstance(moment, tuple) else stamp(moment), b"%d\n" % n, True)
        for n, moment in enumerate(moments)
    ]


def read(cursor, served):
    reader = Reader(cursor)
    return b"".join(map(reader.take, served)), reader


RESUMES = [
    ("airflow#33498: nothing twice within a second", [1, (1, 5), (1, 9), 2], 3),
    ("kubernetes#77856: lines of the same nanosecond are counted", [1, 1, 1, 1, 2], 2),
    ("two writers stamp out of order", [(1, 500), (1, 400), (1, 600), (1, 300)], 2),
    ("the clock was set back", [5, 3, 4, 5, 6], 2),
]


@pytest.mark.parametrize(("moments", "count"), [case[1:] for case in RESUMES], ids=[case[0] for case in RESUMES])
def test_a_resumed_log_goes_on_where_it_was(moments, count):
    served = lines(*moments)
    first, before = read(Cursor(target=A), served[:count])
    rest, after = read(before.cursor, served)
    assert first + rest == b"".join(piece.text for piece in served)
    assert not after.gap


def test_a_rotated_log_is_a_gap_and_goes_on_with_what_there_is():
    served = lines(1, 2, 3, 4, 5)
    _, before = read(Cursor(target=A), served[:2])
    rest, after = read(before.cursor, served[3:])
    assert rest == b"3\n4\n"
    assert after.gap


def test_no_gap_where_nothing_new_came():
    served = lines(1, 2)
    _, before = read(Cursor(target=A), served)
    rest, after = read(before.cursor, served)
    assert (rest, after.gap) == (b"", False)


def test_a_line_cut_in_the_middle_goes_on_in_the_middle():
    whole = [*lines(1), Piece(stamp(2), b"hello world\n", True), *lines(3)]
    first, before = read(Cursor(target=A), [whole[0], Piece(stamp(2), b"hello", False)])
    rest, after = read(before.cursor, whole)
    assert first + rest == b"0\nhello world\n0\n"
    assert not after.gap


def test_a_line_cut_again_before_its_new_part():
    part = Piece(stamp(2), b"hello", False)
    _, before = read(Cursor(target=A), [part])
    text, again = read(before.cursor, [Piece(stamp(2), b"he", False)])
    assert text == b""
    rest, _ = read(again.cursor, [Piece(stamp(2), b"hello wo", False), Piece(b"", b"rld\n", True, begins=False)])
    assert rest == b" world\n"


def test_a_cut_line_that_does_not_come_back_is_a_gap():
    _, before = read(Cursor(target=A), [*lines(1), Piece(stamp(2), b"hel", False)])
    rest, after = read(before.cursor, lines(4))
    assert (rest, after.gap) == (b"\n0\n", True)


def test_the_kubelets_own_words_are_not_log_text():
    text, reader = read(Cursor(target=A), [*lines(1), Piece(b"", b"unable to retrieve container logs", False)])
    assert text == b"0\n"
    assert reader.foreign == [b"unable to retrieve container logs"]


def test_stamps_lead_each_line_once():
    reader = Reader(Cursor(target=A), stamps=True)
    parts = [Piece(stamp(1), b"a\n", True), Piece(stamp(2), b"b", False), Piece(b"", b"c\n", True, begins=False)]
    assert b"".join(map(reader.take, parts)) == stamp(1) + b" a\n" + stamp(2) + b" bc\n"


@given(st.data())
def test_any_number_of_cuts_gives_the_log_once(data):
    """Stamps rise or stay; each stream begins at the file's start, or within the margin before the cursor."""
    steps = data.draw(st.lists(st.sampled_from([0, 0, 1, 10]), min_size=1, max_size=25))
    moments = [sum(steps[: n + 1]) for n in range(len(steps))]
    file = [Piece(stamp(0, moment), b"%d\n" % n, True) for n, moment in enumerate(moments)]
    cursor, out = Cursor(target=A), b""
    for end in [*sorted(data.draw(st.lists(st.integers(0, len(file)), max_size=6))), len(file)]:
        begin = data.draw(st.integers(0, 5))
        served = [
            piece for piece in file[:end] if not cursor.last or sort_key(piece.stamp) >= cursor.last or begin == 0
        ]
        text, reader = read(cursor, served)
        assert not reader.gap
        cursor, out = reader.cursor, out + text
    assert out == b"".join(piece.text for piece in file)


def test_targets_of_different_instances_differ():
    assert len({A, A1, B}) == 3
    assert head(status(state=running()))["metadata"]["uid"] == A.uid
