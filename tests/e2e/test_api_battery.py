"""The battery of API behaviours that a launcher relies on passes whole, on Kubernetes and on the embedded cluster."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BATTERY = Path(__file__).parent.parent / "data/api_battery.py"

pytestmark = pytest.mark.e2e


@pytest.mark.verified("14.1")
@pytest.mark.long
@pytest.mark.clusters("embedded", "real", "real-1.37.2")
def test_the_battery_passes_whole(cluster):
    argv = [sys.executable, BATTERY, "--logs", "--kubeconfig", cluster.kubeconfig]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAIL", "SKIP"))]
    assert (ran.returncode, failed) == (0, []), ran.stderr
    assert re.search(r"^84 passed, 0 failed, 0 skipped$", ran.stdout, re.MULTILINE)
