"""The cache of builds, with a `go` of our own that writes down what it was asked."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from worlds import until

from testbed.build import BuildError, NoGoError, build, cache_of, place
from testbed.upstreams import find
from xlaunch.local import procs

JOBSET = find("jobset", "0.12.0")

# Answers `go list` with a module directory, and writes a binary that says which package it is
GO = """#!/bin/sh
echo "$@ GOGC=$GOGC" >> "$CALLS"
if [ "$1" = list ]; then echo "{\\"Dir\\": \\"$MODULE\\"}"; exit; fi
[ -z "$SLOW" ] || { echo > "$SLOW"; sleep 1000; }
[ -z "$BROKEN" ] || { echo "syntax error" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
sleep 0.1
echo "$3" > "$2"
"""


@pytest.fixture
def env(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "go").write_text(GO)
    (tools / "go").chmod(0o755)
    module = tmp_path / "module"
    for name in JOBSET.files:
        (module / name).mkdir(parents=True)
        (module / name / "a.yaml").write_text("kind: A\n")
        (module / name / "a.yaml").chmod(0o444)
    return {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "CALLS": str(tmp_path / "calls"),
        "MODULE": str(module),
    }


def calls(env):
    return Path(env["CALLS"]).read_text(encoding="utf-8").splitlines()


def test_a_build_has_binaries_and_files(env):
    made = build(JOBSET, env)
    assert made.binary("jobset").read_text() == "sigs.k8s.io/jobset\n"
    assert (made.file("config/components/crd/bases") / "a.yaml").read_text() == "kind: A\n"
    assert made.directory == place(JOBSET, cache_of(env))


def test_every_command_of_an_upstream_is_built(env):
    made = build(find("kubernetes"), env)
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        assert made.binary(name).read_text() == f"k8s.io/kubernetes/cmd/{name}\n"
    assert all("-mod=readonly" in call and "gitVersion=v1.35.4" in call for call in calls(env))


@pytest.mark.parametrize(("own", "expected"), [({}, "400"), ({"GOGC": "50"}, "50")])
def test_the_compiler_may_use_memory_unless_the_user_says_otherwise(env, own, expected):
    build(JOBSET, env | own)
    assert calls(env)[0].endswith(f" GOGC={expected}")


def test_a_finished_build_needs_no_go_and_says_nothing(env):
    build(JOBSET, env)
    said = []
    assert build(JOBSET, {**env, "PATH": ""}, say=said.append).binary("jobset").exists()
    assert said == []
    assert len(calls(env)) == 2


def test_without_go_it_says_what_to_install(env):
    with pytest.raises(NoGoError, match=r"jobset-0\.12\.0 is not built yet and there is no Go on PATH"):
        build(JOBSET, {**env, "PATH": ""})


def test_a_failed_build_leaves_nothing_that_looks_whole(env):
    with pytest.raises(BuildError, match="syntax error"):
        build(JOBSET, {**env, "BROKEN": "1"})
    assert not place(JOBSET, cache_of(env)).exists()
    assert build(JOBSET, env).binary("jobset").exists()


def test_what_a_dead_builder_left_is_thrown_away(env):
    part = cache_of(env) / (place(JOBSET, cache_of(env)).name + ".part")
    (part / "bin").mkdir(parents=True)
    (part / "bin" / "stray").write_text("half")
    made = build(JOBSET, env)
    assert sorted(path.name for path in (made.directory / "bin").iterdir()) == ["jobset"]


def test_builders_at_once_build_once(env):
    code = "import sys; from testbed.__main__ import main; sys.exit(main(['build', 'jobset-0.12.0']))"
    builders = [subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [builder.wait() for builder in builders] == [0, 0, 0]
    assert [call.split()[0] for call in calls(env)] == ["build", "list"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_builder_that_is_ended_takes_go_along(env, tmp_path, number):
    begun = tmp_path / "begun"
    argv = [sys.executable, "-m", "testbed", "build", "jobset-0.12.0"]
    with subprocess.Popen(argv, env={**env, "SLOW": str(begun)}, stderr=subprocess.DEVNULL) as builder:
        until(begun.exists, "the compiler to begin")
        below = procs.descendants(builder.pid, procs.processes())
        started = {pid: procs.start_of(pid) for pid in below}
        builder.send_signal(number)
    assert started
    go = min(started)
    until(lambda: not procs.is_running(go, started[go]), "Go to end")
    if number == signal.SIGTERM:  # who is killed removes nothing; the next builder does
        assert [path.name for path in cache_of(env).iterdir() if path.is_dir()] == []
        assert [pid for pid, start in started.items() if procs.is_running(pid, start)] == []
    for pid in started:
        procs.kill(pid)


def test_another_flag_is_another_build():
    assert replace(JOBSET, variables={"main.x": "1"}).digest() != JOBSET.digest()
    assert replace(JOBSET, files=()).digest() != JOBSET.digest()


def test_the_cache_follows_xdg(tmp_path):
    assert cache_of({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "xlaunch" / "testbed"
    assert cache_of({"XDG_CACHE_HOME": ""}).parts[-3:] == (".cache", "xlaunch", "testbed")
