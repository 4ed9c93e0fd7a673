"""`xlaunch demo`: the loss of a slice on this machine, with the proof that nothing else was lost."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from xlaunch.cli.app import app
from xlaunch.cli.command import examples, session_of
from xlaunch.cli.demo_report import report
from xlaunch.cli.output import Result
from xlaunch.cli.session import Session
from xlaunch.cli.target_flags import OutputOption
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.demo import blog
from xlaunch.demo.rehearsal import Outcome, Rehearsal
from xlaunch.demo.story import Story
from xlaunch.local import lifecycle
from xlaunch.local.lifecycle import LocalCluster

FAST = 0.1


@examples("""
xlaunch demo
xlaunch demo --interactive
xlaunch demo --fast -o json
""")
def command(
    ctx: typer.Context,
    fast: Annotated[bool, typer.Option("--fast", help="Ten times faster: for CI.")] = False,
    interactive: Annotated[bool, typer.Option("--interactive", help="Wait for your own kubectl to kill.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the cluster and the run up afterwards.")] = False,
    output: OutputOption = "",  # noqa: ARG001 - read by the boundary
) -> Result:
    """Rehearse the loss of a slice on this machine, with the proof.

    The command of Google's blog post "We terminated a TPU mid-training" runs on an embedded cluster of its own: three
    slices of v5litepod-16, elastic. Once there is a checkpoint to go back to, worker 2-0 is killed. The trainer
    notices, waits, restores and goes on; at the end stands what the recovery took and whether the head lost anything:
    its pod, its process, a Python list in that process.

    Nothing runs on a TPU and paces are simulated; processes, signals, waits and back-offs are real. It takes about 70 s
    and exits with 0 only if the proof holds.
    """
    session = session_of(ctx)
    story = Story(
        lambda text: print(text, end="", file=session.stderr, flush=True),
        session.clock.monotonic,
        width=shutil.get_terminal_size().columns,
        terminal=session.stderr.isatty() and not session.no_color,
        color=session.color(session.stderr),
    )
    scale = FAST if fast else 1.0
    name = f"demo-{secrets.token_hex(3)}"
    session.notice(blog.command_line(name, min(shutil.get_terminal_size().columns, 100)))
    with embedded(session, name, scale, keep=keep) as cluster:
        try:
            outcome = _rehearse(session, cluster, story, interactive)
        finally:
            story.end()
    kept = [f"xlaunch {words} --cluster=local:{name}" for words in (f"logs {blog.NAME}", f"status {blog.NAME}")]
    return report(outcome, scale, kept=[*kept, f"xlaunch local down --name {name}"] if keep else [])


def submit_blog(session: Session, cluster: str) -> str:
    """Runs the blog's command line as `xlaunch` itself would, and returns what it has to say."""
    program = app()
    flags = [f"{flag}={value}" for flag, value in blog.FLAGS.items()]
    words = ["workload", "create-pathways", f"--cluster=local:{cluster}", *flags, "--", *blog.TRAINING]
    with program.make_context("xlaunch", words, obj=session) as context:
        result: Result = program.invoke(context)
    return str(result.data["message"])


@contextmanager
def embedded(session: Session, name: str, scale: float, *, keep: bool) -> Iterator[LocalCluster]:
    """A cluster for the rehearsal; gone afterwards, however that comes about, unless it is to be kept."""
    reading, writing = os.pipe()
    try:
        cluster = lifecycle.start(
            name,
            tpu_type=blog.TPU_TYPE,
            slices=blog.SLICES,
            time_scale=scale,
            env=own_python_first(session.env),
            # Its other end closes with this process, also by a kill -9
            lifeline=None if keep else reading,
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    try:
        yield cluster
    finally:
        os.close(writing)
        if not keep:
            lifecycle.wait_ended(cluster)
            session.notice("The rehearsal's cluster is gone, with all its processes and files.")


def own_python_first(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of the pods: their `python3` is this one, since another may be missing, or have a MaxText."""
    own = str(Path(sys.executable).parent)
    return {**env, "PATH": os.pathsep.join([own, env.get("PATH") or os.defpath])}


def _rehearse(session: Session, cluster: LocalCluster, story: Story, interactive: bool) -> Outcome:
    story.say(f"Embedded cluster up: {lifecycle.describe(cluster)}")
    story.say(submit_blog(session, cluster.name))
    return Rehearsal(
        connect(TargetOptions(cluster=f"local:{cluster.name}"), session.env),
        blog.NAME,
        clock=session.clock,
        stage=story,
        time_scale=cluster.time_scale,
        interactive=interactive,
        kubectl=f"kubectl --kubeconfig {cluster.kubeconfig}",
    ).run()
