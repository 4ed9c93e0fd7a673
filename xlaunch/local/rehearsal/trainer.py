"""A MaxText-like trainer: the control flow, flags and log lines of MaxText's train.py, without a model.

Control flow and texts: MaxText 0.2.2 (the lines' places are those of commit 992b4e193, which the blog ran), with the
rule of 0.2.2 that an error of the runtime during a save reaches the elastic manager.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from xlaunch.local.rehearsal import backend as backends
from xlaunch.local.rehearsal import checkpoints, config, elastic
from xlaunch.local.rehearsal import clock as clocks
from xlaunch.local.rehearsal.abslog import Log

# Simulated paces, in seconds: a step of qwen3-0.6b in MaxText's elastic guide, and a compilation short enough to watch
STEP_SECONDS = 0.159
COMPILE_SECONDS = 4.0
SET_UP_SECONDS = 1.0


class StopTraining(Exception):  # noqa: N818 - MaxText's name
    """Training ends early, and MaxText calls that a success (exit 0)."""


class Trainer:
    """One process. `attempts` is a plain Python list that must survive the loss of a slice: that is the point.

    `after_save` is called when a save has begun: the one place where MaxText takes a slice back in.
    """

    def __init__(
        self,
        flags: config.Config,
        local: Path,
        backend: backends.Pathways | backends.NoDevices,
        clock: clocks.Clock,
        log: Log,
        *,
        after_save: Callable[[checkpoints.CheckpointManager], None] = lambda _: None,
    ) -> None:
        self._flags = flags
        self._local = local
        self._backend = backend
        self._clock = clock
        self._log = log
        self._after_save = after_save
        self.attempts: list[int] = []

    def train(self, slices: set[int]) -> None:
        """One attempt, from the last committed checkpoint to the last step. Raises what MaxText's train_loop raises."""
        self.attempts.append(len(self.attempts) + 1)
        self._log.note(f"Rehearsal: pid={os.getpid()} list={hex(id(self.attempts))} length={len(self.attempts)}")
        self._log.line("max_utils.py:800", "System Information: Jax Version: none (rehearsal)")
        self._clock.sleep(SET_UP_SECONDS)
        manager = self._checkpoint_manager()
        restored = manager.restore() if manager else None
        self._backend.load(slices)
        metrics = Metrics(self._backend, self._log)
        try:
            self._steps(0 if restored is None else restored + 1, manager, metrics)
        except StopTraining as stop:
            self._log.line("train.py:622", f"Training stopped: {stop}")
        finally:
            metrics.flush()

    def _checkpoint_manager(self) -> checkpoints.CheckpointManager | None:
        if not self._flags.enable_checkpointing:
            self._log.line("checkpointing.py:230", "Checkpointing disabled, not creating checkpoint manager.")
            return None
        if not self._flags.base_output_directory:
            self._log.note("Rehearsal: without base_output_directory no checkpoint is written", "W")
            return None
        return checkpoints.CheckpointManager(
            self._flags.checkpoint_dir,
            self._local,
            self._clock,
            self._log,
            background=self._flags.async_checkpointing,
        )

    def _steps(self, first: int, manager: checkpoints.CheckpointManager | None, metrics: Metrics) -> None:
        last_completion = self._clock.monotonic()
        for step in range(first, self._flags.steps):
            if step == first:  # JAX compiles inside the first call, which is why that step is the long one
                self._clock.sleep(COMPILE_SECONDS)
            self._backend.dispatch(STEP_SECONDS)
            metrics.dispatched()
            now = self._clock.monotonic()
            seconds, last_completion = now - last_completion, now
            if manager and step % self._flags.checkpoint_period == 0:
                self._save(manager, step, metrics)
            metrics.buffer(step, seconds)
        metrics.wait_for_all()
        last = self._flags.steps - 1
        if manager is None:
            return
        if self._flags.save_checkpoint_on_completion and last >= first and last % self._flags.checkpoint_period:
            self._save(manager, last, metrics)
        manager.wait_until_finished()  # the last periodic save may still be under way

    def _save(self, manager: checkpoints.CheckpointManager, step: int, metrics: Metrics) -> None:
        self._log.line("checkpointing.py:772", f"Waiting for step {step} to finish before checkpoint...")
        start = self._clock.monotonic()
        metrics.wait_for_all()
        waited = self._clock.monotonic() - start
        self._log.line(
            "checkpointing.py:776", f"Waited {waited} seconds for step {step} to finish before starting checkpointing."
        )
        try:
            saved = manager.save(step)
        except OSError as error:
            raise StopTraining(f"Checkpointing failed. {error}") from error
        if not saved:
            return
        if self._flags.async_checkpointing:
            self._log.line("checkpointing.py:408", f"Started an asynchronous checkpoint save for step {step}")
        else:
            self._log.line("checkpointing.py:410", f"Saved a checkpoint at step {step}.")
        self._after_save(manager)


class Metrics:
    """MaxText's metric buffer: a step is printed when the next one has been dispatched (metric_logger.py)."""

    def __init__(self, backend: backends.Pathways | backends.NoDevices, log: Log) -> None:
        self._backend = backend
        self._log = log
        self._dispatched = 0
        self._done = 0
        self._buffered: tuple[int, float, int] | None = None

    def dispatched(self) -> None:
        """A step is under way."""
        self._dispatched += 1

    def wait_for_all(self, but: int = 0) -> None:
        """Waits until no more than `but` steps are under way. Raises JaxRuntimeError."""
        while self._dispatched - self._done > but:
            self._backend.wait()
            self._done += 1

    def buffer(self, step: int, seconds: float) -> None:
        """Prints the step before, once that has ended, and keeps this one. Raises JaxRuntimeError."""
        self.wait_for_all(but=1)
        self.flush()
        self._buffered = (step, seconds, self._dispatched)

    def flush(self) -> None:
        """Prints the step that is kept, if it came to an end."""
        if self._buffered and self._buffered[2] <= self._done:
            step, seconds, _ = self._buffered
            self._buffered = None
            self._log.line("metric_logger.py:185", f"completed step: {step}, seconds: {seconds:.3f}, simulated: true")


def run(flags: config.Config, env: Mapping[str, str], clock: clocks.Clock, log: Log) -> None:
    """Trains as the flags say. Raises what ends MaxText with a traceback and exit 1."""
    pathways = "proxy" in env.get("JAX_PLATFORMS", "") and bool(env.get("JAX_BACKEND_TARGET"))
    local = config.local_path(flags.checkpoint_dir, env)
    if not flags.base_output_directory.startswith("gs://"):
        log.line("train_utils.py:336", "WARNING: 'base_output_directory' might be pointing your local file system")
    if not pathways:
        if flags.elastic_enabled:
            raise ValueError(
                "Elastic training requires the Pathways backend, and elastic_enabled must be set to True: current "
                f"config.elastic_enabled: {flags.elastic_enabled}, pathways backend used: False"
            )
        Trainer(flags, local, backends.NoDevices(clock), clock, log).train({0})
        return
    target = env["JAX_BACKEND_TARGET"]
    backend = backends.connect(target, clock, log)
    if not flags.elastic_enabled:
        Trainer(flags, local, backend, clock, log).train(wait_for_all(backend, clock, log))
        return
    log.line("train.py:695", "Elastic utils: Elastic training enabled.")
    log.line("elastic_utils.py:116", "Elastic Retry Enabled")
    manager = elastic.Manager(_probe(target, clock, log), backend.slices, clock, log)
    trainer = Trainer(flags, local, backend, clock, log, after_save=_scale_up(manager, log))
    manager.retry(
        lambda: trainer.train(manager.slices),
        max_retries=flags.elastic_max_retries,
        minimum=None if flags.elastic_min_slice_count == -1 else flags.elastic_min_slice_count,
        timeout=flags.elastic_timeout_seconds,
        on_event=lambda: checkpoints.clean_up(flags.checkpoint_dir, local, log),
    )


def _probe(target: str, clock: clocks.Clock, log: Log) -> Callable[[], set[int]]:
    """Asks on a connection of its own, so that the monitor's thread never meets the steps."""
    client = backends.connect(target, clock, log)
    return client.active


def _scale_up(manager: elastic.Manager, log: Log) -> Callable[[checkpoints.CheckpointManager], None]:
    def interrupt(saving: checkpoints.CheckpointManager) -> None:
        if not manager.new_slice.is_set():
            return
        log.line(
            "elastic_utils.py:268",
            "Started a checkpoint and a new slice is available. Waiting for current checkpoint to finish before "
            "interrupting.",
        )
        saving.wait_until_finished()
        log.line("elastic_utils.py:280", "Checkpoint save completed. Interrupting")
        raise elastic.ScaleUpSignalError

    return interrupt


def wait_for_all(backend: backends.Pathways, clock: clocks.Clock, log: Log) -> set[int]:
    """All slices, once they are there: without elasticity JAX blocks until then."""
    told: set[int] | None = None
    while True:
        active = backend.active()
        if len(active) == backend.slices:
            return active
        if active != told:
            told = active
            log.note(f"Rehearsal: {len(active)} of {backend.slices} slices are there; waiting for all")
        clock.sleep(1.0)


def main(argv: list[str]) -> int:
    """Runs as `python3 -m maxtext.trainers.pre_train.train CONFIG key=value …` would."""
    log = Log(sys.stderr.buffer)
    log.note(
        "REHEARSAL by xlaunch: MaxText is not installed in this Python, so a stand-in trains nothing at a simulated "
        "pace. Steps, waits, errors and checkpoint directories are real; times of steps and saves are simulated",
    )
    flags = config.parse(argv, os.environ, datetime.now())  # noqa: DTZ005 - as MaxText names a run
    if flags.ignored:
        log.note(f"Rehearsal: accepted without effect and unchecked: {', '.join(flags.ignored)}")
    if flags.log_config:
        for key, value in sorted(flags.values.items()):
            log.line("pyconfig.py:432", f"Config param {key}: {value}")
    run(flags, os.environ, clocks.from_environment(), log)
    return 0
