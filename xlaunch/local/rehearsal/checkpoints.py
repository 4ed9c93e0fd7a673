"""Checkpoint directories as Orbax leaves them on gs://: `<step>/items/…`, and `commit_success.txt` last.

Texts and places of lines: Orbax 0.11.36 and MaxText commit 992b4e193, checkpointing.py and elastic_utils.py.
"""

from __future__ import annotations

import json
import shutil
import threading
import traceback
from pathlib import Path

from xlaunch.local.rehearsal.abslog import Log
from xlaunch.local.rehearsal.clock import Clock

COMMIT = "commit_success.txt"
SAVE_SECONDS = 1.2
RESTORE_SECONDS = 3.0


class CheckpointManager:
    """The checkpoints of one run in `local`, which logs call `directory`. One background save at a time."""

    def __init__(self, directory: str, local: Path, clock: Clock, log: Log, *, background: bool) -> None:
        self._directory = directory
        self._local = local
        self._clock = clock
        self._log = log
        self._background = background
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._local.mkdir(parents=True, exist_ok=True)
        log.line("checkpoint_manager.py:1812", f"Found {len(self.committed())} checkpoint steps in {directory}")
        log.line("checkpointing.py:301", "Checkpoint manager created!")

    def committed(self) -> list[int]:
        """The steps whose checkpoints are complete."""
        return [step for step in steps_in(self._local) if (self._local / str(step) / COMMIT).exists()]

    def restore(self) -> int | None:
        """Restores the last complete checkpoint and returns its step, or None where there is none.

        Raises FileNotFoundError where it lacks its data, as MaxText does after a clean-up that hit a live save.
        """
        self._log.line(
            "checkpointing.py:577", "checkpoint manager exists so trying to load this run's existing checkpoint"
        )
        committed = self.committed()
        if not committed:
            self._log.line("checkpointing.py:665", "No existing checkpoints found, not restoring checkpoint.")
            return None
        step = committed[-1]
        path = f"{self._directory}/{step}"
        self._log.line("checkpointing.py:581", f"restoring from this run's directory step {step}")
        start = self._clock.monotonic()
        self._log.line("event_tracking.py:70", f"[process=0] [sync] Started load checkpoint @ {path}.")
        self._log.line("checkpointer.py:307", f"Restoring checkpoint from {path}.")
        state = self._local / str(step) / "items" / "state.json"
        if not state.exists():
            raise FileNotFoundError(f"Individual parameter subdirectory not found at path: {path}/items/step.")
        self._log.line(
            "event_tracking.py:125",
            f"[process=0] [sync] Finished blocking load in {self._clock.monotonic() - start:.2f} seconds. "
            f"Continuing load @ {path}.",
        )
        self._clock.sleep(RESTORE_SECONDS)
        restored = int(json.loads(state.read_text(encoding="utf-8"))["step"])
        seconds = self._clock.monotonic() - start
        self._log.line("event_tracking.py:138", f"[process=0] [sync] Finished load in {seconds:.2f} seconds @ {path}")
        return restored

    def save(self, step: int) -> bool:
        """Begins a checkpoint of `step`, or makes it whole if not in the background; False if it is there already.

        Raises the error of the save before, if it failed in the background.
        """
        self.wait_until_finished()
        if step in self.committed():
            return False
        path = f"{self._directory}/{step}"
        start = self._clock.monotonic()
        self._log.line("checkpoint_manager.py:1512", f"[process=0] Saving checkpoint at step {step}")
        mode = "async" if self._background else "sync"
        self._log.line("event_tracking.py:70", f"[process=0] [{mode}] Started save checkpoint @ {path}.")
        items = self._local / str(step) / "items"
        self._log.line("atomicity.py:140", f"Creating tmp directory {path}")
        items.mkdir(parents=True, exist_ok=True)
        if not self._background:
            self._write(step, start, mode)
            return True
        seconds = self._clock.monotonic() - start
        self._log.line(
            "event_tracking.py:125",
            f"[process=0] [async] Finished blocking save in {seconds:.2f} seconds. Continuing save @ {path}.",
        )
        self._thread = threading.Thread(target=self._write_in_background, args=(step, start), daemon=True)
        self._thread.start()
        return True

    def wait_until_finished(self) -> None:
        """Waits for the background save. Raises its error."""
        if self._thread:
            self._thread.join()
            self._thread = None
        if self._error:
            error, self._error = self._error, None
            raise error

    def _write_in_background(self, step: int, start: float) -> None:
        try:
            self._write(step, start, "async")
        except OSError as error:
            self._error = error
            self._log.line(
                "async_checkpointer.py:259",
                "[process=0] Failed to run 3 Handler Commit operations or the Commit callback in background save "
                f"thread, directory: {self._directory}/{step}\n{traceback.format_exc().rstrip()}",
                "E",
            )

    def _write(self, step: int, start: float, mode: str) -> None:
        path = f"{self._directory}/{step}"
        local = self._local / str(step)
        self._clock.sleep(SAVE_SECONDS)
        (local / "items" / "state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
        self._log.line("atomicity.py:666", f"Finalizing {path}")
        (local / COMMIT).write_text("", encoding="utf-8")
        finished = f"Finished saving checkpoint (finalized tmp dir) to `{path}`."
        self._log.line("atomicity.py:847", f"[process=0][thread={mode}_save] {finished}")
        seconds = self._clock.monotonic() - start
        self._log.line(
            "event_tracking.py:138",
            f"[process=0] [{mode}] Finished save (blocking + background) in {seconds:.2f} seconds @ {path}",
        )


def clean_up(directory: str, local: Path, log: Log) -> None:
    """Deletes the newest checkpoint if it was not committed; the older ones are not looked at."""
    log.line("elastic_utils.py:35", "Elastic utils: Checking for incomplete checkpoint after an elastic event...")
    steps = steps_in(local)
    if not steps:
        log.line("elastic_utils.py:46", "Found no existing checkpoints. Continuing")
        return
    path = f"{directory}/{steps[-1]}/"
    newest = local / str(steps[-1])
    log.line("elastic_utils.py:53", f"Checking latest checkpoint: {path}")
    if list(newest.glob("commit_success*")):
        log.line("elastic_utils.py:64", f"Found commit_success file. Keeping {path}.")
    else:
        log.line("elastic_utils.py:59", f"No commit_success file found. Deleting {path}...")
        shutil.rmtree(newest, ignore_errors=True)


def steps_in(local: Path) -> list[int]:
    """The numeric directories, in order."""
    return sorted(int(entry.name) for entry in local.iterdir() if entry.name.isdigit()) if local.is_dir() else []
