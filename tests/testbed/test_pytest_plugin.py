from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from testbed import pytest_plugin
from testbed.build import NoGoError

ERROR = NoGoError("etcd-3.6.16 is not built yet and there is no Go on PATH")


@pytest.mark.parametrize("value", ["", "false", "0"])
def test_without_go_a_test_is_skipped(value):
    with pytest.raises(pytest.skip.Exception, match=r"needs the real control plane, .*: etcd-3\.6\.16 is not built"):
        pytest_plugin.unavailable(ERROR, {"CI": value})


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_in_ci_it_fails(value):
    with pytest.raises(pytest.fail.Exception, match="there is no Go on PATH"):
        pytest_plugin.unavailable(ERROR, {"CI": value})


MISSES = """
import pytest
from testbed.pytest_plugin import missing

@pytest.mark.parametrize("number", range(2))
def test_of_a_tool(number): missing("kubectl", "there is none on PATH", {})

def test_of_another(): missing("the real control plane", "there is no Go on PATH", {})

def test_that_is_skipped(): pytest.skip("needs more patience")
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_the_end_of_a_run_counts_what_was_missing(pytester, workers):
    pytester.makeconftest('pytest_plugins = ["testbed.pytest_plugin"]')
    pytester.makepyfile(MISSES)
    ran = pytester.runpytest_subprocess(*workers)
    ran.assert_outcomes(skipped=4)
    assert sorted(line.strip("! ") for line in ran.outlines if line.startswith("!")) == [
        "1 SKIPPED for want of the real control plane: there is no Go on PATH",
        "2 SKIPPED for want of kubectl: there is none on PATH",
    ]


def test_a_run_that_misses_nothing_says_nothing():
    assert pytest_plugin.summary(["('x.py', 1, 'Skipped: needs more patience')"]) == []


@pytest.fixture
def stage(tmp_path):
    return pytest_plugin.Stage(lambda: tmp_path, print)


def test_one_thing_runs_at_a_time(stage):
    told = []

    def start(name, stack):
        told.append(f"{name} starts")
        stack.callback(told.append, f"{name} ends")
        return name

    assert [stage.get(name, partial(start, name)) for name in ("a", "a", "b", "a")] == ["a", "a", "b", "a"]
    stage.close()
    assert told == ["a starts", "a ends", "b starts", "b ends", "a starts", "a ends"]


def test_what_does_not_start_is_no_longer_there(stage):
    def broken(stack):
        stack.callback(told.append, "ends")
        raise RuntimeError

    told = []
    with pytest.raises(RuntimeError):
        stage.get("a", broken)
    assert stage.get("b", lambda stack: "b") == "b"
    assert told == ["ends"]


FAILING = """
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

@dataclass(frozen=True)
class Plane:
    broken: bool = False

    @contextmanager
    def running(self, directory, say):
        assert not self.broken
        yield SimpleNamespace(directory=directory)

@pytest.fixture(scope="module")
def elsewhere(stage):
    return stage.get("elsewhere", lambda stack: [stage.launch(Plane(), stack)])

@pytest.mark.real
@pytest.mark.parametrize("control_plane", [Plane(), Plane(broken=True)], indirect=True, ids=["runs", "broken"])
def test_by_the_fixture(control_plane): assert False, control_plane.directory

@pytest.mark.real
@pytest.mark.parametrize("number", [1, 2])
def test_by_another(elsewhere, number): assert False, elsewhere[0].directory

def test_that_could(elsewhere): assert False

@pytest.mark.real
def test_without_any(): assert False
"""


def test_a_failure_names_the_directory_of_the_logs(pytester):
    """Also to a test that comes to its control plane by a fixture of a longer life."""
    pytester.makeini("[pytest]\nmarkers =\n  real: runs there\n  xdist_group: of xdist")
    pytester.makeconftest('pytest_plugins = ["testbed.pytest_plugin"]')
    pytester.makepyfile(FAILING)
    ran = pytester.runpytest_subprocess()
    ran.assert_outcomes(failed=5, errors=1)
    told, test = {}, ""
    for before, line in pairwise(ran.outlines):
        test = line.strip("_ ") if line.startswith("_") else test
        if "Logs of the control plane" in before:
            told[test] = Path(line).name
    assert told == {
        "test_by_the_fixture[runs]": "control-plane0",
        "ERROR at setup of test_by_the_fixture[broken]": "control-plane1",
        "test_by_another[1]": "control-plane2",
        "test_by_another[2]": "control-plane2",
    }


TESTS = """
import pytest

def test_alone(): pass

@pytest.mark.long
def test_long_alone(): pass

@pytest.mark.xdist_group("brief")
@pytest.mark.parametrize("number", range(3))
def test_brief(number): pass

@pytest.mark.xdist_group("lasting")
@pytest.mark.parametrize("number", range(3))
@pytest.mark.long
def test_lasting(number): pass
"""


@pytest.mark.slow
def test_a_group_stays_in_one_process_and_what_lasts_begins_first(pytester):
    """Also with the versions of pytest and xdist that are installed: some lose the groups in silence (xdist#1386)."""
    pytester.makeini("[pytest]\nmarkers =\n  long: lasts")
    pytester.makeconftest('pytest_plugins = ["testbed.pytest_plugin"]')
    pytester.makepyfile(TESTS)
    ran = pytester.runpytest_subprocess("-v", "-n2", "--dist=loadgroup", "--no-loadscope-reorder")
    ran.assert_outcomes(passed=8)
    workers = {}
    for line in ran.outlines:
        if "PASSED" in line and "@" in line:
            worker, name = line.split()[0], line.partition("@")[2].strip()
            workers.setdefault(name, []).append(worker)
    assert {name: len(found) for name, found in workers.items()} == {"brief": 3, "lasting": 3}
    assert {name: len(set(found)) for name, found in workers.items()} == {"brief": 1, "lasting": 1}


def test_in_turn(pytester):
    found = pytester.getitems(TESTS)
    pytest_plugin.in_turn(found)
    names = list(dict.fromkeys(item.name.partition("[")[0] for item in found))
    assert names == ["test_lasting", "test_brief", "test_long_alone", "test_alone"]
