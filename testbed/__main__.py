"""The test bed by hand: `python -m testbed build [LABEL…]` builds what tests need, `up` starts a control plane.

`export DIR` writes a directory of binaries for machines without Go (`xlaunch local up --binaries DIR`).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from testbed import binaries
from testbed.build import BuildError, build, cache_of, place
from testbed.control_plane import ControlPlane
from testbed.processes import StartError
from testbed.upstreams import UPSTREAMS, versions


def main(argv: list[str]) -> int:
    """Exit code 0, or 1 with a sentence on stderr."""
    options = parser().parse_args(argv)
    try:
        return VERBS[options.verb](options)
    except (BuildError, StartError, LookupError) as error:
        tell(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m testbed", description=__doc__.splitlines()[0])
    verbs = top.add_subparsers(dest="verb", required=True)
    builder = verbs.add_parser("build", help="build these upstreams, or all of them")
    builder.add_argument("labels", nargs="*", metavar="LABEL", help=" ".join(each.label for each in UPSTREAMS))
    exporter = verbs.add_parser("export", help="write the binaries of a control plane into a directory")
    exporter.add_argument("directory", type=Path, metavar="DIR")
    starter = verbs.add_parser("up", help="start a control plane and keep it until Ctrl-C")
    for verb in (exporter, starter):
        verb.add_argument("--kubernetes", choices=versions("kubernetes"), default=versions("kubernetes")[0])
        verb.add_argument("--jobset", choices=[*versions("jobset"), ""], default=versions("jobset")[0])
    starter.add_argument("--gate", action="append", default=[], metavar="NAME", help="switch on a gate of JobSet")
    starter.add_argument("--kueue", action="store_true")
    starter.add_argument("--kwok", action="store_true")
    return top


def build_all(options: argparse.Namespace) -> int:
    """Builds upstreams one after the other and says where each is and how long it took."""
    labels = options.labels
    unknown = sorted(set(labels) - {each.label for each in UPSTREAMS})
    if unknown:
        raise LookupError(f"The test bed has no {', '.join(unknown)}")
    for each in UPSTREAMS:
        if not labels or each.label in labels:
            began = time.monotonic()
            build(each, os.environ, say=tell)
            where = place(each, cache_of(os.environ))
            result(f"{each.label}: {where} ({time.monotonic() - began:.0f} s)")
    return 0


def export(options: argparse.Namespace) -> int:
    """Builds what is missing of a control plane, and copies it all into one directory."""
    plane = ControlPlane(kubernetes=options.kubernetes, jobset=options.jobset)
    builds = [build(each, os.environ, say=tell) for each in plane.upstreams().values()]
    binaries.export(builds, options.directory)
    result(f"{plane}: {options.directory}")
    return 0


def up(options: argparse.Namespace) -> int:
    """Runs a control plane until a signal comes; stdout has one line that a shell can eval."""
    plane = ControlPlane(
        kubernetes=options.kubernetes,
        jobset=options.jobset,
        gates=dict.fromkeys(options.gate, True),
        kueue=options.kueue,
        kwok=options.kwok,
    )
    with tempfile.TemporaryDirectory(prefix="testbed-") as directory, plane.running(Path(directory), say=tell) as it:
        result(f"KUBECONFIG={it.kubeconfig}")
        tell(f"Logs are in {directory}; Ctrl-C ends it and removes them")
        while True:
            signal.pause()


VERBS = {"build": build_all, "export": export, "up": up}


def result(line: str) -> None:
    """Writes a line of the result, at once: a script may wait for it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(line: str) -> None:
    """Says something to whoever waits; stdout is for results."""
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    # A build or a control plane that is asked to end leaves nothing behind
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main(sys.argv[1:]))
