import json
import os
import subprocess
import sys

from xlaunch.local import server, state
from xlaunch.local.state import LocalCluster


def test_every_cluster_has_addresses_of_its_own():
    with server.claim_subnet() as one, server.claim_subnet() as two:
        first, second = server.subnet_of(one), server.subnet_of(two)
        assert first != second
        assert min(first, second) >= 16
    with server.claim_subnet() as again:
        assert server.subnet_of(again) in (first, second)


def test_kubeconfig_has_one_context_and_no_credentials():
    body = json.loads(server.kubeconfig("xlaunch-ci", "http://127.0.0.1:1/secret"))
    assert body["current-context"] == "xlaunch-ci"
    assert body["clusters"] == [{"name": "xlaunch-ci", "cluster": {"server": "http://127.0.0.1:1/secret"}}]
    assert body["users"] == [{"name": "xlaunch-ci", "user": {}}]
    context = {"cluster": "xlaunch-ci", "user": "xlaunch-ci", "namespace": "default"}
    assert body["contexts"] == [{"name": "xlaunch-ci", "context": context}]


def test_a_server_that_cannot_listen_says_why(tmp_path):
    """In a process of its own, whose parent stands for the guardian."""
    state.write(LocalCluster("local", str(tmp_path), "1", "v5litepod-16", 1, 1, 1.0))
    reading, writing = os.pipe()
    code = """
import errno, os, sys
from xlaunch.local import server

async def taken(*_):
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))

server.listen = taken
sys.exit(server.main(sys.argv[1:]))
"""
    argv = [sys.executable, "-c", code, str(tmp_path), str(writing), "0", str(os.getpid())]
    outcome = subprocess.run(argv, pass_fds=[writing], capture_output=True, check=False, timeout=60)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert json.loads(pipe.readline()) == {"error": "Its server cannot listen: Address already in use"}
    assert outcome.returncode == 1
    assert tmp_path.exists()
