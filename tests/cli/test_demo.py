import os
import select
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from xlaunch.cli import demo
from xlaunch.core.errors import RefusedError
from xlaunch.demo import blog


@pytest.fixture
def session():
    told = []
    return SimpleNamespace(env={"PATH": "/usr/bin"}, notice=told.append, told=told)


@pytest.fixture
def lifecycle(monkeypatch):
    """Records what was started, and whether the end of its lifeline was seen before anybody waited for it."""
    seen = SimpleNamespace(started=None, ended=None, lifeline=None)

    def start(name, **options):
        seen.started = (name, options)
        seen.lifeline = os.dup(options["lifeline"]) if options["lifeline"] is not None else None
        return SimpleNamespace(name=name)

    def wait_ended(cluster):
        seen.ended = bool(select.select([seen.lifeline], [], [], 0)[0]) and os.read(seen.lifeline, 1) == b""

    monkeypatch.setattr(demo.lifecycle, "start", start)
    monkeypatch.setattr(demo.lifecycle, "wait_ended", wait_ended)
    yield seen
    if seen.lifeline is not None:
        os.close(seen.lifeline)


def descriptors():
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, ValueError])
def test_the_cluster_goes_with_the_command(session, lifecycle, error):
    before = descriptors()
    with pytest.raises(error) if error else nullcontext(), demo.embedded(session, "demo-1", 0.1, keep=False) as cluster:
        assert (cluster.name, lifecycle.ended) == ("demo-1", None)
        if error:
            raise error
    assert lifecycle.ended is True
    assert descriptors() == before + 1, "which is the test's own copy of the lifeline"
    assert session.told == ["The rehearsal's cluster is gone, with all its processes and files."]


def test_a_kept_cluster_has_no_lifeline_and_stays(session, lifecycle):
    before = descriptors()
    with demo.embedded(session, "demo-1", 1.0, keep=True):
        pass
    assert (lifecycle.started[1]["lifeline"], lifecycle.ended, session.told) == (None, None, [])
    assert descriptors() == before


def test_a_cluster_that_does_not_start(session, monkeypatch):
    def start(name, **options):
        raise RefusedError("no loopback addresses")

    monkeypatch.setattr(demo.lifecycle, "start", start)
    before = descriptors()
    with pytest.raises(RefusedError), demo.embedded(session, "demo-1", 1.0, keep=False):
        pass
    assert descriptors() == before


def test_the_pods_python_is_our_own():
    path = demo.own_python_first({"PATH": "/usr/bin", "LANG": "C"})
    assert path == {"PATH": f"{Path(sys.executable).parent}:/usr/bin", "LANG": "C"}
    assert demo.own_python_first({})["PATH"].endswith(os.defpath)


def test_the_blogs_command_makes_the_blogs_workload(xlaunch):
    flags = [f"{flag}={value}" for flag, value in blog.FLAGS.items()]
    done = xlaunch("workload", "create-pathways", *flags, "--dry-run", "--", *blog.TRAINING)
    assert done.code == 0, done.stderr
    jobs = {job["name"]: job for job in yaml.safe_load(done.stdout)["spec"]["replicatedJobs"]}
    worker = jobs["worker"]["template"]["spec"]
    assert (jobs["worker"]["replicas"], worker["completions"], worker["backoffLimit"]) == (3, 4, 40)
    head = jobs["pathways-head"]["template"]["spec"]["template"]["spec"]
    proxy = next(each for each in head["initContainers"] if "proxy" in each["name"])
    assert "--num_elastic_slices=3" in proxy["args"]
    assert list(blog.TRAINING) == [*head["containers"][0]["command"], *head["containers"][0].get("args", [])]
