import ipaddress
from datetime import UTC, datetime

import pytest

from xlaunch.core.conditions import is_true
from xlaunch.core.tpu import lookup
from xlaunch.local.node import nodes

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tpu_type", "slices", "heads", "count"),
    [("v5litepod-16", 3, 1, 13), ("v5litepod-8", 2, 2, None), ("v5p-32", 1, 1, 5)],
)
def test_plan(tpu_type, slices, heads, count):
    tpu = lookup(tpu_type)
    found = nodes.plan(tpu, slices, heads, 77)
    assert len(found) == heads + slices * tpu.hosts
    assert count in (None, len(found))
    assert len({each.name for each in found}) == len({each.address for each in found}) == len(found)
    assert {each.pool for each in found} == {"cpu-np", *(f"tpu-{index}" for index in range(slices))}


def test_addresses_stay_in_the_subnet_and_apart_from_pods():
    given = {nodes.address(77, index) for index in range(2560)} | {
        nodes.pod_address(77, index) for index in range(2560)
    }
    assert len(given) == 5120
    assert all(ipaddress.ip_address(each) in ipaddress.ip_network("127.77.0.0/16") for each in given)


def test_pod_addresses_are_used_again():
    assert nodes.pod_address(77, 127 * 250) == nodes.pod_address(77, 0)
    assert ipaddress.ip_address(nodes.pod_address(77, 127 * 250 - 1)) in ipaddress.ip_network("127.77.0.0/16")


def test_a_tpu_node():
    body = nodes.node(nodes.plan(lookup("v5litepod-16"), 1, 1, 77)[1], NOW)
    assert body["metadata"]["labels"]["cloud.google.com/gke-nodepool"] == "tpu-0"
    assert body["metadata"]["labels"]["cloud.google.com/gke-tpu-accelerator"] == "tpu-v5-lite-podslice"
    assert body["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert body["metadata"]["labels"]["kubernetes.io/hostname"] == "tpu-0-0"
    assert body["spec"]["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]
    assert body["status"]["allocatable"]["google.com/tpu"] == "4"
    assert is_true(body["status"], "Ready")
    assert body["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 10250}}


def test_a_cpu_node_has_room_for_a_head():
    body = nodes.node(nodes.plan(lookup("v5litepod-16"), 1, 1, 77)[0], NOW)
    assert "taints" not in body["spec"]
    assert "google.com/tpu" not in body["status"]["capacity"]
    # rm 8, proxy 16, main 24 CPUs; 32G + 100G + 100G
    assert int(body["status"]["allocatable"]["cpu"]) >= 48
    assert int(body["status"]["allocatable"]["memory"].removesuffix("Gi")) * 2**30 >= 232 * 10**9


@pytest.mark.parametrize(
    ("annotations", "lost"),
    [({"xlaunch.dev/lost": "true"}, True), ({"xlaunch.dev/lost": "false"}, False), (None, False)],
)
def test_is_lost(annotations, lost):
    assert nodes.is_lost({"metadata": {"annotations": annotations}}) is lost


def test_lease():
    assert nodes.lease("n", NOW) == {
        "metadata": {"name": "n"},
        "spec": {"holderIdentity": "n", "leaseDurationSeconds": 40, "renewTime": "2026-11-29T12:00:00.000000Z"},
    }
