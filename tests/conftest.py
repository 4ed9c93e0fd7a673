"""Fixtures of all tests: running a command line in this process, and golden files."""

import io
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from xlaunch.cli.boundary import run
from xlaunch.cli.session import Session

pytest_plugins = ["pytester", "testbed.pytest_plugin", "scenarios", "differential.summary"]

GOLDEN = Path(__file__).parent / "golden"


class Capture(io.TextIOWrapper):
    """A text stream over bytes, as stdout is."""

    def __init__(self, tty=False):
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self.tty = tty

    def isatty(self):
        return self.tty

    @property
    def data(self):
        return self.buffer.getvalue()

    @property
    def text(self):
        return self.data.decode()


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str
    stdout_bytes: bytes


@pytest.fixture
def xlaunch(tmp_path, capsys):
    """Runs one command line as a user would, in this process: `xlaunch("version", "-o", "json")`."""

    def call(*argv, env=None, stdin="", tty=False, **session):
        out, err = Capture(tty), Capture(tty)
        typed = io.StringIO(stdin)
        typed.isatty = lambda: tty
        home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "PATH": os.environ["PATH"]}
        code = run(argv, Session(stdout=out, stderr=err, stdin=typed, env={**home, **(env or {})}, **session))
        printed = capsys.readouterr()  # typer prints its help there
        return Outcome(code, printed.out + out.text, printed.err + err.text, out.data)

    return call


@pytest.fixture
def golden():
    """Compares a text with the file of that name under tests/golden/; `UPDATE_GOLDEN=1` writes it anew."""

    def check(name, text):
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden {name}; write it with UPDATE_GOLDEN=1 and read the diff"
        assert text == path.read_text(encoding="utf-8")

    return check
