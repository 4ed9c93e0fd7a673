"""What a person should see of a workload before saying yes to its end."""

from __future__ import annotations

from datetime import datetime

from xlaunch.core.timestamps import words
from xlaunch.core.workload import Workload


def facts(workload: Workload, now: datetime) -> str:
    """Status, chips, owner and age in a few words: "Running, 48 chips, of alice, 3h10m old"."""
    said = [str(workload.phase), f"{workload.chips} chips"]
    if workload.owner:
        said.append(f"of {workload.owner}")
    if workload.created:
        said.append(f"{words(now - workload.created)} old")
    return ", ".join(said)
