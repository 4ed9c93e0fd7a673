"""Fixtures of the API server's tests: a cluster in memory under a fake clock."""

import asyncio

import pytest
from fakes.clock import FakeClock

from xlaunch.local.apiserver.kube import EmbeddedKube
from xlaunch.local.kube import StatusError


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def kube(clock):
    return EmbeddedKube(clock)


@pytest.fixture
def do(kube):
    """Calls a method of the cluster: do("get", "pods", "x", "default")."""
    return lambda method, *args, **options: asyncio.run(getattr(kube, method)(*args, **options))


@pytest.fixture
def refused(do):
    """Calls a method that must be refused; returns the StatusError."""

    def call(method, *args, **options):
        with pytest.raises(StatusError) as caught:
            do(method, *args, **options)
        return caught.value

    return call


@pytest.fixture
def pod():
    """Makes the body of a small pod."""

    def make(name="p", metadata=None, **spec):
        container = {"name": "main", "image": "busybox"}
        return {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": [container], **spec}}

    return make


@pytest.fixture
def job():
    """Makes the body of a small Job."""

    def make(name="j", **spec):
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}
        return {"metadata": {"name": name}, "spec": {"template": template, **spec}}

    return make


@pytest.fixture
def jobset():
    """Makes the body of a small JobSet."""

    def make(name="js", **spec):
        template = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "busybox"}]}}}}
        spec = {"replicatedJobs": [{"name": "w", "template": template}], **spec}
        kind = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
        return {**kind, "metadata": {"name": name}, "spec": spec}

    return make
