from dataclasses import replace
from datetime import UTC, datetime

import pytest

from xlaunch.core.loglines import Kind
from xlaunch.core.recovery import Recovery
from xlaunch.demo.proof import Snapshot, checks, holds

BEFORE = Snapshot("head-1", "uid-1", 0, 0, 0, 17, "0x7f", 1)
AFTER = replace(BEFORE, list_length=2)
RECOVERY = Recovery(Kind.SLICE_DOWN, datetime(2026, 7, 6, tzinfo=UTC), 130, restored_step=100, first_step=101)


def test_the_proof_holds():
    found = checks(BEFORE, AFTER, RECOVERY)
    assert holds(found)
    assert [check.name for check in found] == [
        "head pod",
        "trainer PID",
        "trainer's list",
        "main restarts",
        "proxy restarts",
        "JobSet restarts",
        "training",
    ]


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({"uid": "uid-2"}, "head pod"),
        ({"pid": 18}, "trainer PID"),
        ({"pid": None}, "trainer PID"),
        ({"list_id": "0x80"}, "trainer's list"),
        ({"list_length": 1}, "trainer's list"),
        ({"main_restarts": 1}, "main restarts"),
        ({"proxy_restarts": 1}, "proxy restarts"),
        ({"jobset_restarts": 1}, "JobSet restarts"),
    ],
)
def test_each_line_can_fail(change, failed):
    found = checks(BEFORE, replace(AFTER, **change), RECOVERY)
    assert [check.name for check in found if not check.holds] == [failed]


@pytest.mark.parametrize("recovery", [None, replace(RECOVERY, first_step=None), replace(RECOVERY, cause=Kind.SCALE_UP)])
def test_without_a_recovery_nothing_is_proven(recovery):
    assert [check.name for check in checks(BEFORE, AFTER, recovery) if not check.holds] == ["training"]


def test_a_head_that_was_never_seen_proves_nothing():
    empty = Snapshot("", "", 0, 0, 0, None, "", None)
    assert not holds(checks(empty, empty, RECOVERY))
