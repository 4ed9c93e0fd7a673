"""What pods ask for."""

from decimal import Decimal

import pytest

from xlaunch.local.controllers.scheduler.requests import host_ports, pod_requests, ports_collide


def container(cpu, *, sidecar=False, ports=()):
    return {
        "resources": {"requests": {"cpu": cpu}},
        **({"restartPolicy": "Always"} if sidecar else {}),
        "ports": [{"containerPort": port, "hostPort": port} for port in ports],
    }


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, "1.5"),
        ({"containers": [container("1")], "initContainers": [container("3")]}, "3"),
        ({"containers": [container("1")], "initContainers": [container("2", sidecar=True)]}, "3"),
        ({"containers": [container("1")], "initContainers": [container("2", sidecar=True), container("4")]}, "6"),
        ({"containers": [container("1")], "initContainers": [container("4"), container("2", sidecar=True)]}, "4"),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, "1.25"),
    ],
)
def test_the_requests_of_a_pod(spec, cpu):
    assert pod_requests(spec) == {"cpu": Decimal(cpu)}


def test_a_container_that_asks_for_nothing():
    assert pod_requests({"containers": [{}]}) == {}


def test_host_ports_of_all_containers():
    spec = {"containers": [container("1", ports=[80])], "initContainers": [container("1", sidecar=True, ports=[29001])]}
    assert host_ports(spec) == {("TCP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 29001)}
    assert host_ports({"containers": [{"ports": [{"containerPort": 80}]}]}) == set()


@pytest.mark.parametrize(
    ("wanted", "taken", "collide"),
    [
        (("TCP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 80), True),
        (("TCP", "10.0.0.1", 80), ("TCP", "0.0.0.0", 80), True),
        (("TCP", "10.0.0.1", 80), ("TCP", "10.0.0.2", 80), False),
        (("UDP", "0.0.0.0", 80), ("TCP", "0.0.0.0", 80), False),
        (("TCP", "0.0.0.0", 81), ("TCP", "0.0.0.0", 80), False),
    ],
)
def test_ports_that_collide(wanted, taken, collide):
    assert ports_collide({wanted}, {taken}) == collide
