"""Serving a local cluster: what it starts, what it reports, and that it ends with the first of its components."""

import asyncio
import json
import os
import subprocess

import pytest
from fakes.local import recorded

from testbed import serve
from testbed.control_plane import ControlPlane
from testbed.processes import StartError
from xlaunch.local.plane import REAL, Plane
from xlaunch.local.service import Starter


@pytest.fixture
def cluster(tmp_path):
    return lambda **fields: recorded({"XDG_STATE_HOME": str(tmp_path)}, **{"plane": Plane(REAL), **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ControlPlane()),
        ({"plane": Plane(REAL, "1.37.2", "0.10.1")}, ControlPlane(kubernetes="1.37.2", jobset="0.10.1")),
        ({"feature_gates": ("RestartJob",)}, ControlPlane(gates={"RestartJob": True})),
    ],
)
def test_the_record_says_what_is_started(cluster, fields, expected):
    found = serve.wanted(cluster(**fields))
    assert (found, found.gates) == (expected, expected.gates)


def test_the_first_component_to_end_is_named():
    parts = {name: subprocess.Popen(["sleep", "1000"]) for name in ("etcd", "jobset")}

    async def go():
        first = asyncio.create_task(serve.first_to_end({name: each.pid for name, each in parts.items()}))
        await asyncio.sleep(0)
        parts["jobset"].kill()
        return await first

    try:
        assert asyncio.run(go()) == "jobset"
    finally:
        for each in parts.values():
            each.kill()
            each.wait()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StartError("etcd ended with 1; its log is etcd.log and ends so:\nfirst\nlast "), "etcd ended with 1: last"),
        (StartError("etcd has ended, and the cluster with it"), "etcd has ended, and the cluster with it"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (OSError(), "OSError"),
    ],
)
def test_what_went_wrong_is_one_line(error, words):
    assert serve.sentence(error) == words


def test_a_component_that_does_not_start_is_told(cluster, tmp_path):
    """With a program in etcd's place that ends at once."""
    commands = tmp_path / "ready" / "bin"
    commands.mkdir(parents=True)
    for name, script in {"etcd": "echo no room here; exit 3", "kube-apiserver": "exec sleep 1000"}.items():
        (commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (commands / name).chmod(0o755)
    reading, writing = os.pipe()
    made = cluster(plane=Plane(REAL, binaries=str(tmp_path / "ready")))
    assert serve.until_the_end(made, Starter(writing, 0)) == 1
    with os.fdopen(reading) as pipe:
        told = json.loads(pipe.readline())
    assert told == {"error": "etcd ended with 3: no room here"}
