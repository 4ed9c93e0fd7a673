import os
import subprocess
import sys

import pytest

from xlaunch.local import procs
from xlaunch.local.procs import Process

FIELDS = "1 2 3 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 {start} 1000"


@pytest.mark.parametrize("name", ["python3", "a b", "we(ird", "a) R 9 (b", ")", ""])
def test_stat_with_any_name(name):
    text = f"42 ({name}) S {FIELDS.format(start=777)}\n"
    assert procs.parse_stat(text) == Process(pid=42, parent=1, start=777, state="S")


def test_this_process():
    me = procs.process(os.getpid())
    assert me.parent == os.getppid()
    assert me.alive
    assert procs.processes()[me.pid] == me


def test_a_pid_that_nobody_has():
    assert procs.process(2**22 + 1) is None
    assert procs.start_of(2**22 + 1) == 0
    assert not procs.is_running(2**22 + 1, 0)
    procs.kill(2**22 + 1)


@pytest.mark.parametrize("error", [ProcessLookupError, PermissionError])
def test_what_cannot_be_killed_is_no_error(monkeypatch, error):
    def refuse(pid, number):
        raise error

    monkeypatch.setattr(procs.os, "kill", refuse)
    assert not procs.kill(os.getpid())


def test_a_pid_that_another_process_has_by_now():
    start = procs.start_of(os.getpid())
    assert procs.is_running(os.getpid(), start)
    assert not procs.is_running(os.getpid(), start - 1)


def table(*rows):
    return {pid: Process(pid, parent, 0, state) for pid, parent, state in rows}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([(2, 1, "S")], [2]),
        ([(2, 1, "S"), (3, 2, "R"), (4, 9, "S")], [2, 3]),
        ([(2, 1, "Z"), (3, 2, "S")], [3]),
        ([(3, 2, "S"), (2, 1, "S"), (4, 3, "D")], [2, 3, 4]),
    ],
)
def test_descendants(rows, expected):
    assert procs.descendants(1, table(*rows)) == expected


@pytest.fixture
def sleeper():
    """A child that waits for its standard input to be closed, marked."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={"MARK": "one", "PATH": os.environ["PATH"]}) as child:
        yield child


def test_with_environment(sleeper):
    table = [os.getpid(), sleeper.pid, 2**22 + 1]
    assert list(procs.with_environment("MARK=one", table)) == [sleeper.pid]
    assert list(procs.with_environment("MARK=on", table)) == []


def test_wait_ended(sleeper):
    start = procs.start_of(sleeper.pid)
    assert not procs.wait_ended(sleeper.pid, start, 0.0)
    assert procs.wait_ended(sleeper.pid, start - 1, 0.0)
    sleeper.stdin.close()
    assert procs.wait_ended(sleeper.pid, start, 20.0)
    sleeper.wait()
    assert procs.wait_ended(sleeper.pid, start, 0.0)


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout


def test_end_descendants_takes_everything():
    out = run_python("""
import os, subprocess, time
from xlaunch.local import procs
procs.become_subreaper()
for script in ("sleep 1000", "setsid sleep 1000", "(setsid setsid sleep 1000 &) ; exec sleep 1000",
               "trap '' TERM HUP; sleep 1000; sleep 1000", "exit 1"):
    subprocess.Popen(["sh", "-c", script])
while len(procs.descendants(os.getpid(), procs.processes())) < 6:
    time.sleep(0.01)
procs.end_descendants()
print(procs.descendants(os.getpid(), procs.processes()))
procs.end_descendants()
""")
    assert out == "[]\n"


def test_die_with_parent():
    out = run_python("""
import os, subprocess, sys
code = '''
import os, sys, time
from xlaunch.local import procs
print(procs.die_with_parent(int(sys.argv[1])), procs.die_with_parent(1), flush=True)
time.sleep(1000)
'''
child = subprocess.Popen([sys.executable, "-c", code, str(os.getpid())], stdout=subprocess.PIPE)
print(child.stdout.readline().decode().strip(), child.pid, flush=True)
""")
    first, second, pid = out.split()
    assert (first, second) == ("True", "False")
    assert procs.wait_ended(int(pid), procs.start_of(int(pid)), 20.0)


def test_a_process_in_the_middle_of_execve_is_looked_at_again(monkeypatch):
    seen = {1: [b"A=b\0"], 2: [b"", b"A=b\0"], 3: [b"", b""], 4: [b"A=bc\0"]}
    monkeypatch.setattr(procs, "_environment", lambda pid: seen[pid].pop(0))
    assert procs.with_environment("A=b", seen) == [1, 2]
