"""Each line of what was seen on a real control plane has a test that shows it."""

import ast
from pathlib import Path

import pytest
from verified import LINES, SUBJECTS

TESTS = Path(__file__).parent


def marked(path):
    """The ids in a file's marks `verified`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "verified":
            yield from (ast.literal_eval(each) for each in node.args)


MARKED = {line: path.name for path in sorted(TESTS.rglob("test_*.py")) for line in marked(path)}


@pytest.mark.parametrize("line", LINES)
def test_a_line_has_a_test(line):
    assert line in MARKED, LINES[line]


def test_marks_name_lines_that_there_are():
    assert {line: name for line, name in MARKED.items() if line not in LINES} == {}


def test_lines_belong_to_subjects():
    assert {line.partition(".")[0] for line in LINES} == set(SUBJECTS)
