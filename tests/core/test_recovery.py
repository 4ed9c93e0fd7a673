import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from xlaunch.core.loglines import Event, Kind, parse
from xlaunch.core.recovery import Recoveries, joined, recoveries

LOGS = Path(__file__).parent.parent / "data" / "logs"
START = datetime(2026, 7, 6, tzinfo=UTC)


def at(seconds, kind, **values):
    return Event(kind, START + timedelta(seconds=seconds), **values)


BLOG = [
    at(0, Kind.STEP, step=3388),
    at(1, Kind.SLICE_DOWN),
    at(1.5, Kind.CLEAN_UP),
    at(2, Kind.KEEP, step=3300),
    at(3, Kind.WAIT, want=3),
    at(3, Kind.POLL, have=2, want=3),
    at(13, Kind.POLL, have=2, want=3),
    at(23, Kind.READY, have=3, want=3),
    at(25, Kind.RESTORE, step=3300),
    at(25.1, Kind.RESTORE, step=3300),
    at(30.5, Kind.RESTORED, step=3300),
    at(43, Kind.STEP, step=3301),
    at(44, Kind.STEP, step=3302),
]


def test_a_recovery_in_phases():
    (recovery,) = recoveries(BLOG)
    assert [(phase.name, phase.seconds) for phase in recovery.phases()] == [
        ("clean-up", 1.0),
        ("wait for slices", 20.0),
        ("set up", 2.0),
        ("restore", 5.5),
        ("first step", 12.5),
    ]
    assert (recovery.steps_lost, recovery.restored_step, recovery.first_step, recovery.polls) == (88, 3300, 3301, 2)
    assert recovery.done


@pytest.mark.parametrize("cut", range(1, len(BLOG) - 1))
def test_a_recovery_under_way_has_the_phases_it_has(cut):
    fold = Recoveries()
    for event in BLOG[:cut]:
        assert fold.take(event) is None
    assert len(fold.all()) == (cut > 1)
    assert all(not recovery.done for recovery in fold.all())


def test_a_recovery_is_handed_out_once_when_it_is_complete():
    fold = Recoveries()
    completed = [fold.take(event) for event in BLOG]
    assert [recovery.first_step for recovery in completed if recovery] == [3301]


def test_a_second_loss_within_a_recovery_is_one_of_its_own():
    first, second = recoveries([*BLOG[:8], at(24, Kind.SLICE_DOWN), *BLOG[2:]])
    assert (first.last_step, first.done) == (3388, False)
    assert (second.last_step, second.steps_lost, second.done) == (None, None, True)


def test_losses_in_a_row_are_joined():
    chain = recoveries([*BLOG[:8], at(24, Kind.SLICE_DOWN), *BLOG[2:]])
    whole = joined(chain)
    assert (whole.last_step, whole.steps_lost, whole.first_step) == (3388, 88, 3301)
    assert (whole.down, whole.cleaned) == (chain[0].down, chain[0].cleaned)
    assert joined(chain[1:]) == chain[1]


def test_nothing_committed_yet_loses_every_step():
    (recovery,) = recoveries(
        [at(0, Kind.STEP, step=7), at(1, Kind.SLICE_DOWN), at(2, Kind.NO_RESTORE), at(3, Kind.STEP, step=0)]
    )
    assert recovery.steps_lost == 8


@pytest.mark.parametrize(
    "name",
    [
        "mtblog_a_pause_resume.kube.log",
        "mt023p11_b2_two_losses_during_save.kube.log",
        "mt025_c_timeout.log",
        "mt025_d_exhausted.log",
        "mt025_f_scale_up.log",
    ],
)
def test_real_logs(name):
    truth = json.loads((LOGS / f"{name.split('.')[0]}.meta.json").read_text())["derived_from_log"]["elastic_events"]
    found = recoveries(event for event in map(parse, (LOGS / name).read_bytes().splitlines()) if event)
    assert [(recovery.last_step, recovery.restored_step, recovery.first_step) for recovery in found] == [
        (event["last_step_printed_since_previous_event"], event["restored"], event["first_step_after"])
        for event in truth
    ]


def test_the_times_of_a_real_recovery():
    events = [
        event for event in map(parse, (LOGS / "mtblog_a_pause_resume.kube.log").read_bytes().splitlines()) if event
    ]
    (recovery,) = recoveries(events)
    phases = {phase.name: phase.seconds for phase in recovery.phases()}
    assert phases["wait for slices"] == pytest.approx(30.1, abs=0.1)
    assert phases["restore"] == pytest.approx(0.8, abs=0.1)
    assert recovery.steps_lost == 7
