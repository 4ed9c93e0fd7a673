"""What we render, before JobSet's own webhooks; and the lengths of names that they refuse."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from worlds import until

from testbed.control_plane import ControlPlane
from testbed.upstreams import versions
from xlaunch.cluster.api import JOBSET_GROUP_VERSION, ApiError, namespaced

RENDERED = Path(__file__).parents[1] / "golden" / "create-pathways"
GOLDENS = {path.stem: path for path in sorted(RENDERED.glob("*.yaml"))}
PLAIN = "v5litepod-16-elastic-pathways"
# The one golden that needs a feature gate of JobSet
GATED = "slice-scope"

pytestmark = pytest.mark.real

on_each_version = pytest.mark.parametrize(
    "control_plane", [ControlPlane(jobset=version) for version in versions("jobset")], indirect=True, ids=str
)


def rendered(stem):
    return yaml.safe_load(GOLDENS[stem].read_text(encoding="utf-8"))


def submit(control_plane, manifest, namespace="default"):
    """A dry run on the server, which asks every webhook; the answer is the JobSet as it would be stored."""
    manifest = copy.deepcopy(manifest)
    manifest["metadata"].pop("namespace", None)
    path = namespaced(control_plane.api, JOBSET_GROUP_VERSION, "jobsets", namespace=namespace)
    return control_plane.api.request("POST", path, query={"dryRun": "All", "fieldValidation": "Strict"}, body=manifest)


def named(stem, length):
    manifest = rendered(stem)
    manifest["metadata"]["name"] = "a" * length
    return manifest


@on_each_version
@pytest.mark.parametrize("golden", [stem for stem in GOLDENS if stem != GATED])
def test_jobset_takes_what_we_render(control_plane, golden):
    reply = submit(control_plane, rendered(golden))
    assert (reply.status, reply.warnings) == (201, ())


@pytest.mark.parametrize("control_plane", [ControlPlane(gates={"RestartJob": True})], indirect=True, ids=str)
def test_restart_scope_slice_is_taken_with_the_gate(control_plane):
    assert submit(control_plane, rendered(GATED)).status == 201


@on_each_version
def test_restart_scope_slice_is_refused_without_the_gate(control_plane):
    with pytest.raises(ApiError, match="RestartJob") as refusal:
        submit(control_plane, rendered(GATED))
    assert refusal.value.code == 4


NAMES = [(PLAIN, 22), ("long-name", 37)]


@pytest.mark.parametrize(
    "control_plane", [ControlPlane(jobset=version) for version in ("0.12.0", "0.11.1")], indirect=True, ids=str
)
@pytest.mark.parametrize(("golden", "limit"), NAMES)
def test_a_name_may_be_so_long_and_no_longer(control_plane, golden, limit):
    assert submit(control_plane, named(golden, limit)).status == 201
    with pytest.raises(ApiError, match="admission webhook") as refusal:
        submit(control_plane, named(golden, limit + 1))
    assert refusal.value.code == 4


on_0_10 = pytest.mark.parametrize("control_plane", [ControlPlane(jobset="0.10.1")], indirect=True, ids=str)


@on_0_10
@pytest.mark.parametrize(("golden", "limit"), NAMES)
def test_jobset_0_10_takes_names_that_it_can_make_no_job_of(control_plane, golden, limit):
    assert submit(control_plane, named(golden, limit + 1)).status == 201


@on_0_10
@pytest.mark.verified("11.2")
def test_jobset_0_10_says_nothing_of_such_a_workload(control_plane, world):
    """It has no Job, no status and no event for ever; only its controller's log and our alarm tell of it."""
    manifest = named(PLAIN, 23)
    del manifest["metadata"]["namespace"]
    world.kubectl("create", "-f", "-", stdin=json.dumps(manifest))
    log = control_plane.directory / "jobset.log"
    until(lambda: "metadata.labels: Invalid value" in log.read_text(errors="replace"), "the controller's error")
    alarms = until(lambda: world.json("status", "a" * 23)["alarms"], "the alarm")
    assert [alarm["reason"] for alarm in alarms] == ["NoStatus"]
    assert (world.get("jobs"), world.get("events")) == ([], [])
    assert "status" not in world.get("jobset", "a" * 23)


@on_0_10
@pytest.mark.verified("11.3")
def test_jobset_0_10_refuses_what_makes_no_pods_name(control_plane):
    with pytest.raises(ApiError, match="JobSet name is too long, pod names generated") as refusal:
        submit(control_plane, named(PLAIN, 40))
    assert (refusal.value.status, refusal.value.code) == (403, 4)
