from functools import partial

import pytest

from testbed import pytest_plugin
from testbed.build import NoGoError

ERROR = NoGoError("etcd-3.6.16 is not built yet and there is no Go on PATH")


@pytest.mark.parametrize("value", ["", "false", "0"])
def test_without_go_a_test_is_skipped(value):
    with pytest.raises(pytest.skip.Exception, match=r"no real control plane: etcd-3\.6\.16 is not built"):
        pytest_plugin.unavailable(ERROR, {"CI": value})


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_in_ci_it_fails(value):
    with pytest.raises(pytest.fail.Exception, match="there is no Go on PATH"):
        pytest_plugin.unavailable(ERROR, {"CI": value})


def test_the_summary_counts_ours_only():
    ours = f"('conftest.py', 3, 'Skipped: no real control plane: {ERROR}')"
    assert pytest_plugin.summary([ours, "('x.py', 1, 'Skipped: needs kubectl')", ours]) == (
        f"2 tests of the real control plane were SKIPPED: {ERROR}"
    )
    assert pytest_plugin.summary(["('x.py', 1, 'Skipped: needs kubectl')"]) == ""


def test_one_thing_runs_at_a_time():
    told = []

    def start(name, stack):
        told.append(f"{name} starts")
        stack.callback(told.append, f"{name} ends")
        return name

    stage = pytest_plugin.Stage()
    assert [stage.get(name, partial(start, name)) for name in ("a", "a", "b", "a")] == ["a", "a", "b", "a"]
    stage.close()
    assert told == ["a starts", "a ends", "b starts", "b ends", "a starts", "a ends"]


def test_what_does_not_start_is_no_longer_there():
    def broken(stack):
        stack.callback(told.append, "ends")
        raise RuntimeError

    told = []
    stage = pytest_plugin.Stage()
    with pytest.raises(RuntimeError):
        stage.get("a", broken)
    assert stage.get("b", lambda stack: "b") == "b"
    assert told == ["ends"]
