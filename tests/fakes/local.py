"""Records of embedded clusters that nobody started."""

import os

from xlaunch.local import procs, state
from xlaunch.local.state import LocalCluster

ME = {"pid": os.getpid(), "start": procs.start_of(os.getpid())}
DEAD = {"pid": 2**22 + 1, "start": 1}


def a_cluster(name="local", **fields):
    """A record in memory."""
    body = {"id": "1", "tpu_type": "v5litepod-16", "slices": 2, "heads": 1, "time_scale": 1.0, "directory": "/d"}
    return LocalCluster(name=name, **{**body, **fields})


def recorded(env, name="local", **fields):
    """A record on disk; with ME this very process is the guardian."""
    directory = state.root(env) / name
    directory.mkdir(parents=True)
    return state.updated(a_cluster(name, **{"id": f"id-of-{name}", **fields, "directory": str(directory)}))
