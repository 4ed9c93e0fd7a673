"""Real processes: short ones, ended by what they do themselves or by a signal."""

import asyncio
import errno
import os
import signal
import sys

import pytest

from xlaunch.local import procs
from xlaunch.local.node.logreader import Filter, read
from xlaunch.local.node.logs import ContainerLog
from xlaunch.local.node.process import ContainerProcess, Invocation, StartError

PATIENCE = 20


def start(directory, *argv, log=None, cwd=None, **env):
    invocation = Invocation(argv, {"PATH": os.environ["PATH"], **env}, cwd or directory)
    return ContainerProcess(invocation, "xlaunch://1", log or ContainerLog(directory / "0.log"))


def finished(directory, *argv, act=None, **options):
    """Exit code and log of a command; `act` is done with it once it has written something."""

    async def run():
        log = ContainerLog(directory / "0.log")
        process = start(directory, *argv, log=log, **options)
        if act:
            await asyncio.wait_for(log.changed(), PATIENCE)
            act(process)
        code = await asyncio.wait_for(process.wait(), PATIENCE)
        return code, b"".join([block async for block in read(log, Filter())])

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("script", "code", "log"),
    [
        ("exit 0", 0, b""),
        ("exit 3", 3, b""),
        ("echo out", 0, b"out\n"),
        ("echo err >&2", 0, b"err\n"),
        ("printf 'no newline'", 0, b"no newline\n"),
        (r"printf '10%%\r20%%\r\n'", 0, b"10%\r20%\r\n"),
        (r"printf '\377\376\n'", 0, b"\xff\xfe\n"),
        ("kill -9 $$", 137, b""),
        ("kill -15 $$", 143, b""),
        ("kill -11 $$", 139, b""),
    ],
)
def test_ends(tmp_path, script, code, log):
    assert finished(tmp_path, "sh", "-c", script) == (code, log)


def test_a_large_output_is_whole(tmp_path):
    script = "import sys; [sys.stdout.write('%07d\\n' % n) for n in range(200_000)]"
    code, log = finished(tmp_path, sys.executable, "-c", script)
    assert code == 0
    assert log == b"".join(b"%07d\n" % number for number in range(200_000))


def test_a_line_longer_than_any_pipe_is_whole(tmp_path):
    code, log = finished(tmp_path, sys.executable, "-c", "print('x' * 1_000_000)")
    assert (code, log) == (0, b"x" * 1_000_000 + b"\n")


def test_both_streams_are_kept_apart_and_merged(tmp_path):
    finished(tmp_path, "sh", "-c", "echo out; echo err >&2")
    streams = sorted(line.split(b" ")[1] for line in (tmp_path / "0.log").read_bytes().splitlines())
    assert streams == [b"stderr", b"stdout"]


def test_signals_reach_the_main_process(tmp_path):
    script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"
    code, log = finished(tmp_path, "sh", "-c", script, act=lambda process: process.signal(signal.SIGTERM))
    assert (code, log) == (7, b"ready\nbye\n")


def test_kill(tmp_path):
    script = "trap '' TERM; echo ready; sleep 1000"
    assert finished(tmp_path, "sh", "-c", script, act=ContainerProcess.kill) == (137, b"ready\n")


def test_signals_after_the_end_are_no_error(tmp_path):
    async def run():
        process = start(tmp_path, "true")
        assert await process.wait() == 0
        process.signal(signal.SIGTERM)
        process.kill()
        return await process.wait()

    assert asyncio.run(run()) == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no-such-command-here"], 'exec: "no-such-command-here": executable file not found in $PATH'),
        (["/no/such/file"], 'exec: "/no/such/file": no such file or directory'),
        (["/etc/passwd"], 'exec: "/etc/passwd": Permission denied'),
        (["true", "nul\0byte"], 'exec: "true": embedded null byte'),
        (["true", "x" * 3_000_000], 'exec: "true": Argument list too long'),
    ],
)
def test_what_cannot_be_executed(tmp_path, argv, message):
    async def run():
        log = ContainerLog(tmp_path / "0.log")
        with pytest.raises(StartError) as error:
            start(tmp_path, *argv, log=log)
        assert log.closed
        return str(error.value)

    assert asyncio.run(run()) == message


def test_a_process_that_cannot_be_watched_does_not_run(tmp_path, monkeypatch):
    def exhausted(pid):
        started.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async def run():
        with pytest.raises(StartError, match="pidfd_open: Too many open files"):
            start(tmp_path, "sleep", "1000")

    started = []
    monkeypatch.setattr(os, "pidfd_open", exhausted)
    asyncio.run(run())
    assert procs.process(started[0]) is None


def test_the_environment_is_the_whole_environment(tmp_path):
    code, log = finished(tmp_path, "env", A="b")
    names = {line.split(b"=")[0] for line in log.splitlines()}
    assert names == {b"PATH", b"A", b"XLAUNCH_CONTAINER_ID"}
    assert code == 0


ESCAPES = {
    "background": "sleep 1000 & echo $!",
    "setsid": "setsid sh -c 'echo $$; exec sleep 1000' & wait_for_it",
    "double fork": "(setsid setsid sh -c 'echo $$; exec sleep 1000' &) & wait_for_it",
}


@pytest.mark.parametrize("script", ESCAPES.values(), ids=ESCAPES)
def test_nothing_survives_its_container(tmp_path, script):
    """In a process of its own, which becomes a subreaper; prints the pid of what tried to escape."""
    script = script.replace("wait_for_it", "sleep 1000")
    code = f"""
import asyncio, os, pathlib, signal
from xlaunch.local import procs
from xlaunch.local.node import process
from xlaunch.local.node.logs import ContainerLog
procs.become_subreaper()

async def run():
    process.watch_for_strangers(asyncio.get_running_loop())
    log = ContainerLog(pathlib.Path("0.log"))
    made = process.ContainerProcess(
        process.Invocation(["sh", "-c", {script!r}], dict(os.environ), pathlib.Path(".")), "xlaunch://1", log)
    await log.changed()
    made.kill()
    await made.wait()
    pid = int(log.path.read_text().split()[-1])
    for _ in range(1000):  # a killed process is there until the kernel has run it once more
        left = procs.descendants(os.getpid(), procs.processes())
        if not left and not procs.process(pid):
            break
        await asyncio.sleep(0.01)
    print(pid, left)
asyncio.run(run())
"""

    async def run():
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, cwd=tmp_path
        )
        out, _ = await asyncio.wait_for(child.communicate(), PATIENCE)
        return out.decode()

    pid, _, left = asyncio.run(run()).partition(" ")
    assert left.strip() == "[]"
    assert procs.process(int(pid)) is None
