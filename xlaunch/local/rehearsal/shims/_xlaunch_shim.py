"""Lets a stand-in package step aside for the real one, wherever that lies further along the path."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

SHIMS = Path(__file__).resolve().parent


def give_way(name: str) -> bool:
    """Turns the module `name`, which is being imported, into the installed package of that name, if there is one."""
    spec = _installed(name)
    if spec is None or spec.loader is None:
        return False
    module = sys.modules[name]
    module.__spec__ = spec
    module.__file__ = spec.origin
    module.__path__ = list(spec.submodule_search_locations or ())
    spec.loader.exec_module(module)
    return True


def _installed(name: str) -> ModuleSpec | None:
    before = list(sys.path)
    sys.path[:] = [entry for entry in before if Path(entry or ".").resolve() != SHIMS]
    try:
        for finder in sys.meta_path:
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    finally:
        sys.path[:] = before
    return None
