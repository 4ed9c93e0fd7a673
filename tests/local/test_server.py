import json
import os
import resource

from xlaunch.local import server


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


def test_a_caller_that_has_gone_is_no_error(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    server.tell(writing, {"server": "url"})


def test_the_file_limit_is_raised_to_the_hard_one():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        server.raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
