"""Imports point downwards only, and heavy libraries are imported where they are used."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "xlaunch"
ORDER = ["core", "local", "cluster", "demo", "cli"]
HEAVY = {
    "kubernetes",
    "google",
    "rich",
    "jinja2",
    "yaml",
    "aiohttp",
    "dotenv",
    "urllib3",
    "requests",
    "pydantic",
}
CORE_NEVER = {
    "kubernetes",
    "google",
    "rich",
    "typer",
    "aiohttp",
    "urllib3",
    "requests",
    "socket",
    "subprocess",
    "threading",
}
# These processes are started for nothing else: there aiohttp may stand at the top
SERVER = ("local/apiserver/", "local/server.py", "local/attach/", "local/remote/")
# The parts of the embedded cluster. None imports another: they share core and the modules directly in local, which
# import none of them. `server.py` puts them together, and `attach` those that a real control plane needs. That
# rehearsal imports nothing else has a test of its own
PARTS = ("apiserver", "controllers", "node", "rehearsal", "remote")
WHOLE = ("server.py", "attach")


def modules():
    return sorted(ROOT.rglob("*.py"))


def imports(path, top_only):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_only else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def layer(name):
    parts = name.split(".")
    return ORDER.index(parts[1]) if parts[0] == "xlaunch" and len(parts) > 1 and parts[1] in ORDER else None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path):
    here = layer(".".join(["xlaunch", *path.relative_to(ROOT).parts]))
    if here is None:
        return
    upwards = [name for name in imports(path, top_only=False) if (layer(name) or 0) > here]
    assert not upwards, f"{path} imports {upwards} from a layer above it"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_libraries_are_imported_where_they_are_used(path):
    place = path.relative_to(ROOT).as_posix()
    heavy = {name for name in imports(path, top_only=True) if name.split(".")[0] in HEAVY}
    if place.startswith(SERVER):
        heavy = {name for name in heavy if not name.startswith("aiohttp")}
    assert not heavy, f"{place} imports {heavy} at the top"


TESTBED = ROOT.parent / "testbed"


@pytest.mark.parametrize("path", sorted(TESTBED.glob("*.py")), ids=lambda path: path.name)
def test_the_test_bed_stands_between_cluster_and_demo(path):
    ours = {name for name in imports(path, top_only=False) if name.startswith("xlaunch.")}
    assert {name for name in ours if layer(name) is None or layer(name) > ORDER.index("cluster")} == set()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_imports_the_test_bed_and_only_where_it_is_used(path):
    """The guardian starts it by its name; everything else must work, and start, without it."""
    own = path.relative_to(ROOT).parts[0]
    assert not [name for name in imports(path, top_only=own == "cli") if is_of_testbed(name)]


def is_of_testbed(name):
    return name.split(".")[0] == "testbed"


def parts_of_local(path):
    """What a module imports of `xlaunch.local`: names of packages, and of modules that lie directly in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[2] for name in names if name.startswith("xlaunch.local."))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "local").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT / "local"))
)
def test_the_parts_of_local_know_each_other_only_through_the_whole(path):
    own = path.relative_to(ROOT / "local").parts[0]
    if own not in WHOLE:
        assert not set(parts_of_local(path)) & {*PARTS, "server", "guardian", "attach"} - {own}


@pytest.mark.parametrize("path", sorted((ROOT / "core").rglob("*.py")), ids=lambda path: path.name)
def test_core_is_pure(path):
    impure = {name for name in imports(path, top_only=False) if name.split(".")[0] in CORE_NEVER}
    assert not impure


def test_every_module_has_a_subject_and_about_250_lines():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert not long
