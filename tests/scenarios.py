"""Counts the scenarios of each control plane, and keeps those on a rare one together where several processes test."""

from collections import Counter
from pathlib import Path

import pytest

SCENARIOS = pytest.StashKey[Counter]()
FOLDER = Path(__file__).parent / "e2e"
# Each process of a run has these
COMMON = ("embedded", "real")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Before any are left out: the count of one control plane should tell also when the other one runs."""
    # Others may have a parameter of that name, which is something else
    scenarios = [item for item in items if FOLDER in item.path.parents and "cluster" in item.fixturenames]
    config.stash[SCENARIOS] = Counter(item.callspec.params["cluster"] for item in scenarios)
    if hasattr(config, "workeroutput"):
        config.workeroutput["scenarios"] = dict(config.stash[SCENARIOS])
    for item in scenarios:
        if (label := item.callspec.params["cluster"]) not in COMMON:
            item.add_marker(pytest.mark.xdist_group(label))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Where several processes test, the one that reports has collected nothing itself."""
    node.config.stash[SCENARIOS] = Counter(getattr(node, "workeroutput", {}).get("scenarios", {}))


def pytest_terminal_summary(terminalreporter, config):
    """Says how many scenarios there are on each control plane, after a run that had some on the real one."""
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", ()) if report.when == "call"]
    if ran := sum("e2e/" in name and "[real" in name for name in passed):
        found = config.stash.get(SCENARIOS, Counter())
        counts = ", ".join(f"{found[plane]} on {plane}" for plane in sorted(found))
        terminalreporter.write_line(f"Scenarios: {counts}; {ran} passed on real in this run")
