"""The project's promises about speed and memory, as ratios measured in one run: `make bench`.

Exit code 1 when one is broken. xpk is compared where it is installed: on PATH, or named by XPK=/path/to/xpk.
"""

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import pair

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parent.parent
XLAUNCH, PYTHON = str(BIN / "xlaunch"), sys.executable
COMMON = [
    "workload", "create-pathways", "--workload=bench", "--cluster=c", "--project=p", "--zone=europe-west4-b",
    "--tpu-type=v5litepod-16", "--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10",
    "--docker-image=img", "--command=python3 train.py",
]  # fmt: skip
SCRATCH = "--pathways-gcs-location=gs://my-bucket/tmp"
DRY_RUN = [*COMMON, SCRATCH, "--dry-run"]
START = [PYTHON, "-c", "pass"]


def rows():
    yield "xlaunch --help / python -c pass", pair([XLAUNCH, "--help"], START, runs=21), "ratio", 3.0
    dry = pair([XLAUNCH, *DRY_RUN], START, runs=21)
    yield "create-pathways --dry-run / python -c pass", dry, "ratio", 14.0
    yield "create-pathways --dry-run, peak MiB", dry, "peak_mib", 60.0
    xpk = os.environ.get("XPK") or shutil.which("xpk")
    if xpk:
        env = {"TELEMETRY_ENABLED": "false"}
        yield (
            "create-pathways --dry-run / xpk's",
            pair([XLAUNCH, *DRY_RUN], [xpk, *DRY_RUN], runs=5, env=env),
            "ratio",
            0.2,
        )
    else:
        print("xpk is not installed: set XPK=/path/to/xpk to compare with it", file=sys.stderr)
    with tempfile.TemporaryDirectory() as home:
        env = {"XDG_STATE_HOME": home, "XDG_CACHE_HOME": home, "XDG_RUNTIME_DIR": home}
        yield from cluster_rows(env)


def cluster_rows(env):
    full = {**os.environ, **env}

    def xlaunch(*argv):
        subprocess.run([XLAUNCH, *argv], env=full, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    up = [XLAUNCH, "local", "up", "--name=bench", "--tpu-type=v5litepod-16", "--slices=3"]
    imported = [PYTHON, "-c", "import aiohttp"]
    down = lambda: xlaunch("local", "down", "--name=bench")  # noqa: E731
    yield "local up / import aiohttp", pair(up, imported, runs=5, env=env, between=down), "ratio", 5.0
    xlaunch(*up[1:])
    try:
        # A workload whose main only sleeps: what is timed is xlaunch, not the pods
        argv = [word for word in COMMON if not word.startswith(("--cluster", "--project", "--zone", "--command"))]
        create = [XLAUNCH, *argv, "--cluster=local:bench", SCRATCH, "--command=sleep 600"]
        delete = lambda: xlaunch("workload", "delete", "bench", "--cluster=local:bench", "--yes")  # noqa: E731
        client = [PYTHON, "-c", "import kubernetes.client"]
        yield (
            "create-pathways / import kubernetes.client",
            pair(create, client, runs=7, env=env, between=delete),
            "ratio",
            3.0,
        )
    finally:
        down()


def main():
    # Where Python must not write bytecode, a start after an edit would compile again and again
    compileall.compile_dir(ROOT / "xlaunch", quiet=1)
    broken = 0
    print(f"{'what':<46} {'ours s':>8} {'base s':>8} {'figure':>8} {'bound':>7}")
    for what, measured, figure, bound in rows():
        value = getattr(measured, figure)
        broken += value > bound
        verdict = "" if value <= bound else "   BROKEN"
        print(f"{what:<46} {measured.ours:8.3f} {measured.base:8.3f} {value:8.2f} {bound:7.2f}{verdict}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
