"""The package names, in a Python of their own: what a pod's command line meets."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlaunch.local.rehearsal.images import SHIMS

COMMAND = ["base.yml", "run_name=r", "steps=3", "checkpoint_period=2", "log_config=false"]


def python(tmp_path, *argv, path=(), **env):
    """Runs a Python without this environment's packages, the shims on its path, time a hundred times faster."""
    return subprocess.run(
        [sys.executable, "-S", *argv],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join([str(SHIMS), *map(str, path)]),
            "XLAUNCH_TIME_SCALE": "0.01",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("module", ["maxtext.trainers.pre_train.train", "MaxText.train"])
def test_the_rehearsal_runs_where_maxtext_is_not_installed(tmp_path, module):
    done = python(tmp_path, "-m", module, *COMMAND, f"base_output_directory={tmp_path}/out")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert "REHEARSAL by xlaunch: MaxText is not installed in this Python" in lines[0]
    assert sum("completed step" in line for line in lines) == 3
    assert (tmp_path / "out" / "r" / "checkpoints" / "2" / "commit_success.txt").exists()
    assert done.stdout == ""


def test_buckets(tmp_path):
    done = python(
        tmp_path,
        *["-m", "maxtext.trainers.pre_train.train", *COMMAND, "base_output_directory=gs://b/o"],
        XLAUNCH_BUCKETS=str(tmp_path / "buckets"),
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "buckets" / "b" / "o" / "r" / "checkpoints" / "0").is_dir()


def test_a_wrong_flag_ends_with_a_traceback_and_1(tmp_path):
    done = python(tmp_path, "-m", "maxtext.trainers.pre_train.train", "base.yml", "steps=x")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: steps=x: not a valid integer")


@pytest.mark.parametrize("name", ["maxtext", "MaxText"])
def test_they_step_aside_for_the_installed_package(tmp_path, name):
    package = tmp_path / "site" / name / "trainers" / "pre_train"
    package.mkdir(parents=True)
    (tmp_path / "site" / name / "__init__.py").write_text("VERSION = 'the real one'\n")
    for directory in (package.parent, package):
        (directory / "__init__.py").touch()
    (package / "train.py").write_text(f"import sys, {name}\nprint({name}.VERSION, sys.argv[1:])\n")
    done = python(tmp_path, "-m", f"{name}.trainers.pre_train.train", "base.yml", path=[tmp_path / "site"])
    assert (done.returncode, done.stdout) == (0, "the real one ['base.yml']\n"), done.stderr


def test_a_checkout_in_the_working_directory_comes_first(tmp_path):
    package = tmp_path / "MaxText"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "train.py").write_text("print('mine')\n")
    assert python(tmp_path, "-m", "MaxText.train").stdout == "mine\n"


def test_nothing_of_ours_becomes_importable(tmp_path):
    done = python(tmp_path, "-c", "import maxtext, sys; print([n for n in sys.modules if n.startswith('xlaunch')])")
    assert done.stdout == "[]\n"
    assert Path(SHIMS, "maxtext").is_dir()
