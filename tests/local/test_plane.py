"""Which control plane a local cluster has: in words, in flags, and whether a running one is what was asked for."""

import json

import pytest
from fakes.local import ME, a_cluster, recorded

from xlaunch.core.errors import RefusedError
from xlaunch.local import lifecycle, state
from xlaunch.local.plane import EMBEDDED_PLANE, REAL, Plane
from xlaunch.local.size import describe, up_line

RUNNING = Plane(REAL, "1.35.4", "0.12.0")
SIZE = {"tpu_type": "v5litepod-16", "slices": 2}


@pytest.fixture
def env(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("plane", "words", "flags"),
    [
        (EMBEDDED_PLANE, "embedded", ""),
        (RUNNING, "Kubernetes 1.35.4, JobSet 0.12.0", " --control-plane=real --kubernetes=1.35.4 --jobset=0.12.0"),
        (Plane(REAL), "Kubernetes, JobSet", " --control-plane=real"),
        (
            Plane(REAL, "1.36.0", "", "/my dir"),
            "Kubernetes 1.36.0, JobSet",
            " --control-plane=real --binaries='/my dir'",
        ),
    ],
)
def test_words_and_flags(plane, words, flags):
    assert (str(plane), plane.flags()) == (words, flags)


def test_each_kind_has_a_server_of_its_own():
    assert (EMBEDDED_PLANE.server, RUNNING.server) == ("xlaunch.local.server", "testbed.serve")


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (Plane(REAL), True),
        (Plane(REAL, "1.35.4"), True),
        (Plane(REAL, "1.37.2"), False),
        (Plane(REAL, "", "0.10.1"), False),
        (Plane(REAL, binaries="/b"), False),
        (EMBEDDED_PLANE, False),
    ],
)
def test_what_was_left_open_fits(wanted, fits):
    assert RUNNING.fits(wanted) is fits


def test_a_real_one_says_so_in_its_size_and_in_the_line_that_starts_it():
    cluster = a_cluster(plane=RUNNING)
    assert describe(cluster) == "2 slices of v5litepod-16 and 1 CPU node, Kubernetes 1.35.4, JobSet 0.12.0"
    assert up_line(cluster).endswith("--slices 2 --control-plane=real --kubernetes=1.35.4 --jobset=0.12.0")
    assert (cluster.title, a_cluster("ci").title) == ("local cluster local", "embedded cluster ci")


def test_a_record_of_the_first_format_has_the_embedded_one(env):
    made = recorded(env, **ME)
    path = made.path / "cluster.json"
    body = {**json.loads(path.read_text()), "format": 1}
    del body["plane"]
    path.write_text(json.dumps(body))
    assert state.read(made.path).plane == EMBEDDED_PLANE


def test_a_record_keeps_its_plane(env):
    assert state.read(recorded(env, plane=RUNNING).path).plane == RUNNING


@pytest.mark.parametrize("plane", [None, Plane(REAL), RUNNING])
def test_ensure_takes_the_one_that_runs(env, plane):
    made = recorded(env, server="https://127.0.0.1:1", plane=RUNNING, **ME)
    assert lifecycle.ensure("local", **SIZE, plane=plane, env=env, notice=print) == made


@pytest.mark.parametrize(
    ("plane", "flags"), [(EMBEDDED_PLANE, ""), (Plane(REAL, "1.37.2"), " --control-plane=real --kubernetes=1.37.2")]
)
def test_ensure_does_not_change_the_one_that_runs(env, plane, flags):
    recorded(env, server="https://127.0.0.1:1", plane=RUNNING, **ME)
    with pytest.raises(RefusedError) as error:
        lifecycle.ensure("local", **SIZE, plane=plane, env=env, notice=print)
    assert error.value.message == "The local cluster local runs on Kubernetes 1.35.4, JobSet 0.12.0"
    assert error.value.next == (
        f"xlaunch local down --name local && xlaunch local up --tpu-type v5litepod-16 --slices 2{flags}"
    )


def test_a_real_one_is_not_made_of_the_embedded_one_that_runs(env):
    recorded(env, server="http://127.0.0.1:1", **ME)
    with pytest.raises(RefusedError) as error:
        lifecycle.ensure("local", **SIZE, plane=Plane(REAL), env=env, notice=print)
    assert error.value.message == "The embedded cluster local runs on its embedded control plane"


def test_one_that_is_too_small_grows_with_the_same_control_plane(env):
    recorded(env, server="https://127.0.0.1:1", plane=RUNNING, **ME)
    with pytest.raises(RefusedError) as error:
        lifecycle.ensure("local", **{**SIZE, "slices": 3}, env=env, notice=print)
    assert error.value.next.endswith("--slices 3 --control-plane=real --kubernetes=1.35.4 --jobset=0.12.0")
