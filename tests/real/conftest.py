"""A namespace and a user for each scenario on the real control plane."""

import itertools

import pytest
from queues import Queue
from worlds import World, until

from testbed.control_plane import has_service_account

numbers = itertools.count(1)


@pytest.fixture
def namespace(control_plane):
    """A namespace of its own in which pods can be made, gone with all it holds after the test."""
    name = f"test-{next(numbers)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    control_plane.api.request("POST", "/api/v1/namespaces", body=body)
    until(lambda: has_service_account(control_plane.api, name), "the namespace's service account")
    yield name
    control_plane.api.request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def world(control_plane, namespace, tmp_path):
    """A user whose kubeconfig leads to that control plane and namespace."""
    kubeconfig = control_plane.admin_of(namespace)
    return World(tmp_path, (f"--kubeconfig={kubeconfig}",), kubeconfig)


@pytest.fixture
def queue(control_plane, namespace, world):
    """A queue of Kueue with room for one slice."""
    yield Queue(control_plane.api, namespace)
    world.xlaunch("workload", "delete", "--all", "--yes", "--ignore-not-found")
