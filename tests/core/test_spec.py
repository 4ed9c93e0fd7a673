"""What is refused before anything is rendered: names, ranges, amounts, images."""

import re

import pytest

from xlaunch.core.budget import MAX_INT32
from xlaunch.core.errors import UsageError
from xlaunch.core.spec import PathwaysSpec, longest_workload_name
from xlaunch.core.tpu import lookup


def spec(**given):
    usual = {
        "name": "demo",
        "tpu": lookup("v5litepod-16"),
        "scratch": "gs://my-bucket/pathways",
        "image": "img",
        "command": ("true",),
    }
    return PathwaysSpec(**{**usual, **given})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"name": "a" * 39},
        {"num_slices": MAX_INT32 // 4},
        {"num_slices": 3, "elastic_slices": 3},
        {"max_restarts": MAX_INT32, "max_slice_restarts": MAX_INT32},
        {"worker_toleration_seconds": 0, "grace_seconds": 0, "ttl_seconds": 0},
        {"queue": "", "priority": "a.b", "scheduler": "gke.io/topology-aware-auto"},
        {"headless": True, "image": "", "command": ()},
        {"restart_scope": "slice", "num_slices": 1024},
    ],
)
def test_what_is_fine(given):
    assert spec(**given).tpu.hosts == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "Has_Upper"}, "can't be the name of a workload"),
        ({"name": "1st"}, "can't be the name of a workload"),
        ({"name": ""}, "can't be the name of a workload"),
        ({"name": "a" * 40}, "has 40 characters and may have 39"),
        ({"num_slices": 0}, "--num-slices 0"),
        ({"num_slices": MAX_INT32 // 4 + 1}, "--num-slices"),
        ({"num_slices": 1025, "restart_scope": "slice"}, "--num-slices 1025"),
        ({"elastic_slices": 2}, "--elastic-slices 2"),
        ({"elastic_slices": -1}, "--elastic-slices -1"),
        ({"max_slice_restarts": -1}, "--max-slice-restarts -1"),
        ({"max_restarts": 2**31}, "--max-restarts 2147483648"),
        ({"grace_seconds": -1}, "--termination-grace-period-seconds -1"),
        ({"ttl_seconds": -1}, "--ttl-seconds-after-finished -1"),
        ({"worker_toleration_seconds": -1}, "--worker-toleration-seconds -1"),
        ({"namespace": "a.b"}, "namespace"),
        ({"container": "pathways-proxy"}, "--docker-name"),
        ({"container": "pathways-worker"}, "--docker-name"),
        ({"container": "colocated-python-sidecar"}, "--docker-name"),
        ({"queue": "a" * 64}, "--queue"),
        ({"priority": "High"}, "--priority"),
        ({"pull_secret": "a b"}, "--docker-image-pull-secret"),
        ({"service_account": "-"}, "--service-account"),
        ({"scheduler": "a b"}, "--scheduler"),
        ({"image": "a b"}, "--docker-image"),
        ({"worker_image": "A"}, "--worker-image"),
        ({"sidecar_image": "A"}, "--colocated-python-sidecar-image"),
        ({"main_cpu": "0"}, "--main-cpu"),
        ({"rm_memory": "32GB"}, "--rm-memory"),
        ({"command": ()}, "no command"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(UsageError) as error:
        spec(**given)
    assert said in error.value.message
    assert error.value.why
    assert error.value.next


@pytest.mark.parametrize(
    ("slices", "hosts", "longest", "without"),
    [(1, 1, 37, 39), (3, 4, 37, 39), (100_000, 2240, 37, 39), (10**7, 10**5, 36, 36)],
)
def test_how_long_a_name_may_be(slices, hosts, longest, without):
    assert longest_workload_name(slices, hosts, coordinator=True) == longest
    assert longest_workload_name(slices, hosts, coordinator=False) == without


def test_a_longer_name_is_refused_with_a_proposal_that_is_taken():
    with pytest.raises(UsageError) as error:
        spec(name="a" * 40)
    proposed = re.search(r"--workload=(\S+),", error.value.next)[1]
    assert spec(name=proposed).name == proposed
