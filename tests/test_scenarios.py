"""Each scenario runs on an embedded cluster and on the real one of its kind: no mark may leave one of them out."""

import ast
from pathlib import Path

import pytest
from outages import FAST_NODES

E2E = Path(__file__).parent / "e2e"
TWINS = {"embedded": "real", "embedded+RestartJob": "real+RestartJob", "embedded-fast-nodes": "real-fast-nodes"}
# Runs beside the twins, never in the place of one
ANOTHER = {"real-1.37.2"}
# Only the real scheduler preempts: docs/embedded-cluster-controllers.md
ALONE = [{"real-1.37.2"}]


def marks(path):
    """The labels of each mark `clusters` in a file, with the line where it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.clusters":
            labels = set()
            for each in node.args:
                labels |= set(FAST_NODES) if isinstance(each, ast.Starred) else {ast.literal_eval(each)}
            yield f"{path.name}:{node.lineno}", labels


MARKS = {place: labels for path in sorted(E2E.glob("test_*.py")) for place, labels in marks(path)}


@pytest.mark.parametrize("place", [place for place, labels in MARKS.items() if labels not in ALONE])
def test_a_scenario_runs_on_both(place):
    known = MARKS[place] - ANOTHER
    assert {TWINS[each] for each in known if each in TWINS} == known - TWINS.keys()
    assert known


def test_only_one_runs_on_one_side():
    assert [labels for labels in MARKS.values() if labels in ALONE] == ALONE
