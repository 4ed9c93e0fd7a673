"""What the servers of all local clusters have in common."""

import json
import os
import resource
import stat

import pytest
from fakes.local import ME, recorded

from xlaunch.local import service, state
from xlaunch.local.plane import REAL, Plane


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


@pytest.fixture
def cluster(tmp_path):
    return recorded({"XDG_STATE_HOME": str(tmp_path)}, plane=Plane(REAL))


def said(reading):
    return json.loads(os.read(reading, 1000))


def test_the_record_leads_to_what_serves_before_anybody_is_told(cluster, pipe):
    lock = os.open(os.devnull, os.O_RDONLY)
    service.Starter(pipe[1], lock).serving(cluster, "https://here", "a kubeconfig", Plane(REAL, "1.35.4", "0.12.0"))
    assert said(pipe[0]) == {"server": "https://here"}
    record = state.read(cluster.path)
    assert (record.server, record.server_pid, record.plane.kubernetes) == ("https://here", os.getpid(), "1.35.4")
    assert record.kubeconfig.read_text() == "a kubeconfig"
    assert stat.S_IMODE(record.kubeconfig.stat().st_mode) == 0o600
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(lock)


def test_a_control_plane_that_needs_no_telling_stays_as_recorded(cluster, pipe):
    service.Starter(pipe[1], os.open(os.devnull, os.O_RDONLY)).serving(cluster, "https://here", "")
    assert state.read(cluster.path).plane == Plane(REAL)


def test_one_report_and_no_more(cluster, pipe):
    """A descriptor that was closed may be somebody else's by then."""
    starter = service.Starter(pipe[1], os.open(os.devnull, os.O_RDONLY))
    starter.serving(cluster, "https://here", "")
    other = os.open(os.devnull, os.O_RDONLY)
    assert other == pipe[1]
    starter.failed("etcd has ended")
    os.fstat(other)
    os.close(other)
    assert said(pipe[0]) == {"server": "https://here"}
    assert os.read(pipe[0], 1) == b""


def test_a_failure_is_a_sentence(pipe):
    service.Starter(pipe[1], 0).failed("It cannot listen")
    assert said(pipe[0]) == {"error": "It cannot listen"}


def test_a_caller_that_has_gone_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    service.Starter(writing, 0).failed("nobody hears this")


def test_a_server_whose_guardian_is_dead_already_serves_nobody_and_leaves_nothing(tmp_path, monkeypatch):
    made = recorded({"XDG_STATE_HOME": str(tmp_path)}, **ME)
    monkeypatch.setattr(service.procs, "become_subreaper", lambda: None)
    monkeypatch.setattr(service.procs, "die_with_parent", lambda guardian: False)
    monkeypatch.setattr(service.procs, "end_descendants", lambda: None)
    served = []
    assert service.run([str(made.path), "8", "9", "1"], lambda *started: served.append(started)) == 0
    assert served == []
    assert state.directories({"XDG_STATE_HOME": str(tmp_path)}) == []


def test_the_file_limit_is_raised_to_the_hard_one():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        service.raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
