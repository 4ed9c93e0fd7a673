"""The processes of a control plane: started, watched until they are ready, ended with the one who started them.

Every component runs under `testbed.tether`: when its starter dies, even by SIGKILL, the kernel kills it too.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlaunch.core.clock import Clock

LOOPBACK = "127.0.0.1"
# Below Linux's ephemeral ports (32768 and up), so that no outgoing connection takes one before its component does
PORTS = range(10000, 32768)
POLL_SECONDS = 0.05
PROBE_TIMEOUT = 5.0
TAIL_LINES = 15


class StartError(Exception):
    """A component that ended or was not ready in time. The message names its log and has its last lines."""


@dataclass
class Component:
    """One running process, whose output goes to `log`."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Ends it at once: an API server that is asked politely takes up to a minute, and all it has is thrown away."""
        self.process.kill()
        self.process.wait()

    def failure(self, what: str) -> StartError:
        """An error that tells somebody who sees nothing else what to read."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        return StartError("\n".join([f"{self.name} {what}; its log is {self.log} and ends so:", *lines]))


def start(
    name: str, argv: Sequence[str | Path], directory: Path, *, env: Mapping[str, str], before: Sequence[str] = ()
) -> Component:
    """Starts a component in `directory`, where its log goes too. `before` is a command that runs the component.

    The thread that calls this must outlive the component.
    """
    log = directory / f"{name}.log"
    tether = [sys.executable, "-m", "testbed.tether", str(os.getpid())]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*tether, *before, *map(str, argv)],
            cwd=directory,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Component(name, log, process)


def free_ports(count: int, choose: random.Random | None = None) -> list[int]:
    """Different TCP ports of loopback on which nobody listens now."""
    random_ = choose or random.Random()
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            # All stay bound until all are found, so that none is given twice
            candidate = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                port = random_.choice(PORTS)
                candidate.bind((LOOPBACK, port))
                ports.append(port)
        return ports


def wait_until(check: Callable[[], bool], components: Iterable[Component], what: str, clock: Clock, end: float) -> None:
    """Polls until `check` is true; StartError when a component ends first, or at `end` (monotonic seconds).

    The last component is the one that is waited for: its log is shown when time is up.
    """
    watched = list(components)
    while not check():
        for each in watched:
            code = each.process.poll()
            if code is not None:
                raise each.failure(f"ended with {code}")
        if clock.monotonic() >= end:
            raise watched[-1].failure(f"is not ready: {what} took too long")
        clock.sleep(POLL_SECONDS)


def answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether a GET is answered 200 now."""
    # Loopback never goes through a proxy, whatever the environment says
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(url, timeout=PROBE_TIMEOUT) as reply:
            return bool(reply.status == 200)
    except OSError:  # refused, reset, or an HTTPError
        return False


def listens(port: int) -> bool:
    """Whether somebody accepts connections on a port of loopback."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=PROBE_TIMEOUT):
        return True
    return False
