"""The starter, in a Python of its own: wrong flags end with one sentence."""

import socket
import subprocess
import sys

import pytest

from xlaunch.local.rehearsal.images import RUN


def run(*argv):
    return subprocess.run(
        [sys.executable, "-I", str(RUN), *argv],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"XLAUNCH_POD_IP": "127.0.0.1"},
    )


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["resource_manager", "--instance_type=tpuv5e"], "--instance_type=tpuv5e is not <type>:<topology>"),
        (["resource_manager", "--instance_count=x", "--instance_type=t:1"], "invalid literal for int()"),
        (["proxy", "--server_port=0"], "'' is not host:port"),
        (["worker", "--server_port=0", "--resource_manager_address=head"], "'head' is not host:port"),
    ],
)
def test_a_wrong_flag(argv, sentence):
    done = run(*argv)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("worker", f"--server_port={port}", "--resource_manager_address=127.0.0.1:1")
    assert done.returncode == 1
    assert "worker: [Errno 98] Address already in use" in done.stderr
    assert "Traceback" not in done.stderr
