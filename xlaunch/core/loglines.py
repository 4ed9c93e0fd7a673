"""What a line of a MaxText, pathwaysutils or Orbax log says: one event, or nothing.

Patterns hold for the forms of MaxText 2026-04 to 0.2.5, pathwaysutils 0.1.2 to 0.1.13 and Orbax 0.11.33 to 0.12.8;
`tests/core/test_loglines.py` counts them in logs that the real libraries wrote. They never look at file names or line
numbers, which move with every release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from xlaunch.core import timestamps


class Kind(StrEnum):
    """What happened. The comment says what `Event` carries beside its time."""

    ELASTIC = "elastic"  # elastic training is on
    TARGET = "target"  # the run's last step is `steps` - 1: the config dump
    ATTEMPT = "attempt"  # attempt, of
    SLICE_DOWN = "slice-down"
    SCALE_UP = "scale-up"
    CLEAN_UP = "clean-up"  # begins
    KEEP = "keep"  # path, step: the newest checkpoint is complete
    DROP = "drop"  # path, step: it was not, and is deleted
    NO_CHECKPOINT = "no-checkpoint"  # there was none to look at
    WAIT = "wait"  # want, timeout: waiting for slices begins
    POLL = "poll"  # have, want, indices
    READY = "ready"  # have, want, indices: enough slices
    TIMEOUT = "timeout"  # have, want, seconds
    RESTORE = "restore"  # path, step: begins; two lines of Orbax say so
    RESTORED = "restored"  # path, step, seconds
    NO_RESTORE = "no-restore"  # starts from nothing
    SAVE = "save"  # step: begins
    COMMIT = "commit"  # path, step: complete
    SAVED = "saved"  # path, step, seconds
    SAVE_FAILED = "save-failed"  # path, step
    STEP = "step"  # step, seconds, live
    STOPPED = "stopped"  # detail: ended early, and exits 0
    EXHAUSTED = "exhausted"  # attempt: the last one failed
    ERROR = "error"  # code, detail: the runtime's error
    PROXY_LOST = "proxy-lost"  # detail
    SURVIVOR = "survivor"  # pid, list_id, length: written by xlaunch's rehearsal trainer only


@dataclass(frozen=True)
class Event:
    """One event. `at` is the kubelet's time of the line, None without. Seconds are as the log gives them."""

    kind: Kind
    at: datetime | None = None
    step: int | None = None
    seconds: float | None = None
    attempt: int | None = None
    of: int | None = None
    have: int | None = None
    want: int | None = None
    timeout: float | None = None
    indices: str = ""
    live: int | None = None
    path: str = ""
    steps: int | None = None
    code: str = ""
    detail: str = ""
    pid: int | None = None
    list_id: str = ""
    length: int | None = None


@dataclass(frozen=True)
class Line:
    """A line in its parts: the kubelet's time, absl's level ("" without prefix), and the message."""

    at: datetime | None
    level: str
    message: str


# absl-py 2.5.1, absl/logging/__init__.py, PythonFormatter; C++ logs begin with I0000 00:00:seconds.micros
PREFIX = re.compile(
    r"(?:(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) )?"
    r"(?:(?P<level>[IWEF])\d{4} \d\d:\d\d:[\d.]+ +\d+ [^:\]]+:\d+\] (?:CRITICAL - )?)?"
    r"(?P<message>.*)",
    re.DOTALL,
)
# Greedy: the last number in gs://bucket/2026/run/checkpoints/100/items is the step
_STEP_PATH = r"(?P<path>\S*/(?P<step>\d+))(?:/[A-Za-z_]\w*)*"
_ORBAX = r"\[process=\d+\] \[(?:sync|async)\] "
_SOURCES = (
    (
        Kind.STEP,
        (
            r"(?:\[Rampup Batch Size Phase\], )?completed (?:profiler activation/deactivation )?step: (?P<step>\d+)"
            r"(?:, seconds: (?P<seconds>[\d.]+))?(?:, live slice count: (?P<live>\d+))?(?:, .*)?"
        ),
    ),
    (Kind.TARGET, r"Config param steps: (?P<steps>\d+)"),
    (Kind.ELASTIC, r"Elastic utils: Elastic training enabled(?: with (?:snapshot|checkpoint) backup)?\."),
    (Kind.ATTEMPT, r"Elastic attempt (?P<attempt>\d+)(?: out of (?P<of>\d+))?"),
    (Kind.WAIT, r"Waiting for (?P<want>\d+) slices\. Poll interval: [\d.]+, Timeout: (?:(?P<timeout>[\d.]+)|None)"),
    (Kind.POLL, r"(?P<have>\d+) slices active\. Wanting at least (?P<want>\d+)\.(?: Active indices: (?P<indices>.*))?"),
    (Kind.POLL, r"(?P<have>\d+)/\d+ slices available\. Wanting at least (?P<want>\d+)/\d+\."),
    (Kind.READY, r"Sufficient slices active: (?P<have>\d+) >= (?P<want>\d+)(?:\. Active indices: (?P<indices>.*))?"),
    (Kind.READY, r"(?P<have>\d+)(?:/\d+)? slices (?:are available|active\.)"),
    # The one without "Retrying." is of pathwaysutils 0.1.10; "Elastic event detected" of 0.1.11 and later
    (Kind.SLICE_DOWN, r"Slice down event(?: and new slice available)? detected\.(?: Retrying\.)?"),
    (Kind.SLICE_DOWN, r"Elastic event detected|\[!\] Elastic event detected around step (?P<step>\d+)"),
    (Kind.SCALE_UP, r"Scale up requested\.(?: Retrying\.)?|\[\*\] Scale up signal caught: .*"),
    (Kind.CLEAN_UP, r"Elastic utils: Checking for incomplete checkpoint after an elastic event\.\.\."),
    (Kind.KEEP, rf"Found commit_success file\. Keeping {_STEP_PATH}/\."),
    (Kind.DROP, rf"No commit_success file found\. Deleting {_STEP_PATH}/\.\.\."),
    (Kind.NO_CHECKPOINT, r"Found no existing checkpoints\. Continuing"),
    (Kind.RESTORE, rf"{_ORBAX}Started load checkpoint @ {_STEP_PATH}\.?"),
    (Kind.RESTORE, rf"Restoring checkpoint from {_STEP_PATH}\."),
    (
        Kind.RESTORED,
        (
            rf"{_ORBAX}Finished load(?: \(blocking \+ background\))? in (?P<seconds>[\d.]+) seconds"
            rf" @ {_STEP_PATH}\.?"
        ),
    ),
    (Kind.RESTORED, rf"Finished restoring checkpoint in (?P<seconds>[\d.]+) seconds from {_STEP_PATH}\.?"),
    (Kind.NO_RESTORE, r"No existing checkpoints found, not restoring checkpoint\."),
    (Kind.SAVE, r"\[process=\d+\] Saving checkpoint at step (?P<step>\d+)"),
    (
        Kind.COMMIT,
        (
            r"\[process=\d+\]\[thread=[^\]]*\] Finished saving checkpoint \(finalized tmp dir\) to"
            rf" `{_STEP_PATH}`\."
        ),
    ),
    (
        Kind.SAVED,
        rf"{_ORBAX}Finished save(?: \(blocking \+ background\))? in (?P<seconds>[\d.]+) seconds @ {_STEP_PATH}\.?",
    ),
    (
        Kind.SAVED,
        rf"Finished asynchronous save \(blocking \+ background\) in (?P<seconds>[\d.]+) seconds to {_STEP_PATH}\.?",
    ),
    (
        Kind.SAVE_FAILED,
        (
            r"\[process=\d+\] Failed to run \d+ Handler Commit operations or the Commit callback in"
            rf" background save thread, directory: {_STEP_PATH}"
        ),
    ),
    (Kind.STOPPED, r"Training stopped: (?P<detail>.*)"),
    (
        Kind.EXHAUSTED,
        (
            r"(?:pathwaysutils\.elastic\.manager\.)?ElasticRuntimeError: Elastic attempt (?P<attempt>\d+)"
            r"(?: out of (?P<of>\d+))? failed\."
        ),
    ),
    (
        Kind.TIMEOUT,
        (
            r"(?:TimeoutError: )?Timed out waiting for (?P<want>\d+) slices\. Only (?P<have>\d+)"
            r" (?:active|available) after (?P<seconds>[\d.]+) seconds\..*"
        ),
    ),
    (
        Kind.ERROR,
        r"(?:jax\.errors\.|jaxlib\._jax\.)?(?:JaxRuntimeError|XlaRuntimeError): (?P<code>[A-Z_]+): (?P<detail>.*)",
    ),
    (Kind.PROXY_LOST, r"Connection to IFRT proxy server was terminated: (?P<detail>.*)"),
    (Kind.SURVIVOR, r"Rehearsal: pid=(?P<pid>\d+) list=(?P<list_id>\w+) length=(?P<length>\d+)"),
)
PATTERNS = tuple((kind, re.compile(source)) for kind, source in _SOURCES)
_FLOATS = {"seconds", "timeout"}
_TEXTS = {"path", "indices", "code", "detail", "list_id"}


def split(line: bytes) -> Line:
    """A line with or without the kubelet's timestamp, with or without absl's prefix, in its parts."""
    match = PREFIX.match(line.rstrip(b"\r\n").decode("utf-8", "replace"))
    assert match  # every group is optional
    stamp = match["at"]
    return Line(timestamps.parse(stamp), match["level"] or "", match["message"])


def parse(line: bytes) -> Event | None:
    """The event that a line reports, or None."""
    parts = split(line)
    for kind, pattern in PATTERNS:
        match = pattern.fullmatch(parts.message)
        if match:
            try:
                return Event(kind, parts.at, **_values(match))
            except ValueError:  # digits that are no number: not written by these programs
                return None
    return None


def _values(match: re.Match[str]) -> dict[str, Any]:
    found = {name: text for name, text in match.groupdict().items() if text is not None}
    return {
        name: text if name in _TEXTS else float(text) if name in _FLOATS else int(text) for name, text in found.items()
    }
