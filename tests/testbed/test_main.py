import pytest
from fakes.binaries import filled

from testbed import __main__, binaries
from testbed.__main__ import main
from testbed.build import Build
from testbed.control_plane import ControlPlane


def test_a_label_that_there_is_not(capsys):
    assert main(["build", "jobset-9.9", "etcd-1"]) == 1
    assert capsys.readouterr() == ("", "The test bed has no etcd-1, jobset-9.9\n")


def test_a_build_without_go(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["build", "etcd-3.6.16"]) == 1
    assert capsys.readouterr().err.endswith("there is no Go on PATH; install Go 1.26 or newer\n")


def test_a_control_plane_is_exported(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(__main__, "build", lambda each, env, say: Build(filled(tmp_path / each.label, each)))
    assert main(["export", str(tmp_path / "ready"), "--kubernetes=1.37.2"]) == 0
    assert capsys.readouterr().out == f"kubernetes-1.37.2+jobset-0.12.0: {tmp_path / 'ready'}\n"
    assert binaries.missing(tmp_path / "ready", ControlPlane().upstreams().values()) == []


@pytest.mark.parametrize("argv", [["up", "--kubernetes=1.0"], ["up", "--jobset=9"], [], ["down"]])
def test_a_wrong_line_is_refused_before_anything_starts(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert "usage: python -m testbed" in capsys.readouterr().err
