"""A workload's life by kubeconfig. There are no nodes, so its pods stay Pending."""

import pytest
from worlds import World, until

pytestmark = pytest.mark.real


def test_create_list_status_delete(world):
    assert "Created train" in world.create("train", slices=2).stdout
    assert "unchanged" in world.create("train", slices=2).stdout
    until(lambda: listed(world) == [("train", "Starting")], "the start to show")
    status = world.json("status", "train")
    assert (status["phase"], status["jobset"]["restarts"], status["jobset"]["maxRestarts"]) == ("Starting", 0, 3)
    assert [(each["index"], each["hosts"], each["ready"]) for each in status["slices"]] == [(0, 4, 0), (1, 4, 0)]
    world.xlaunch("workload", "delete", "train", "--yes")
    assert world.json("workload", "list")["items"] == []
    world.xlaunch("status", "train", code=3)


def listed(world):
    return [(each["name"], each["phase"]) for each in world.json("workload", "list")["items"]]


def test_a_second_plan_of_the_same_name_is_a_conflict(world):
    world.create("train")
    assert "exists already and differs" in world.create("train", command=("sleep", "601"), code=5).stderr


def test_rbac_decides(control_plane, namespace, tmp_path):
    """Somebody who may do nothing is told so, by the API server's own sentence."""
    nobody = control_plane.kubeconfig_of("nobody", namespace=namespace)
    told = World(tmp_path, (f"--kubeconfig={nobody}",), nobody).xlaunch("workload", "list", code=4).stderr
    assert 'User "nobody" cannot list resource "jobsets"' in told
