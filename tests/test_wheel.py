"""What is installed from a wheel works without the checkout."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RENDER = [
    "workload", "create-pathways", "--workload=w", "--tpu-type=v5litepod-16", "--num-slices=3", "--elastic-slices=3",
    "--docker-image=img", "--command=python3 train.py", "--pathways-gcs-location=gs://my-bucket/tmp", "--dry-run",
]  # fmt: skip
TOPS = ("xlaunch", "testbed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built by way of the sdist, so that a file missing there is noticed as well."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    sdist = next(out.glob("*.tar.gz"))
    subprocess.run(["tar", "-xzf", sdist, "-C", out], check=True)
    subprocess.run(
        [*build, "-t", "wheel"], cwd=out / sdist.name.removesuffix(".tar.gz"), check=True, capture_output=True
    )
    return next(out.glob("*.whl"))


def test_the_wheel_has_the_data_that_the_program_reads(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "xlaunch/cli/help.txt" in names
    assert sorted(Path(name).name for name in names if name.startswith("xlaunch/templates/")) == sorted(
        path.name for path in (ROOT / "templates").iterdir()
    )
    data = {str(path.relative_to(ROOT)) for top in TOPS for path in (ROOT / top).rglob("*") if path.is_file()}
    missing = {name for name in data if "__pycache__" not in name} - set(names)
    assert missing == {"testbed/pytest_plugin.py"}  # pytest is none of our dependencies


def test_a_fresh_environment_renders_outside_the_checkout(wheel, tmp_path):
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True, capture_output=True)
    subprocess.run([*pip, "--no-deps", wheel], check=True, capture_output=True)
    done = subprocess.run([home / "bin" / "xlaunch", *RENDER], cwd=tmp_path, check=True, capture_output=True, text=True)
    here = subprocess.run([sys.executable, "-m", "xlaunch", *RENDER], check=True, capture_output=True, text=True)
    assert "kind: JobSet" in done.stdout
    assert done.stdout == here.stdout
    real = [home / "bin" / "xlaunch", "local", "up", "--control-plane=real", "--binaries=nowhere"]
    refused = subprocess.run(real, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert refused.stderr.splitlines()[0] == f"Error: {tmp_path}/nowhere is no directory."
