import json
import os
import stat
import subprocess
import sys

import pytest
from fakes.local import DEAD, ME, recorded

from xlaunch.core.errors import RefusedError, UsageError
from xlaunch.local import state


@pytest.fixture
def env(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/xlaunch/clusters"),
        ({"HOME": "/h"}, "/h/.local/state/xlaunch/clusters"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/xlaunch/clusters"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/xlaunch/clusters"),
    ],
)
def test_root(env, expected):
    assert str(state.root(env)) == expected


@pytest.mark.parametrize("name", ["local", "a", "ci-1", "x" * 32])
def test_good_names(name):
    assert state.check_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", "a-", "A", "x" * 33, "a b", ".hidden", "ü"])
def test_bad_names(name):
    with pytest.raises(UsageError):
        state.check_name(name)


def test_linux_only(monkeypatch):
    state.require_linux("linux")
    with pytest.raises(RefusedError, match=r"runs on Linux 5\.3 or newer only"):
        state.require_linux("darwin")

    def missing(pid):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(state.os, "pidfd_open", missing)
    with pytest.raises(RefusedError):
        state.require_linux("linux")


def test_records_come_back(env):
    made = recorded(env, heads=2, **ME)
    assert state.read(made.path) == made
    assert state.records(env) == [made]


def test_records_of_dead_clusters_are_left_out(env):
    recorded(env, **DEAD)
    assert state.records(env) == []


def test_a_directory_that_was_moved_knows_where_it_is(env):
    made = recorded(env, **ME)
    moved = made.path.rename(made.path.with_name("elsewhere"))
    assert state.read(moved).path == moved


def test_no_record(env, tmp_path):
    assert state.directories(env) == []
    assert state.read(tmp_path) is None
    (tmp_path / "cluster.json").write_text("{ half")
    assert state.read(tmp_path) is None


def test_a_file_in_the_place_of_the_directories_holds_no_cluster(tmp_path):
    (tmp_path / "file").touch()
    assert state.directories({"XDG_STATE_HOME": str(tmp_path / "file")}) == []
    assert state.read(tmp_path / "file" / "local") is None


def test_a_newer_format_is_refused(env):
    made = recorded(env)
    body = {**json.loads((made.path / "cluster.json").read_text()), "format": 3, "unheard_of": True}
    (made.path / "cluster.json").write_text(json.dumps(body))
    with pytest.raises(RefusedError, match="was started by a newer xlaunch") as error:
        state.read(made.path)
    assert error.value.code == 4
    assert "format 3" in error.value.why


def test_files_are_private_and_replaced_at_once(tmp_path):
    path = tmp_path / "kubeconfig"
    state.replace_file(path, "one")
    state.replace_file(path, "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_left_by_a_killed_writer_is_no_obstacle(tmp_path):
    (tmp_path / f".f.{os.getpid()}").write_text("half")
    state.replace_file(tmp_path / "f", "whole")
    assert (tmp_path / "f").read_text() == "whole"


def test_retire_frees_the_name(env):
    made = recorded(env, **ME)
    hidden = state.retire(made.path)
    assert not made.path.exists()
    assert state.read(hidden).name == "local"
    assert state.records(env) == []
    state.remove(hidden)
    state.remove(hidden)
    assert state.directories(env) == []
    assert state.retire(made.path).name.startswith(".local.")


def test_the_lock_is_held_by_one(env):
    with state.lock(env):
        again = subprocess.run(["flock", "-n", state.root(env) / ".lock", "true"], check=False)
        assert again.returncode == 1
    assert subprocess.run(["flock", "-n", state.root(env) / ".lock", "true"], check=False).returncode == 0


def test_not_running_names_the_line_to_type():
    assert state.not_running("local").next == "xlaunch local up"
    assert state.not_running("ci").next == "xlaunch local up --name ci"
    assert state.not_running("ci").code == 3


def test_importing_it_costs_no_server():
    script = "import sys, xlaunch.local.state; print(sorted({'aiohttp', 'asyncio', 'kubernetes'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
