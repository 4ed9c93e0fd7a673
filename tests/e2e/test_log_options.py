"""Each option of a pod's log, asked through kubectl and of the API, gives what the process wrote."""

import math
import time
from datetime import UTC, datetime

import pytest
from worlds import until

from xlaunch.cluster.api import namespaced

pytestmark = pytest.mark.e2e

# The first life ends with 1, so that there is a previous one; the second writes half of it when the scenario says so
SCRIPT = r"""
cd {directory}
life=$(($(cat lives 2>/dev/null || echo 0) + 1)); echo $life > lives
write() {{ for n in $(seq $1 $2); do echo "life $life line $n"; done | tee -a life-$life; }}
write 1 5
[ $life = 2 ] || exit 1
until [ -e go ]; do sleep 0.1; done
write 6 10
"""
FLAGS = {
    "follow": "--follow",
    "limitBytes": "--limit-bytes",
    "previous": "--previous",
    "sinceTime": "--since-time",
    "tailLines": "--tail",
    "timestamps": "--timestamps",
}


@pytest.fixture
def pod(cluster, tmp_path):
    """A pod whose container is started again once."""
    container = {"name": "main", "image": "none", "command": ["bash", "-c", SCRIPT.format(directory=tmp_path)]}
    spec = {"restartPolicy": "OnFailure", "containers": [container]}
    pods = namespaced(cluster.api, "v1", "pods")
    cluster.api.request("POST", pods, body={"metadata": {"name": "written"}, "spec": spec})
    yield "written"
    cluster.api.request("DELETE", f"{pods}/written", body={"gracePeriodSeconds": 0})


def log_of(cluster, pod, **options):
    """A stream of the log, from the API."""
    return cluster.api.stream(namespaced(cluster.api, "v1", "pods", pod, "log"), query=options)


def asked(cluster, pod, options):
    """The log that kubectl prints, which is the one that the API sends."""
    printed = cluster.kubectl("logs", pod, *(f"{FLAGS[name]}={value}" for name, value in options.items()))
    with log_of(cluster, pod, **options) as body:
        assert b"".join(iter(body.read, b"")).decode() == printed, options
    return printed


def test_each_option_of_a_log(cluster, pod, tmp_path):
    second = tmp_path / "life-2"
    until(lambda: second.exists() and second.read_text().count("\n") == 5, "half of the second life")
    with log_of(cluster, pod, follow="true") as body:
        followed = body.read()
        while followed.count(b"\n") < 5:
            followed += body.read()
        # In whole seconds, as the API server hands it on
        moment = math.ceil(time.time())
        until(lambda: time.time() > moment, "the next second")
        (tmp_path / "go").touch()
        followed += b"".join(iter(body.read, b""))
    first, text = (tmp_path / "life-1").read_text(), second.read_text()
    assert followed.decode() == text
    lines = text.splitlines(keepends=True)
    since = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    expected = [
        ({}, text),
        ({"follow": "true"}, text),
        ({"previous": "true"}, first),
        ({"tailLines": 2}, "".join(lines[-2:])),
        ({"tailLines": 0}, ""),
        ({"limitBytes": 20}, text[:20]),
        ({"sinceTime": since}, "".join(lines[5:])),
        ({"sinceTime": since, "tailLines": 7}, "".join(lines[5:])),
        ({"sinceTime": since, "tailLines": 3, "limitBytes": 20}, "".join(lines[-3:])[:20]),
        ({"previous": "true", "tailLines": 1, "limitBytes": 6}, first.splitlines()[-1][:6]),
    ]
    assert [(options, asked(cluster, pod, options)) for options, _ in expected] == expected
    stamped = [line.partition(" ") for line in asked(cluster, pod, {"timestamps": "true"}).splitlines(keepends=True)]
    assert [line for _, _, line in stamped] == lines
    times = [datetime.fromisoformat(stamp).timestamp() for stamp, _, _ in stamped]
    assert times == sorted(times)
    assert times[4] < moment <= times[5]
