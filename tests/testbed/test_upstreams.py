import re
from pathlib import Path

import pytest

from testbed.control_plane import ControlPlane
from testbed.upstreams import MODULES, UPSTREAMS, find, versions


def test_every_module_is_an_upstream_and_every_upstream_a_module():
    assert sorted(each.label for each in UPSTREAMS) == sorted(path.name for path in MODULES.iterdir())


@pytest.mark.parametrize("upstream", UPSTREAMS, ids=lambda upstream: upstream.label)
def test_go_mod_and_go_sum_pin_that_version(upstream):
    module = (upstream.directory / "go.mod").read_text(encoding="utf-8")
    assert module.startswith(f"module testbed/{upstream.label}\n")
    assert re.search(
        rf"^\s+{re.escape(upstream.module)} v{re.escape(upstream.version)}( // indirect)?$", module, re.MULTILINE
    )
    sums = (upstream.directory / "go.sum").read_text(encoding="utf-8")
    assert f"{upstream.module} v{upstream.version} h1:" in sums
    for package in upstream.commands.values():
        assert package in module.partition("\ntool ")[2]


def test_every_digest_is_its_own():
    digests = {each.digest() for each in UPSTREAMS}
    assert len(digests) == len(UPSTREAMS)
    assert all(re.fullmatch("[0-9a-f]{12}", digest) for digest in digests)


def test_the_first_version_is_the_default():
    assert find("kubernetes").version == versions("kubernetes")[0] == "1.35.4"
    assert find("jobset", "0.10.1").label == "jobset-0.10.1"


def test_a_version_that_there_is_not_names_those_that_there_are():
    with pytest.raises(LookupError, match=r"no jobset-9\.9; it has .*jobset-0\.11\.1"):
        find("jobset", "9.9")


@pytest.mark.parametrize(
    ("plane", "labels", "name"),
    [
        (ControlPlane(), ["etcd-3.6.16", "kubernetes-1.35.4", "jobset-0.12.0"], "kubernetes-1.35.4+jobset-0.12.0"),
        (ControlPlane(jobset=""), ["etcd-3.6.16", "kubernetes-1.35.4"], "kubernetes-1.35.4"),
        (
            ControlPlane(kubernetes="1.37.2", gates={"RestartJob": True, "ElasticJobSet": False}, kueue=True),
            ["etcd-3.6.16", "kubernetes-1.37.2", "jobset-0.12.0", "kueue-0.17.0"],
            "kubernetes-1.37.2+jobset-0.12.0+kueue-0.17.0+RestartJob",
        ),
        (
            ControlPlane(jobset="0.11.1", kwok=True),
            ["etcd-3.6.16", "kubernetes-1.35.4", "jobset-0.11.1", "kwok-0.8.0"],
            "kubernetes-1.35.4+jobset-0.11.1+kwok-0.8.0",
        ),
    ],
)
def test_a_control_plane_knows_what_it_is_built_from(plane, labels, name):
    assert [each.label for each in plane.upstreams().values()] == labels
    assert str(plane) == name


def test_the_same_parameters_are_the_same_control_plane():
    assert ControlPlane(gates={"RestartJob": True}) == ControlPlane(gates={"RestartJob": True})
    assert hash(ControlPlane(gates={"RestartJob": True})) == hash(ControlPlane(gates={"RestartJob": True}))
    assert ControlPlane(gates={"RestartJob": True}) != ControlPlane(gates={"RestartJob": False})


def test_make_builds_all_of_them():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    [named] = re.findall(r"^BUILDS := (.*)$", makefile, re.MULTILINE)
    more = re.findall(r"\$\(addprefix build-,\$\(BUILDS\) (.*)\)", makefile)
    assert sorted([*named.split(), *more]) == sorted(each.label for each in UPSTREAMS)
