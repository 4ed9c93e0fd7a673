"""The parent of an attached node agent: when the agent ends, however it ends, nothing is left behind.

As `local/guardian.py` for an embedded cluster: it is the subreaper of all that runs below it, and where its standard
input is a pipe, the agent ends when the other end is closed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

from xlaunch.core.errors import XlaunchError
from xlaunch.local import guardian, procs
from xlaunch.local.attach import options


def main(argv: list[str]) -> int:
    """Runs until the agent has ended or somebody asks for the end; returns the agent's exit code, 0 after a signal."""
    try:
        options.parse(argv)
    except XlaunchError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.code
    procs.become_subreaper()
    wakeup = guardian.signal_pipe(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    with tempfile.TemporaryDirectory(prefix="xlaunch-attach-") as directory:
        agent = subprocess.Popen(
            [sys.executable, "-m", "xlaunch.local.attach.process", str(os.getpid()), directory, *argv],
            stdin=subprocess.DEVNULL,
        )
        try:
            guardian.wait(agent, wakeup)
            code = agent.poll()
        finally:
            procs.end_descendants()
    return max(code or 0, 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
