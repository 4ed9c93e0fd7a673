"""Stands in for MaxText's pre-training: `python3 -m maxtext.trainers.pre_train.train CONFIG key=value …`."""

import runpy
import sys
from pathlib import Path

RUN = Path(__file__).resolve().parents[4] / "run.py"

if __name__ == "__main__":
    sys.exit(runpy.run_path(str(RUN))["main"](["train", *sys.argv[1:]]))
