import os
import subprocess

import pytest
from fakes.local import DEAD, ME, recorded

from xlaunch.local import state
from xlaunch.local.leftovers import container_processes, remember_process, sweep


@pytest.fixture
def env(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path)}


@pytest.fixture
def sleeper():
    """Starts processes that only end by a signal, and ends them after the test."""
    started = []

    def start(**env):
        started.append(subprocess.Popen(["sleep", "1000"], env={"PATH": os.environ["PATH"], **env}))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.wait()


def test_sweep_ends_what_dead_clusters_left_and_nothing_else(env, sleeper):
    live = recorded(env, "live", **ME)
    dead = recorded(env, "dead", **DEAD)
    marked = sleeper(**{state.MARKER: dead.id})
    noted, other, reused = sleeper(), sleeper(**{state.MARKER: live.id}), sleeper()
    remember_process(dead.path, noted.pid)
    with (dead.path / "processes").open("a") as file:
        file.write(f"{reused.pid} 1\n{2**22 + 1} 5\nhalf")
    assert sweep(env) == ["dead"]
    assert [each.wait(20) for each in (marked, noted)] == [-9, -9]
    assert [each.poll() for each in (other, reused)] == [None, None]
    assert [path.name for path in state.directories(env)] == ["live"]


def test_sweep_removes_a_directory_that_never_got_a_record(env):
    (state.root(env) / "begun").mkdir(parents=True)
    assert sweep(env) == []
    assert state.directories(env) == []


def test_sweep_keeps_what_is_being_taken_down(env):
    """Its guardian lives and is at work on it."""
    hidden = state.retire(recorded(env, **ME).path)
    assert sweep(env) == []
    assert hidden.exists()


def test_sweep_takes_what_was_left_in_the_middle_of_the_clean_up(env):
    made = recorded(env, **DEAD)
    hidden = state.retire(made.path)
    assert sweep(env) == ["local"]
    assert not hidden.exists()


def test_processes_of_a_cluster_that_started_none(tmp_path):
    assert container_processes(tmp_path) == []
