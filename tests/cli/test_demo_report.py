from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from xlaunch.cli.demo_report import report
from xlaunch.cli.output import text_of
from xlaunch.core.loglines import Kind
from xlaunch.core.recovery import Recovery
from xlaunch.demo.losses import Loss
from xlaunch.demo.proof import Snapshot
from xlaunch.demo.rehearsal import Outcome

START = datetime(2026, 7, 6, tzinfo=UTC)


def at(seconds):
    return START + timedelta(seconds=seconds)


BEFORE = Snapshot("pw-elastic-pathways-head-0-0-zwzgj", "u", 0, 0, 0, 24854, "0x7f38567ed9c0", 1)
RECOVERY = Recovery(
    Kind.SLICE_DOWN,
    at(0.2),
    130,
    cleaned=at(0.3),
    wait_began=at(0.4),
    ready=at(20.4),
    restore_began=at(21.4),
    restored=at(24.4),
    restored_step=100,
    first_step=101,
    first_step_at=at(28.6),
)
UNFINISHED = replace(RECOVERY, first_step=None)
OUTCOME = Outcome(
    BEFORE,
    replace(BEFORE, list_length=2),
    at(0),
    RECOVERY,
    (Loss("pw-elastic-worker-2-0-kls9x", at(0.1), replaced=at(10.3), ready=at(10.6)),),
    None,
)


def printed(result):
    return "".join(map(text_of, result.parts))


def test_the_report(golden):
    result = report(OUTCOME, 1.0, kept=[])
    assert result.exit_code == 0
    golden("demo-report.txt", printed(result))


@pytest.mark.parametrize("after", [OUTCOME.after, replace(BEFORE, uid="v", pod=BEFORE.pod.replace("zwzgj", "5gwqt"))])
def test_it_fits_80_columns(after):
    lines = printed(report(replace(OUTCOME, after=after), 0.1, kept=[])).splitlines()
    tables = [line for line in lines if not line.startswith("The proof")]
    assert max(map(len, tables)) <= 80


def test_the_data():
    data = report(OUTCOME, 1.0, kept=[]).data
    assert data["proven"] is True
    assert (data["stepsLost"], data["restoredStep"], data["firstStep"]) == (30, 100, 101)
    phases = {phase["name"]: (phase["forecastSeconds"], phase["seconds"]) for phase in data["phases"]}
    assert phases == {
        "loss noticed": (None, 0.2),
        "clean-up": (None, 0.1),
        "wait for slices": (20.0, 20.0),
        "back-off of the Job": (10.0, 10.3),
        "set up": (None, 1.0),
        "restore": (None, 3.0),
        "first step": (None, 4.2),
        "loss to first step": (None, 28.6),
    }
    assert all(check["holds"] for check in data["proof"])


def test_times_are_the_clusters():
    fast = report(OUTCOME, 0.1, kept=[])
    phases = {phase["name"]: phase["seconds"] for phase in fast.data["phases"]}
    assert phases["restore"] == 30.0
    assert "10 times faster" in printed(fast)


def test_a_whole_slice_waits_longer():
    losses = tuple(Loss(f"pw-{host}", at(0.1), replaced=at(80), ready=at(81)) for host in range(4))
    phases = {phase["name"]: phase for phase in report(replace(OUTCOME, losses=losses), 1.0, kept=[]).data["phases"]}
    assert phases["back-off of the Job"]["forecastSeconds"] == 80
    assert phases["wait for slices"]["forecastSeconds"] == 90


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"after": replace(BEFORE, list_length=2, proxy_restarts=1)}, 10, "does not hold: proxy restarts."),
        ({"recovery": None, "ended": "ReachedMaxRestarts"}, 10, "The run ended: ReachedMaxRestarts."),
        ({"before": None, "after": None, "recovery": None}, 10, "Nothing is proven: training never began."),
        (
            {"recovery": replace(RECOVERY, first_step=None), "timed_out": True, "ended": "Timeout"},
            124,
            "training",
        ),
    ],
)
def test_a_proof_that_does_not_hold(change, code, words):
    result = report(replace(OUTCOME, **change), 1.0, kept=[])
    assert result.exit_code == code
    assert result.data["proven"] is False
    assert words in printed(result)


def test_what_is_kept_is_named():
    assert "  xlaunch local down --name demo-1\n" in printed(report(OUTCOME, 1.0, ["xlaunch local down --name demo-1"]))
