"""Directories of ready binaries: what one lacks is named, and an exported one lacks nothing."""

import pytest
from fakes.binaries import filled

from testbed import binaries
from testbed.build import Build
from testbed.control_plane import ControlPlane

UPSTREAMS = list(ControlPlane().upstreams().values())


def test_everything_is_missing_in_an_empty_directory(tmp_path):
    assert binaries.missing(tmp_path, UPSTREAMS) == [
        "bin/etcd",
        "bin/kube-apiserver",
        "bin/kube-controller-manager",
        "bin/kube-scheduler",
        "bin/jobset",
        "files/config/components/crd/bases/",
        "files/config/components/webhook/",
    ]


def test_an_exported_directory_lacks_nothing(tmp_path):
    builds = [Build(filled(tmp_path / each.label, each)) for each in UPSTREAMS]
    for _ in range(2):  # also over one that is there
        binaries.export(builds, tmp_path / "all")
    assert binaries.missing(tmp_path / "all", UPSTREAMS) == []
    assert (tmp_path / "all" / "bin" / "etcd").stat().st_mode & 0o111


@pytest.mark.parametrize("spoil", ["not executable", "empty directory"])
def test_what_cannot_be_used_is_missing(tmp_path, spoil):
    filled(tmp_path, *UPSTREAMS)
    if spoil == "not executable":
        (tmp_path / "bin" / "etcd").chmod(0o644)
        assert binaries.missing(tmp_path, UPSTREAMS) == ["bin/etcd"]
    else:
        (tmp_path / "files/config/components/webhook/a.yaml").unlink()
        assert binaries.missing(tmp_path, UPSTREAMS) == ["files/config/components/webhook/"]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (b"\0path\ta.io/x\nmod\ta.io/x\tv1.2.3-rc.1\t\ndep\ta.io/xy\tv9\th1:z=\n", "1.2.3-rc.1"),
        (b"mod\tmine\t(devel)\ndep\ta.io/x\tv1.2.3\th1:z=\n\xff", "1.2.3"),
        (b"mod\ta.io/x\t(devel)\n", ""),
        (b"mod\taXio/x\tv1.2.3\n", ""),
    ],
)
def test_a_go_program_tells_its_version(tmp_path, text, version):
    (tmp_path / "program").write_bytes(text)
    assert binaries.version_of(tmp_path / "program", "a.io/x") == version
