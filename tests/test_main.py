"""The fast path: what is answered without typer is what typer would answer."""

import subprocess
import sys
from pathlib import Path

import xlaunch as package
from xlaunch.main import HELP_FILE, main


def test_ready_help_is_what_typer_prints(xlaunch):
    assert Path(HELP_FILE).read_text(encoding="utf-8") == xlaunch("--help").stdout


def test_help_and_version_import_nothing_heavy(capsys):
    code = "import sys; from xlaunch.main import main; main([sys.argv[1]]); print(*sys.modules)"
    for flag in ("--help", "-h", "--version"):
        out = subprocess.run([sys.executable, "-c", code, flag], capture_output=True, text=True, check=True).stdout
        assert not {"typer", "rich", "kubernetes", "yaml", "jinja2", "aiohttp"} & set(out.split())
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"xlaunch {package.__version__}\n"


def test_a_closed_pipe_is_a_quiet_exit():
    shell = f"{sys.executable} -m xlaunch --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_ctrl_c_while_it_still_imports_is_no_traceback():
    code = (
        "import builtins, sys; from xlaunch.main import main; load = builtins.__import__\n"
        "def interrupted(name, *args): \n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return load(name, *args)\n"
        "builtins.__import__ = interrupted; sys.exit(main(['version']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
