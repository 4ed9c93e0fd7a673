"""Starting the attached agent: whom it waits for, whom it trusts, and what it says where it cannot start."""

import asyncio
from pathlib import Path

import pytest
from fakes.cluster import VirtualClock

from xlaunch.core.errors import NetworkError, UsageError
from xlaunch.core.tpu import lookup
from xlaunch.local.attach import process
from xlaunch.local.attach.__main__ import main
from xlaunch.local.attach.options import Options, parse
from xlaunch.local.kube import StatusError
from xlaunch.local.remote.access import Access

AWAY = StatusError(503, "ServiceUnavailable", "connection refused")
FORBIDDEN = StatusError(403, "Forbidden", "nodes is forbidden")


class Answers:
    """A Kube whose lists of nodes fail so, one after the other, and then succeed."""

    def __init__(self, *errors):
        self.errors = list(errors)

    async def list(self, resource):
        if self.errors:
            raise self.errors.pop(0)
        return [], "1"


def waited(*errors):
    """Seconds until the API server answers."""

    async def go():
        clock = VirtualClock()
        task = asyncio.ensure_future(process.answering(Answers(*errors), clock))
        while not task.done():
            await clock.advance(process.PAUSE)
        task.result()
        return clock.seconds

    return asyncio.run(go())


def test_an_api_server_that_starts_is_waited_for():
    assert waited() <= 1
    assert waited(AWAY, AWAY, AWAY) >= 3


@pytest.mark.parametrize("errors", [[FORBIDDEN], [AWAY, FORBIDDEN], [AWAY] * process.ATTEMPTS])
def test_one_that_refuses_or_stays_away_is_an_error(errors):
    with pytest.raises(NetworkError) as refused:
        waited(*errors)
    assert refused.value.why == errors[-1].message


def wanted(client_ca=None):
    return Options(Path("config"), "", lookup("v5litepod-16"), 1, 1, client_ca)


def test_the_kubeconfigs_authority_is_trusted_unless_another_is_named(tmp_path):
    other = tmp_path / "ca.crt"
    other.write_bytes(b"other")
    assert process.authority_of(wanted(), Access("https://a", authority=b"own")) == b"own"
    assert process.authority_of(wanted(other), Access("https://a", authority=b"own")) == b"other"


@pytest.mark.parametrize(("named", "sentence"), [(None, "names no certificate authority"), ("gone", "cannot be read")])
def test_without_an_authority_nothing_is_served(tmp_path, named, sentence):
    with pytest.raises(UsageError) as refused:
        process.authority_of(wanted(named and tmp_path / named), Access("https://a"))
    assert sentence in refused.value.message


def test_the_command_line():
    found = parse(["--kubeconfig", "k", "--tpu-type", "v5p-32", "--slices", "2", "--heads", "3"])
    assert found == Options(Path("k"), "", lookup("v5p-32"), 2, 3, None, 40)
    assert parse(["--kubeconfig", "k", "--node-lease-seconds", "8"]).lease_seconds == 8


def test_a_type_that_there_is_not_is_told_before_anything_starts(capsys):
    assert main(["--kubeconfig", "k", "--tpu-type", "v99-4"]) == 2
    assert "v99-4" in capsys.readouterr().err
