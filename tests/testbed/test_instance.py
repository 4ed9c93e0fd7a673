"""The bookkeeping of components, with small processes in their places."""

import os
import sys

import pytest
from fakes.clock import FakeClock

from testbed.instance import Command, Instance, inherited
from testbed.processes import StartError


@pytest.fixture
def instance(tmp_path):
    instance = Instance(tmp_path, {"kube-apiserver": 1}, FakeClock())
    yield instance
    instance.close()


def sleeper(name, ready=lambda: True):
    return Command(name, [sys.executable, "-c", "import signal; signal.pause()"], ready)


def test_all_start_before_one_is_waited_for(instance):
    running = []
    commands = [sleeper(name, lambda: bool(running.append(len(instance._running)) or True)) for name in "ab"]
    instance.start(*commands)
    assert running == [2, 2]


def test_a_component_sees_its_own_environment_and_directory(instance):
    code = "import os; print(os.environ['WORD'], os.environ['HOME'], os.getcwd())"
    instance.start(Command("a", [sys.executable, "-c", code], lambda: True, {"WORD": "hello"}))
    instance._running["a"].process.wait()
    assert (instance.directory / "a.log").read_text() == f"hello {instance.directory} {instance.directory}\n"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, {"PATH": os.defpath}),
        ({"PATH": "/bin", "GOGC": "400", "HTTPS_PROXY": "x"}, {"PATH": "/bin", "GOGC": "400"}),
        ({"PATH": "/bin", "GOMEMLIMIT": "1GiB"}, {"PATH": "/bin", "GOMEMLIMIT": "1GiB"}),
    ],
)
def test_a_component_has_little_of_its_starters_environment(env, expected):
    assert inherited(env) == expected


def test_stopped_and_resumed(instance):
    instance.start(sleeper("a"))
    first = instance._running["a"].process
    instance.stop("a")
    assert first.returncode is not None
    instance.resume("a")
    second = instance._running["a"].process
    assert second.poll() is None
    instance.restart("a")
    assert (second.returncode is None, instance._running["a"].process.poll()) == (False, None)


def test_closing_ends_all_and_keeps_the_logs(instance):
    instance.start(sleeper("a"), sleeper("b"))
    processes = [each.process for each in instance._running.values()]
    instance.close()
    assert all(process.returncode is not None for process in processes)
    assert (instance.directory / "a.log").exists()
    instance.close()


def test_a_dead_component_fails_whoever_waits_for_another(instance):
    instance.start(Command("dead", [sys.executable, "-c", "print('goodbye')"], lambda: True))
    instance._running["dead"].process.wait()
    with pytest.raises(StartError, match=r"(?s)dead ended with 0.*goodbye"):
        instance.start(sleeper("late", lambda: False))


def test_a_kubeconfig_for_each_user_and_namespace(instance):
    paths = [instance.kubeconfig, instance.admin_of("team"), instance.kubeconfig_of("system:nobody")]
    assert [path.name for path in paths] == [
        "admin-default.kubeconfig",
        "admin-team.kubeconfig",
        "nobody-default.kubeconfig",
    ]
    assert instance.api.namespace == "default"
