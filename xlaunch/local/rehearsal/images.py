"""Which containers the stand-ins replace, and with what."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RUN = Path(__file__).parent / "run.py"
SHIMS = Path(__file__).parent / "shims"


def stand_in(container: Mapping[str, Any]) -> list[str] | None:
    """The argv that runs in place of a Pathways container, its own args at the end; None for any other container.

    A container with a command is never replaced. One without is a Pathways container if its image is one of Google's
    (`…/pathways/server`, `…/pathways/proxy_server`, also the unsanitized ones), or if its args can be nothing else:
    `--node_type=resource_manager`, or `--resource_manager_address`.
    """
    if container.get("command"):
        return None
    args = [str(arg) for arg in container.get("args") or ()]
    role = _role(str(container.get("name", "")), str(container.get("image", "")), args)
    if role is None:
        return None
    chips = (container.get("resources") or {}).get("limits", {}).get("google.com/tpu")
    own = [f"--chips={chips}"] if role == "worker" and chips else []
    return [sys.executable, "-I", str(RUN), role, *own, *args]


def _role(name: str, image: str, args: list[str]) -> str | None:
    flags = {arg.split("=", 1)[0] for arg in args}
    repository = image.split("@", 1)[0].rsplit("/", 1)
    program = repository[-1].split(":", 1)[0]
    pathways = len(repository) == 2 and repository[0].endswith("/pathways")
    if "--node_type=resource_manager" in args:
        return "resource_manager"
    if "colocated" in name and "python" in name:
        return "colocated_python"
    if (pathways and "proxy_server" in program) or "--num_elastic_slices" in flags:
        return "proxy"
    if "--resource_manager_address" in flags:
        return "proxy" if "proxy" in name or "proxy" in program else "worker"
    return "worker" if pathways and program.endswith("server") else None
