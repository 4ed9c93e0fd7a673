"""The stand-ins run in any Python >= 3.8 that a pod may have, without a package."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "xlaunch" / "local" / "rehearsal"
FILES = sorted(ROOT.rglob("*.py"))
OWN = ("xlaunch.local.rehearsal", "_xlaunch_shim")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_syntax_is_that_of_python_3_8(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_annotations_are_not_evaluated(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    annotated = any(isinstance(node, ast.arg) and node.annotation for node in ast.walk(tree))
    future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert future or not annotated


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_standard_library_is_imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        else:
            continue
        foreign = [
            name for name in names if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(OWN)
        ]
        assert not foreign


NEWER = {"removeprefix", "removesuffix", "UTC", "is_relative_to", "bit_count", "pairwise"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_newer_names(path):
    used = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    imported = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert not NEWER & (used | imported)
