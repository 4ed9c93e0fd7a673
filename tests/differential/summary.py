"""Says after a run how much the differential test has compared: a plugin, so that it also counts what others tested."""

from __future__ import annotations

from typing import Any

from differential.counting import totals

PROPERTY = "differential"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line, after a run with sequences. Reports bring the counts along where several processes test."""
    reports = [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, ())]
    found = [
        value
        for each in reports
        if each.when == "call"
        for name, value in getattr(each, "user_properties", ())
        if name == PROPERTY
    ]
    if found:
        terminalreporter.write_line(totals(found))
