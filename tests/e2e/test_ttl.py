"""A workload that has ended is removed when its time is over, and all that is left of it."""

from datetime import UTC, datetime

import pytest
from looking import names
from worlds import until

from xlaunch.core.timestamps import parse

pytestmark = pytest.mark.e2e

SECONDS = 15


@pytest.mark.verified("6.5")
def test_the_time_after_the_end(cluster):
    ttl = round(SECONDS / cluster.unit)
    cluster.create("brief", f"--ttl-seconds-after-finished={ttl}", command=("echo", "done"))
    assert cluster.json("wait", "brief")["result"] == "Completed"
    [ended] = [each for each in cluster.get("jobset", "brief")["status"]["conditions"] if each["type"] == "Completed"]
    until(lambda: names(cluster, "jobs") == ["brief-pathways-head-0"], "the workers to go")
    waited = cluster.json("wait", "brief", "--for=deleted", "--timeout=60s")
    assert waited["result"] == "Deleted"
    assert (datetime.now(UTC) - parse(ended["lastTransitionTime"])).total_seconds() >= SECONDS
    until(lambda: not cluster.get("pods") and not cluster.get("jobs"), "its Job and pod to go")
    assert cluster.xlaunch("status", "brief", code=3).stdout == ""
    assert cluster.xlaunch("logs", "brief", code=3).stdout == ""
    assert cluster.json("wait", "brief", code=3)["reason"] == "NotFound"
    assert "Created brief" in cluster.create("brief", command=("echo", "done")).stdout
