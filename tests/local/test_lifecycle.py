import os
import sys

import pytest
from fakes.local import ME, a_cluster, recorded

from xlaunch.core.errors import NotFoundError, RefusedError, UsageError, XlaunchError
from xlaunch.local import lifecycle, state

SIZE = {"tpu_type": "v5litepod-16", "slices": 2}


@pytest.fixture
def env(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path), "PATH": os.environ["PATH"]}


def running(env, **fields):
    return recorded(env, **{"server": "http://127.0.0.1:1/s", **ME, **fields})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"slices": 0}, "--slices 0 is out of range"),
        ({"slices": 513}, "--slices 513 is out of range"),
        ({"heads": 0}, "--heads 0 is out of range"),
        ({"time_scale": 0}, "--time-scale 0 is out of range"),
        ({"time_scale": 2}, "--time-scale 2 is out of range"),
        ({"tpu_type": "v9-1"}, "v9-1 is not a TPU type"),
        ({"tpu_type": "v5litepod-256", "slices": 40}, "40 slices of v5litepod-256 have 2560 hosts"),
        ({"name": "A"}, "'A' cannot name a local cluster"),
        ({"feature_gates": ["RestartJobs"]}, "--feature-gate RestartJobs is not one that a local cluster can turn on"),
    ],
)
def test_requests_that_make_no_cluster(env, fields, words):
    wanted = {"name": "local", **SIZE, **fields}
    with pytest.raises(UsageError) as error:
        lifecycle.start(wanted.pop("name"), **wanted, env=env)
    assert words in error.value.message
    assert state.directories(env) == []


def test_find(env):
    with pytest.raises(NotFoundError) as error:
        lifecycle.find("local", env)
    assert (error.value.code, error.value.next) == (3, "xlaunch local up")
    made = running(env)
    assert lifecycle.find("local", env) == made
    assert lifecycle.clusters(env) == [made]


@pytest.mark.parametrize("fields", [{"pid": 2**22 + 1}, {"server": ""}], ids=["dead", "starting"])
def test_a_cluster_that_does_not_serve_is_not_found(env, fields):
    running(env, **fields)
    with pytest.raises(NotFoundError):
        lifecycle.find("local", env)
    assert lifecycle.clusters(env) == []


def test_ensure_uses_the_running_one_in_silence(env):
    made, notices = running(env, slices=3), []
    assert lifecycle.ensure("local", **SIZE, env=env, notice=notices.append) == made
    assert notices == []


@pytest.mark.parametrize(
    ("asked", "kept"), [("", ""), ("ct6e-standard-4t", ""), ("ct6e-standard-8t", "ct6e-standard-8t")]
)
def test_the_usual_machine_needs_no_mention(env, monkeypatch, asked, kept):
    begun = []
    monkeypatch.setattr(lifecycle, "_start", lambda wanted, *args, **options: begun.append(wanted))
    lifecycle.start("local", tpu_type="v6e-8", slices=1, machine_type=asked, env=env)
    assert begun[0].machine_type == kept


@pytest.mark.parametrize("time_scale", [None, 0.1])
def test_ensure_takes_the_time_scale_as_it_runs(env, time_scale):
    made = running(env, time_scale=0.1)
    assert lifecycle.ensure("local", **SIZE, time_scale=time_scale, env=env, notice=print) == made


def test_ensure_asks_for_the_gates_and_takes_one_that_has_more(env):
    made = running(env)
    with pytest.raises(RefusedError, match="without JobSet's feature gate RestartJob"):
        lifecycle.ensure("local", **SIZE, feature_gates=["RestartJob"], env=env, notice=print)
    gated = running(env, name="gated", feature_gates=("RestartJob",))
    assert lifecycle.ensure("gated", **SIZE, feature_gates=["RestartJob"], env=env, notice=print) == gated
    assert lifecycle.ensure("gated", **SIZE, env=env, notice=print) == gated
    assert lifecycle.find("local", env) == made


def test_ensure_does_not_change_the_time_scale(env):
    running(env, time_scale=0.1)
    with pytest.raises(RefusedError, match=r"runs with --time-scale 0\.1") as error:
        lifecycle.ensure("local", **SIZE, time_scale=0.5, env=env, notice=print)
    assert error.value.next.endswith("xlaunch local up --tpu-type v5litepod-16 --slices 2 --time-scale 0.5")


def test_a_state_home_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(XlaunchError, match=r"cannot be kept in .*: Not a directory") as error:
        lifecycle.stop("local", {"XDG_STATE_HOME": str(tmp_path / "file")})
    assert error.value.next.startswith("export XDG_STATE_HOME=")


def test_start_refuses_a_name_that_is_taken(env):
    running(env)
    with pytest.raises(RefusedError, match="The embedded cluster local runs already"):
        lifecycle.start("local", **SIZE, env=env)


def test_stop_needs_a_running_cluster(env):
    with pytest.raises(NotFoundError):
        lifecycle.stop("local", env)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("import sys; sys.exit('no luck today')", "Its server ended: no luck today"),
        ("pass", "Its server ended: its log is empty"),
        (
            'import os, sys; os.write(int(sys.argv[-2]), b\'{"error": "Its server cannot listen: in use"}\\n\')',
            "Its server cannot listen: in use",
        ),
    ],
)
def test_a_server_that_does_not_come_up(env, tmp_path, monkeypatch, script, why):
    """The guardian's interpreter is replaced by one that does as the script says."""
    fake = tmp_path / "python"
    fake.write_text(f"#!{sys.executable}\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(lifecycle.sys, "executable", str(fake))
    with pytest.raises(XlaunchError, match="The embedded cluster local did not start") as error:
        lifecycle.start("local", **SIZE, env=env)
    assert (error.value.code, error.value.why) == (1, why)
    assert error.value.next == "xlaunch local up --tpu-type v5litepod-16 --slices 2"
    assert state.directories(env) == []


def test_an_interruption_while_it_starts_takes_everything_back(env, tmp_path, monkeypatch):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexec sleep 1000\n")
    fake.chmod(0o755)
    monkeypatch.setattr(lifecycle.sys, "executable", str(fake))

    def interrupted(descriptor):
        os.close(descriptor)
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle, "_await_ready", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.start("local", **SIZE, env=env)
    assert state.directories(env) == []


def test_what_was_swept_is_said(env, monkeypatch):
    running(env, name="old", pid=2**22 + 1)
    notices = []
    started = a_cluster()
    monkeypatch.setattr(lifecycle, "_start", lambda *args, **options: started)
    assert lifecycle.ensure("local", **SIZE, env=env, notice=notices.append) == started
    assert notices == [
        "Removed what was left of the local cluster old.",
        "Started the embedded cluster local: 2 slices of v5litepod-16 and 1 CPU node.",
    ]
