import sys

import pytest

from xlaunch.local.rehearsal.images import RUN, stand_in

GOOGLE = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
RM = ["--server_port=29001", "--node_type=resource_manager", "--instance_count=3", "--instance_type=tpuv5e:4x4"]
CLIENT = ["--server_port=29005", "--resource_manager_address=head:29001"]


@pytest.mark.parametrize(
    ("role", "name", "image", "args"),
    [
        ("resource_manager", "pathways-rm", f"{GOOGLE}/server:latest", RM),
        ("resource_manager", "rm", "registry.local/mine:1", RM),
        ("proxy", "pathways-proxy", f"{GOOGLE}/proxy_server:latest", CLIENT),
        ("proxy", "p", f"{GOOGLE}/unsanitized_proxy_server@sha256:00", CLIENT),
        ("proxy", "p", "registry.local/mine", [*CLIENT, "--num_elastic_slices=3"]),
        ("proxy", "pathways-proxy", "registry.local/mine", CLIENT),
        ("worker", "pathways-worker", f"{GOOGLE}/server:20260101", CLIENT),
        ("worker", "w", "localhost:5000/mine:2", CLIENT),
        ("worker", "w", f"{GOOGLE}/server", []),
        ("colocated_python", "colocated-python-sidecar", "gcr.io/p/sidecar:1", ["--server_port=50051"]),
    ],
)
def test_pathways_containers_have_stand_ins(role, name, image, args):
    assert stand_in({"name": name, "image": image, "args": args}) == [sys.executable, "-I", str(RUN), role, *args]


@pytest.mark.parametrize(
    "container",
    [
        {"name": "main", "image": "gcr.io/p/maxtext:1", "args": ["steps=5"]},
        {"name": "main", "image": f"{GOOGLE}/server", "command": ["bash", "-c"], "args": CLIENT},
        {"name": "main", "image": "gcr.io/p/server:1"},
        {"name": "main"},
    ],
)
def test_other_containers_have_none(container):
    assert stand_in(container) is None


@pytest.mark.parametrize("chips", ["4", 8])
def test_a_worker_knows_its_chips(chips):
    argv = stand_in({"name": "w", "image": "i", "args": CLIENT, "resources": {"limits": {"google.com/tpu": chips}}})
    assert f"--chips={chips}" in argv
    assert argv[-2:] == CLIENT
