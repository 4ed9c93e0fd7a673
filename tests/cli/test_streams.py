"""A standard stream that is closed, full or narrow never hides, changes or stops what a command does."""

import io
import os
import subprocess
import sys

import pytest

from xlaunch.cli.session import Session

RENDER = (
    "workload create-pathways --workload=w --tpu-type=v6e-4 --docker-image=img --command=ls "
    "--pathways-gcs-location=gs://bucket/tmp --dry-run"
)


def shell(line, redirect="", **env):
    script = f"{sys.executable} -m xlaunch {line} {redirect}"
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, **env}, timeout=60
    )


@pytest.mark.parametrize("line", ["--version", "--help", RENDER, f"{RENDER} -o json"])
def test_a_closed_stdout_is_a_quiet_exit(line):
    done = shell(line, ">&-")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == ("" if line.startswith("--") else shell(line).stderr)


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_without_stderr_stdout_has_the_result_and_nothing_else(redirect):
    done = shell(RENDER, redirect)
    assert (done.returncode, done.stdout) == (0, shell(RENDER).stdout)


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_an_error_that_nobody_can_read_keeps_its_exit_code(redirect):
    done = shell("status", redirect)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.parametrize("line", ["--version", "--help", RENDER, f"{RENDER} -o json", "completion bash"])
def test_a_full_disk_is_said_and_is_no_bug(line):
    done = shell(line, ">/dev/full")
    assert done.returncode == 1
    assert "Error: Cannot write: No space left on device.\nNext: Free some space" in done.stderr
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_object_that_finds_no_room_is_told_on_stderr():
    done = shell(f"{RENDER} --bogus -o json", ">/dev/full")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "Error: No such option: --bogus.")


@pytest.mark.parametrize("flags", ["", "-o json", "-o yaml"])
@pytest.mark.parametrize("wrong", [r"--template=$'\xff'", "--env=NOT_SET", r"$'\xff'", r"--annotation=k=$'\xff'"])
def test_any_encoding_can_carry_an_error(flags, wrong):
    done = shell(f"{RENDER} {wrong} {flags}", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert "Error" in (done.stdout if flags else done.stderr)
    assert "codec" not in done.stdout + done.stderr


def test_a_manifest_is_the_same_bytes_in_every_encoding():
    line = f"{RENDER} --annotation=k=\u00e9 -o json"
    assert shell(line, PYTHONIOENCODING="ascii").stdout == shell(line, PYTHONIOENCODING="utf-8").stdout != ""


class Broken(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


def test_a_notice_that_nobody_reads_stops_nothing():
    session = Session(stderr=Broken())
    session.notice("once")
    session.notice("twice")
