"""The battery that the embedded cluster must pass is no opinion of ours: Kubernetes passes it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.control_plane import ControlPlane
from testbed.upstreams import versions

BATTERY = Path(__file__).parents[1] / "data" / "api_battery.py"

pytestmark = pytest.mark.real


@pytest.mark.verified("14.1")
@pytest.mark.parametrize(
    "control_plane", [ControlPlane(kubernetes=version) for version in versions("kubernetes")], indirect=True, ids=str
)
def test_kubernetes_passes_the_battery(control_plane):
    argv = [sys.executable, BATTERY, "--kubeconfig", control_plane.kubeconfig]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    failed = [line for line in ran.stdout.splitlines() if line.startswith("FAIL")]
    assert (ran.returncode, failed) == (0, []), ran.stderr
    # The two that read logs need a node that runs containers
    assert re.search(r"^82 passed, 0 failed, 2 skipped$", ran.stdout, re.MULTILINE)
