"""The battery of API behaviours that passes whole on a real kube-apiserver 1.35.4, on the embedded cluster."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BATTERY = Path(__file__).parent.parent / "data/api_battery.py"

pytestmark = pytest.mark.e2e


def test_the_battery_passes_whole(embedded):
    argv = [sys.executable, BATTERY, "--allow-501", "--logs", "--kubeconfig", embedded.kubeconfig]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAIL", "SKIP"))]
    assert (ran.returncode, failed) == (0, []), ran.stderr
    assert re.search(r"^84 passed, 0 failed, 0 skipped$", ran.stdout, re.MULTILINE)
