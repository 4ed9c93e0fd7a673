"""Starts a stand-in: `python run.py ROLE ARGS…`.

It makes the `xlaunch` that lies around this file importable without putting its neighbours (typer, kubernetes …) on
the path of a pod's Python, which has, or lacks, packages of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

ROLES = {
    "resource_manager": "resource_manager",
    "proxy": "proxy",
    "worker": "worker",
    "colocated_python": "colocated_python",
    "train": "trainer",
}


def main(argv: list[str]) -> int:
    """Runs the stand-in named by the first word with the rest as its flags; its exit code."""
    _import_by_place()
    module = importlib.import_module(f"xlaunch.local.rehearsal.{ROLES[argv[0]]}")
    try:
        code: int = module.main(argv[1:])
    except (OSError, ValueError) as error:
        if argv[0] == "train":  # ends as MaxText does: with a traceback
            raise
        sys.stderr.write(f"{argv[0]}: {error}\n")
        return 1
    return code


def _import_by_place() -> None:
    if "xlaunch" in sys.modules:
        return
    root = Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location(
        "xlaunch", root / "__init__.py", submodule_search_locations=[str(root)]
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["xlaunch"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
